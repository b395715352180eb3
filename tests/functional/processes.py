# SPDX-License-Identifier: Apache-2.0
"""Processes under test: start, watch and stop them, and find orphans.

Each process that a :class:`ProcessGroup` starts, and its descendants, have an
environment variable that identifies the group. :meth:`ProcessGroup.members`
finds them by this variable even when their parent is gone. Processes that
overwrite their environment to change their title are found by their command
line, and forks, whose environment is that of the server, by their session. If
the test process is killed, the kernel kills the processes.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import psutil

from tests import machine_speed
from tests.functional import fork_server

GROUP_VARIABLE = 'VOBJECTS_TEST_GROUP'

#: Default timeout in whole seconds. It is long because the machine may become
#: busy; tests that pass do not wait for it.
TIMEOUT = math.ceil(240 * machine_speed.scale())

#: Log lines that a failed test shows: warnings and errors, and the last ones.
ERROR_LINES = 8
LAST_LINES = 12

#: Maximum length of such a line.
LINE_LENGTH = 240

#: Bytes to read from the end of a log.
LOG_BYTES = 500_000

#: Ports below the default range of ephemeral ports of Linux.
PORTS = range(20_000, 32_000)

#: Sockets that reserve ports; see :func:`free_port`.
_RESERVATIONS: list[socket.socket] = []

_ERROR_LINE = re.compile(r' (WARNING|ERROR|CRITICAL) |^\w+(\.\w+)*Error\b')

#: Script that prepares a process and executes a command.
EXEC_SCRIPT = pathlib.Path(__file__).with_name('exec_command.py')

T = TypeVar('T')


def wait_for(
    description: str,
    condition: Callable[[], T],
    *,
    timeout: float = TIMEOUT,
    interval: float = 0.05,
) -> T:
    """Poll a condition until it is true, and return its value.

    :param description: the expected state, for the error message
    :param timeout: in seconds; the condition is polled once more after it
    :param interval: seconds between two polls
    :raises AssertionError: the condition did not become true
    """
    deadline = time.monotonic() + timeout
    while True:
        is_late = time.monotonic() > deadline
        value = condition()
        if value:
            return value
        assert not is_late, (
            f'{description}: not within {timeout:g} s, last {value!r}'
        )
        time.sleep(interval)


def is_alive(pid: int) -> bool:
    """Return whether a process is running; a zombie is not."""
    try:
        status = psutil.Process(pid).status()
    except psutil.NoSuchProcess:
        return False
    return status not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


def kill_with_parent(command: Sequence[str]) -> list[str]:
    """Return a command that the kernel kills when this process ends."""
    script = [sys.executable, '-I', '-S', str(EXEC_SCRIPT)]
    return [*script, f'--parent={os.getpid()}', *command]


def free_port() -> int:
    """Reserve a port of 127.0.0.1 until this process ends.

    The port is outside the ephemeral range, so that no connection can take it
    before the process under test listens. A socket with an abstract name
    reserves it among all tests on this host.
    """
    for port in random.sample(PORTS, len(PORTS)):
        reservation = socket.socket(socket.AF_UNIX)
        try:
            reservation.bind(f'\0vobjects-test-port-{port}')
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(('127.0.0.1', port))
        except OSError:
            reservation.close()
            continue
        _RESERVATIONS.append(reservation)
        return port
    raise AssertionError(f'no free port from {PORTS[0]} to {PORTS[-1]}')


@atexit.register
def _release_ports() -> None:
    for reservation in _RESERVATIONS:
        reservation.close()


class Process:
    """A process whose output goes to a file.

    :ivar stop_order: processes with a lower number are stopped earlier
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: pathlib.Path,
        environment: dict[str, str],
        stop_order: int = 0,
    ) -> None:
        self.name = name
        self.log = log
        self.stop_order = stop_order
        self._popen: subprocess.Popen[bytes] | fork_server.ForkedProcess
        with log.open('ab') as output:
            if fork_server.is_forkable(command, environment):
                self._popen = fork_server.start(
                    command, environment, output, output
                )
                return
            self._popen = subprocess.Popen(
                kill_with_parent(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the process, not to its children."""
        self._popen.send_signal(number)

    def wait(self, timeout: float = TIMEOUT) -> int:
        """Wait for the end of the process and return its exit code.

        :param timeout: in seconds
        :raises AssertionError: it is still running after the timeout
        """
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f'{self.name} has not ended within {timeout:g} s'
            ) from None

    def stop(self, timeout: float = TIMEOUT) -> int:
        """Send SIGTERM, wait, and return the exit code."""
        self.send_signal(signal.SIGTERM)
        return self.wait(timeout)

    def kill(self) -> None:
        """Send SIGKILL and wait."""
        self.send_signal(signal.SIGKILL)
        self.wait()


class ProcessGroup:
    """Processes that are stopped together.

    :param directory: for their logs
    :param command_marker: text that only their command lines contain
    :ivar variables: further environment variables of the processes
    """

    def __init__(self, directory: pathlib.Path, command_marker: str) -> None:
        self.directory = directory
        self.command_marker = command_marker
        self.id = uuid.uuid4().hex
        self.processes: list[Process] = []
        self._sessions: set[int] = set()
        self.variables: dict[str, str] = {}

    def start(self, name: str, *command: str, stop_order: int = 0) -> Process:
        """Start a process; its log is ``NAME.log``.

        :param stop_order: see :class:`Process`
        """
        process = Process(
            name,
            command,
            self.directory / f'{name}.log',
            self.environment(),
            stop_order,
        )
        self.processes.append(process)
        self._sessions.add(process.pid)
        return process

    def environment(self) -> dict[str, str]:
        """Return the environment that identifies a process of this group."""
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(('OS_', 'XDG_'))
        }
        return {
            **clean,
            **self.variables,
            GROUP_VARIABLE: self.id,
            'PYTHONUNBUFFERED': '1',
        }

    def assert_alive(self) -> None:
        """Assert that all processes are running."""
        for process in self.processes:
            code = process._popen.poll()
            assert code is None, (
                f'{process.name} has ended with exit code {code}'
            )

    def remove(self, process: Process) -> None:
        """Remove a process that has ended as expected."""
        self.processes.remove(process)

    def close(self, timeout: float = TIMEOUT) -> list[str]:
        """Stop all processes by stop order; kill those that do not end.

        :returns: descriptions of unexpected exits and of orphans
        """
        problems = []
        for stage in sorted(
            {process.stop_order for process in self.processes}
        ):
            processes = [p for p in self.processes if p.stop_order == stage]
            alive = [p for p in processes if p.is_alive]
            problems += [
                f'{p.name} ended unexpectedly with exit code {p.wait()}'
                for p in processes
                if p not in alive
            ]
            for process in alive:
                process.send_signal(signal.SIGTERM)
            problems += filter(
                None, [_wait_or_kill(p, timeout) for p in alive]
            )
        self.processes.clear()
        for orphan in self.members():
            with contextlib.suppress(psutil.Error):
                line = ' '.join(orphan.cmdline())
                orphan.kill()
                problems.append(f'orphan process {orphan.pid}: {line}')
        return problems

    def members(self) -> list[psutil.Process]:
        """Return all running processes of this group."""
        return [p for p in psutil.process_iter() if self._owns(p)]

    def _owns(self, process: psutil.Process) -> bool:
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            return (
                os.getsid(process.pid) in self._sessions
                or process.environ().get(GROUP_VARIABLE) == self.id
                or self.command_marker in ' '.join(process.cmdline())
            )
        except (psutil.Error, ProcessLookupError):
            return False

    def logs(self) -> Iterator[tuple[str, pathlib.Path]]:
        """Yield the name and path of each log."""
        for path in sorted(self.directory.rglob('*.log')):
            yield path.stem, path


def wait_for_url(group: ProcessGroup, process: Process) -> str:
    """Return the URL that a process of a group prints."""

    def url() -> str:
        group.assert_alive()
        lines = process.log.read_text().splitlines()
        return next((i for i in lines if i.startswith('http://')), '')

    return wait_for(f'{process.name} prints its URL', url)


def log_excerpt(path: pathlib.Path) -> str:
    """Return the last warnings and errors of a log, and its last lines."""
    text = path.read_bytes()[-LOG_BYTES:].decode(errors='replace')
    lines = [line[:LINE_LENGTH] for line in text.splitlines()]
    earlier = [
        line for line in lines[:-LAST_LINES] if _ERROR_LINE.search(line)
    ]
    shown = [*earlier[-ERROR_LINES:], '...'] if earlier else []
    return '\n'.join(shown + lines[-LAST_LINES:])


def _wait_or_kill(process: Process, timeout: float) -> str:
    """Wait for a process; return the problem, or an empty text."""
    try:
        code = process.wait(timeout)
    except AssertionError as error:
        process.kill()
        return str(error)
    return f'{process.name} ended with exit code {code}' if code else ''
