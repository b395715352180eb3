# SPDX-License-Identifier: Apache-2.0
"""`vobjects up`: start, restart of children, shutdown and error messages."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator

import psutil
import pytest

from tests.functional import fork_server
from tests.functional.processes import (
    TIMEOUT,
    is_alive,
    kill_with_parent,
    wait_for,
)
from tests.functional.rest import NEWEST
from tests.programs import run_program

VOBJECTS = (sys.executable, '-m', 'vobjects')


class Up:
    """A running `vobjects up` and the lines that it has printed."""

    def __init__(self, directory: pathlib.Path, *options: str) -> None:
        self.directory = directory
        self.url = ''
        self.process = subprocess.Popen(
            kill_with_parent(
                [
                    *(*VOBJECTS, 'up', '--port=0'),
                    *(f'--state-dir={directory}', *options),
                ]
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip('\n'))

    @property
    def text(self) -> str:
        return '\n'.join(self.lines)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Return the first match in the output, waiting for it."""

        def first_match() -> re.Match[str] | None:
            match = re.search(pattern, self.text)
            assert match or self.process.poll() is None, self.text
            return match

        match = wait_for(f'{pattern!r} is printed', first_match)
        assert match is not None
        return match

    def wait_until_ready(self) -> Up:
        self.url = self.wait_for(r'is at (http://\S+)')[1]
        self.wait_for('Ctrl-C stops everything')
        return self

    def get(self, path: str) -> int:
        """Return the status of a GET request."""
        try:
            with urllib.request.urlopen(
                self.url + path, timeout=TIMEOUT
            ) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def pid_of(self, name: str) -> int:
        """Return the process ID of a child, which is below its subreaper."""
        for pid in descendants(self.process.pid):
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(pid)
                words = process.cmdline()
                if '-S' in words and name in words:
                    return process.children()[0].pid
        raise LookupError(name)

    def fleet(self, *arguments: str) -> str:
        """Return the output of a `vobjects fleet` command."""
        state = f'--state-dir={self.directory}'
        completed = fork_server.run(
            [*VOBJECTS, 'fleet', *arguments, state], dict(os.environ), TIMEOUT
        )
        assert completed.returncode == 0, completed.stderr
        return completed.stdout

    def engines(self) -> list[dict[str, object]]:
        """Return the engines in the fleet."""
        members = json.loads(self.fleet('list', '-o', 'json'))['members']
        return [m for m in members if m['topic'] == 'vobjects-engine']

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, wait, and return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(TIMEOUT)
        finally:
            self.process.kill()
            self._reader.join()
            assert self.process.stdout is not None
            self.process.stdout.close()


#: Starts `vobjects up` with options.
Start = Callable[..., Up]


def descendants(pid: int) -> list[int]:
    """Return the IDs of all processes below a process."""
    children = psutil.Process(pid).children(recursive=True)
    return [child.pid for child in children]


def alive(pids: list[int]) -> list[int]:
    """Return the IDs of the processes that are running."""
    return [pid for pid in pids if is_alive(pid)]


@contextlib.contextmanager
def state_directory() -> Iterator[pathlib.Path]:
    """Yield a short path, because paths of sockets have to be short."""
    path = pathlib.Path(tempfile.mkdtemp(prefix='up-'))
    yield path / 'state'
    shutil.rmtree(path)


@contextlib.contextmanager
def running(*options: str) -> Iterator[Up]:
    """Run `vobjects up` with a new state directory."""
    with state_directory() as directory:
        up = Up(directory, *options)
        try:
            yield up.wait_until_ready()
        finally:
            up.stop()


@pytest.fixture
def directory() -> Iterator[pathlib.Path]:
    with state_directory() as path:
        yield path


@pytest.fixture
def start(directory: pathlib.Path) -> Iterator[Start]:
    """Start `vobjects up`, which is stopped after the test."""
    with contextlib.ExitStack() as stack:

        def start(*options: str) -> Up:
            up = Up(directory, *options)
            stack.callback(up.stop)
            return up

        yield start


