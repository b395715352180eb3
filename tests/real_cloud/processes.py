# SPDX-License-Identifier: Apache-2.0
"""Processes of the cloud, which outlive the command that starts them."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import signal
import time

import psutil
import requests

from tests import machine_speed
from tests.real_cloud import services
from tests.real_cloud.settings import Settings

#: Seconds within which a process must be ready.
READY_TIMEOUT = 180.0 * machine_speed.scale()

#: Seconds that a process has to stop by itself.
STOP_TIMEOUT = 20.0

_INTERVAL = 0.1

#: Threads of each API.
_THREADS = 8

#: Last lines of a log in an error message.
_LOG_LINES = 15


class ProcessError(Exception):
    """Raised when a process does not start; the message names its log."""


class Processes:
    """Starts and stops the processes of a cloud.

    :param venv: the virtual environment of the cloud
    """

    def __init__(self, settings: Settings, venv: pathlib.Path) -> None:
        self._settings = settings
        self._venv = venv
        self._owners = {
            process.name: service
            for service in services.SERVICES
            for process in service.processes
        }

    def log(self, name: str) -> pathlib.Path:
        """Return the path of a process's log."""
        return self._settings.logs / f'{name}.log'

    def find(self, name: str) -> psutil.Process | None:
        """Return a running process; None if it does not run."""
        record = self._read(name)
        if record is None:
            return None
        try:
            process = psutil.Process(record['pid'])
            is_same = process.create_time() == record['created']
            is_dead = process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return None
        return process if is_same and not is_dead else None

    def environment(self) -> dict[str, str]:
        """Return the environment of all processes and commands."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(('OS_', 'PYTHON', 'VIRTUAL_ENV'))
        }
        path = f'{self._venv / "bin"}:{os.environ.get("PATH", "")}'
        plugins = str(self._settings.directory / 'plugins')
        return {**inherited, 'PATH': path, 'PYTHONPATH': plugins}

    def start(self, name: str) -> None:
        """Start a process, unless it runs."""
        if self.find(name):
            return
        process, service = services.PROCESSES[name], self._owners[name]
        etc = str(self._settings.etc(service.name))
        arguments = process.arguments.replace('{etc}', etc)
        environment = self.environment() | {
            key: value.replace('{etc}', etc)
            for key, value in process.environment.items()
        }
        if process.is_api:
            environment['SHIM_MODULE'] = process.run
            environment['SHIM_ARGUMENTS'] = arguments
            command = self._gunicorn(self._settings.port(service.name))
        else:
            command = [
                str(self._venv / 'bin' / process.run),
                *shlex.split(arguments),
            ]
        with self.log(name).open('ab') as log:
            offset = log.tell()
            # Not with subprocess, which expects its caller to wait.
            pid = os.posix_spawn(
                command[0],
                command,
                environment,
                file_actions=(
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, log.fileno(), 1),
                    (os.POSIX_SPAWN_DUP2, log.fileno(), 2),
                ),
                setsid=True,
            )
        record = {
            'pid': pid,
            'created': psutil.Process(pid).create_time(),
            'offset': offset,
        }
        self._record(name).write_text(json.dumps(record))

    def wait_until_ready(self, name: str) -> None:
        """Wait until an API responds, or another process has started.

        :raises ProcessError: it ended, or it is not ready in time
        """
        end = time.monotonic() + READY_TIMEOUT
        while not self.is_ready(name):
            self.assert_running(name)
            if time.monotonic() > end:
                raise ProcessError(
                    f'{name} is not ready within {READY_TIMEOUT:g} s:'
                    f' {self._excerpt(name)}'
                )
            time.sleep(_INTERVAL)

    def assert_running(self, name: str) -> None:
        """Check that a process runs.

        :raises ProcessError: it has ended
        """
        if self.find(name) is None:
            raise ProcessError(f'{name} has ended: {self._excerpt(name)}')

    def is_ready(self, name: str) -> bool:
        """Tell whether an API responds, or another process has started."""
        process, record = services.PROCESSES[name], self._read(name)
        if record is None or self.find(name) is None:
            return False
        if process.is_api:
            url = self._settings.url(self._owners[name].name)
            try:
                response = requests.get(url, timeout=READY_TIMEOUT)
            except requests.ConnectionError:
                return False
            return response.status_code < 500
        with self.log(name).open('rb') as log:
            log.seek(record['offset'])
            return bool(re.search(process.ready.encode(), log.read()))

    def stop(self, *names: str, timeout: float = STOP_TIMEOUT) -> None:
        """Stop processes; kill those that do not stop in time.

        :param timeout: in seconds; 0: kill them at once
        """
        trees = []
        for name in names:
            process = self.find(name)
            if process is not None:
                trees += [process, *process.children(recursive=True)]
                if timeout:
                    process.send_signal(signal.SIGTERM)
        _, alive = psutil.wait_procs(trees, timeout)
        for process in alive:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(alive, STOP_TIMEOUT)
        for name in names:
            self._record(name).unlink(missing_ok=True)

    def _gunicorn(self, port: int) -> list[str]:
        return [
            str(self._venv / 'bin' / 'gunicorn'),
            f'--bind=127.0.0.1:{port}',
            '--workers=1',
            f'--threads={_THREADS}',
            '--worker-class=gthread',
            '--timeout=300',
            '--keep-alive=75',
            '--no-control-socket',
            'wsgi_shim:application',
        ]

    def _record(self, name: str) -> pathlib.Path:
        return self._settings.directory / 'run' / f'{name}.json'

    def _read(self, name: str) -> dict[str, float] | None:
        try:
            record: dict[str, float] = json.loads(
                self._record(name).read_text()
            )
        except FileNotFoundError:
            return None
        return record

    def _excerpt(self, name: str) -> str:
        return log_end(self.log(name))


def log_end(log: pathlib.Path) -> str:
    """Return the path of a log and its last lines, for an error message."""
    lines = log.read_text(errors='replace').splitlines()[-_LOG_LINES:]
    return '\n'.join([f'see {log}', *lines])