@pytest.fixture(scope='module')
def settings(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A configuration file with one known and one unknown option."""
    path = tmp_path_factory.mktemp('up') / 'extra.conf'
    path.write_text('[api]\nmethod_missing_status = 400\nprot = 1\n')
    return path


@pytest.fixture(scope='module')
def service(settings: pathlib.Path) -> Iterator[Up]:
    """A service with two engines; tests must not stop its processes."""
    with running('--engines=2', f'--config-file={settings}') as up:
        yield up


def test_up_when_ready_then_serves_and_keeps_its_state_private(
    service: Up,
) -> None:
    directory = service.directory
    assert service.get('/') == 300
    assert service.get('/v1/clusters') == 200
    wait_for('both engines are alive', lambda: len(service.engines()) == 2)
    for path in directory.rglob('*'):
        assert path.stat().st_mode & 0o077 == 0, path
    assert directory.stat().st_mode & 0o777 == 0o700
    assert {log.name for log in (directory / 'log').iterdir()} == {
        *('api.log', 'config.log', 'db.log'),
        *('engine-1.log', 'engine-2.log'),
    }
    assert '\x1b' not in service.text


def test_up_when_ready_then_the_commands_it_prints_work(service: Up) -> None:
    text = service.text.partition('try, in another shell:')[2]
    commands = [
        line.strip() for line in text.splitlines() if line.startswith('    ')
    ]
    assert len(commands) == 3
    for command in commands:
        completed = run_program(command, shell=True)
        assert completed.returncode == 0, f'{command}\n{completed.stderr}'


def test_up_when_an_option_is_unknown_then_warns_and_starts(
    service: Up, settings: pathlib.Path
) -> None:
    warning = (
        f'{settings}: [api] prot: unknown option, nothing reads it; did you'
        " mean 'port'?"
    )
    assert warning in service.lines
    for name in ('engine-1', 'api'):
        log = (service.directory / 'log' / f'{name}.log').read_text()
        (line,) = [ln for ln in log.splitlines() if warning in ln]
        assert ' WARNING ' in line


def test_up_when_a_config_file_is_given_then_applies_it(service: Up) -> None:
    # This path exists since 1.2.
    assert service.get('/v1/clusters/c/attrs/name') == 400


def test_fleet_commands_when_service_runs_then_describe_it(
    service: Up,
) -> None:
    members = service.fleet('list')
    assert members.startswith('ID ')
    assert len(re.findall(r'(?m)^\w+ +vobjects-engine ', members)) == 2
    assert f'highest microversion: {NEWEST}\n' in members
    explanation = service.fleet('explain', 'ClusterDeleteRequest')
    assert explanation.startswith('ClusterDeleteRequest: 1.1; this build')
    assert explanation.count('supports 1.1; last seen') == 2
    assert 'held' in service.fleet('hold')
    assert 'held' not in service.fleet('finalize')


def assert_stops(up: Up, number: int) -> None:
    """Send a signal; it must end with 0, and leave no process or socket."""
    processes = descendants(up.process.pid)
    assert len(processes) >= 4  # a subreaper and a process for each child
    assert up.stop(number) == 0
    assert alive(processes) == []
    assert 'stopping' in up.lines
    assert up.lines[-1] == 'stopped'
    assert not any(path.is_socket() for path in up.directory.rglob('*'))


@pytest.mark.long
def test_up_when_its_terminal_closes_then_stops(start: Start) -> None:
    up = start('--engines=1', '--workers=2').wait_until_ready()
    assert_stops(up, signal.SIGHUP)


def test_up_when_killed_then_all_below_it_end_and_it_starts_again(
    start: Start,
) -> None:
    up = start('--engines=1', '--workers=2').wait_until_ready()
    processes = descendants(up.process.pid)
    up.process.kill()
    up.stop()
    wait_for('all processes have ended', lambda: not alive(processes))
    again = start('--engines=1', '--workers=2').wait_until_ready()
    assert again.get('/v1/clusters') == 200
    assert_stops(again, signal.SIGTERM)


def test_up_when_logs_are_requested_then_prints_them_with_names(
    start: Start,
) -> None:
    up = start('--engines=1', '--logs').wait_until_ready()
    assert up.get('/v1/clusters') == 200
    up.wait_for(r'(?m)^api +\| .*GET /v1/clusters')
    assert_stops(up, signal.SIGINT)
    assert re.search(r'(?m)^engine-1 +\| ', up.text)


#: Option -> the setting in the error message.
SETTINGS = {
    '--database': 'vobjects db: [database] connection = ',
    '--transport-url': '[DEFAULT] transport_url = ',
}


@pytest.mark.parametrize(
    ('option', 'url', 'code', 'message'),
    [
        (
            *('--database', 'postgresql+psycopg2://x@127.0.0.1:1/x'),
            *(1, 'Connection refused'),
        ),
        ('--database', 'nonsense', 2, 'Could not parse SQLAlchemy URL'),
        pytest.param(
            *('--database', 'mysql+pymysql://x:secret@127.0.0.1:1/x'),
            *(1, 'x:***@127.0.0.1:1/x'),
            marks=pytest.mark.long,
        ),
        (
            *('--transport-url', 'rubbish'),
            *(2, 'rubbish is not usable: No scheme specified'),
        ),
        pytest.param(
            *('--transport-url', 'rabbit://u:secret@127.0.0.1:x/'),
            *(2, 'u:***@127.0.0.1:x/'),
            marks=pytest.mark.long,
        ),
        pytest.param(
            *('--transport-url', 'nosuch://h/'),
            *(2, 'nosuch://h/ is not usable'),
            marks=pytest.mark.long,
        ),
        (
            *('--transport-url', 'rabbit://u:secret@127.0.0.1:1/'),
            *(1, 'Connection refused; start it'),
        ),
    ],
)
def test_up_when_a_url_cannot_be_used_then_fails_with_one_line(
    start: Start, option: str, url: str, code: int, message: str
) -> None:
    up = start(f'{option}={url}')
    assert up.process.wait(TIMEOUT) == code
    up.stop()
    first, line = up.lines
    assert first.startswith('checking the configuration')
    assert SETTINGS[option] in line
    assert message in line
    assert 'secret' not in line


def test_up_when_a_setting_is_invalid_then_one_line_and_exit_code_2(
    start: Start, tmp_path: pathlib.Path
) -> None:
    extra = tmp_path / 'extra.conf'
    extra.write_text('[engine]\nworkers = many\n')
    up = start(f'--config-file={extra}')
    assert up.process.wait(TIMEOUT) == 2
    up.stop()
    assert up.lines[1:] == [
        f'{extra}: [engine] workers = many: must be a whole number from 1 to'
        ' 1024'
    ]
