# SPDX-License-Identifier: Apache-2.0
"""`vobjects up` as an operator meets it: real processes, nothing left over."""

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
import time
import urllib.error
import urllib.request

import pytest

from tests.functional.processes import TIMEOUT, kill_with_parent

VOBJECTS = (sys.executable, '-m', 'vobjects')


class Up:
    """A running `vobjects up`, and what it has printed."""

    def __init__(self, directory: pathlib.Path, *options: str) -> None:
        self.directory = directory
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
        for line in self.process.stdout:
            self.lines.append(line.rstrip('\n'))

    @property
    def text(self) -> str:
        return '\n'.join(self.lines)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Return the first match in what is printed, sooner or later."""
        until = time.monotonic() + TIMEOUT
        while not (found := re.search(pattern, self.text)):
            assert time.monotonic() < until, self.text
            assert self.process.poll() is None, self.text
            time.sleep(0.05)
        return found

    def ready(self) -> Up:
        self.url = self.wait_for(r'is at (http://\S+)')[1]
        self.wait_for('Ctrl-C stops everything')
        return self

    def get(self, path: str) -> int:
        try:
            with urllib.request.urlopen(
                self.url + path, timeout=TIMEOUT
            ) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def pid_of(self, name: str) -> int:
        """Return the process id of a child: whom its keeper looks after."""
        for pid in descendants(self.process.pid):
            words = command_of(pid)
            if '-S' in words and name in words:
                return descendants(pid)[0]
        raise LookupError(name)

    def fleet(self, *arguments: str) -> str:
        return subprocess.run(
            [
                *(*VOBJECTS, 'fleet', *arguments),
                f'--state-dir={self.directory}',
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def engines(self) -> list[dict[str, object]]:
        members = json.loads(self.fleet('list', '--json'))['members']
        return [m for m in members if m['topic'] == 'vobjects-engine']

    def end(self, number: int = signal.SIGTERM) -> int:
        """Ask it to stop; return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(TIMEOUT)
        finally:
            self.process.kill()
            self._reader.join()
            self.process.stdout.close()


def children_of() -> dict[int, list[int]]:
    """Return parent -> children, of all live processes."""
    found: dict[int, list[int]] = {}
    for entry in pathlib.Path('/proc').iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            stat = (entry / 'stat').read_text().rpartition(')')[2].split()
            if stat[0] not in 'ZX':
                found.setdefault(int(stat[1]), []).append(int(entry.name))
    return found


def descendants(pid: int) -> list[int]:
    tree = children_of()
    found, ahead = [], [pid]
    while ahead:
        below = tree.get(ahead.pop(), [])
        found += below
        ahead += below
    return found


def command_of(pid: int) -> list[str]:
    try:
        text = pathlib.Path(f'/proc/{pid}/cmdline').read_text()
    except OSError:
        return []
    return text.split('\0')


def alive(pids: list[int]) -> list[int]:
    everybody = {pid for below in children_of().values() for pid in below}
    return [pid for pid in pids if pid in everybody]


def wait_until(condition, seconds=TIMEOUT):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, 'waited too long'
        time.sleep(0.05)


@pytest.fixture
def directory():
    """A short path: that of a socket may not be long."""
    path = pathlib.Path(tempfile.mkdtemp(prefix='up-'))
    yield path / 'state'
    shutil.rmtree(path)


@pytest.fixture
def start(directory):
    """A function that starts `vobjects up`; it is stopped at the end."""
    with contextlib.ExitStack() as stack:

        def started(*options: str) -> Up:
            up = Up(directory, *options)
            stack.callback(up.end)
            return up

        yield started


def test_up_when_ready_then_serves_and_keeps_its_state_private(
    start, directory
):
    up = start('--engines=2').ready()
    assert up.get('/') == 300
    assert up.get('/v1/clusters') == 200
    assert len(up.engines()) == 2
    for path in directory.rglob('*'):
        assert path.stat().st_mode & 0o077 == 0, path
    assert directory.stat().st_mode & 0o777 == 0o700
    assert {log.name for log in (directory / 'log').iterdir()} == {
        *('api.log', 'config.log', 'db.log'),
        *('engine-1.log', 'engine-2.log'),
    }
    assert '\x1b' not in up.text


def test_up_when_ready_then_the_commands_it_prints_work(start):
    up = start('--engines=1').ready()
    text = up.text.partition('try, in another shell:')[2]
    commands = [
        line.strip() for line in text.splitlines() if line.startswith('    ')
    ]
    assert len(commands) == 3
    for command in commands:
        done = subprocess.run(
            command, shell=True, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f'{command}\n{done.stderr}'


@pytest.mark.parametrize(
    'number', [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
)
def test_up_when_asked_to_stop_then_ends_with_0_and_leaves_nothing(
    start, directory, number
):
    up = start('--workers=2').ready()
    below = descendants(up.process.pid)
    assert len(below) >= 6  # a keeper and a process for each child
    assert up.end(number) == 0
    assert alive(below) == []
    assert up.lines[-2:] == ['stopping', 'stopped']
    assert not any(path.is_socket() for path in directory.rglob('*'))


def test_up_when_killed_then_all_below_it_end_and_it_starts_again(start):
    up = start('--workers=2').ready()
    below = descendants(up.process.pid)
    up.process.kill()
    up.end()
    wait_until(lambda: not alive(below))
    again = start().ready()
    assert again.get('/v1/clusters') == 200


@pytest.mark.parametrize('name', ['api', 'engine'])
def test_up_when_a_child_is_killed_then_it_is_started_again(start, name):
    up = start('--engines=1', '--workers=2').ready()
    killed = up.pid_of(name)
    workers = descendants(killed)
    os.kill(killed, signal.SIGKILL)
    up.wait_for(rf'{name}\S* was ended by SIGKILL; next start in 0\.5 s')
    up.wait_for(rf'{name}\S* is started again')
    assert alive(workers) == []

    def serves():
        with contextlib.suppress(OSError):
            return up.get('/v1/clusters') == 200
        return False

    wait_until(serves)


def test_up_when_second_on_the_same_state_then_refused(start, directory):
    first = start('--engines=1').ready()
    second = start('--engines=1')
    assert second.process.wait(TIMEOUT) == 2
    second.end()
    assert f'{directory} is in use by process {first.process.pid}' in (
        second.text
    )
    assert first.get('/') == 300


def test_up_when_logs_are_asked_for_then_shown_with_names(start):
    up = start('--engines=1', '--logs').ready()
    assert up.get('/v1/clusters') == 200
    up.wait_for(r'(?m)^api +\| .*GET /v1/clusters')
    assert up.end() == 0
    assert re.search(r'(?m)^engine-1 +\| ', up.text)


@pytest.mark.parametrize(
    ('url', 'code', 'said'),
    [
        ('postgresql+psycopg2://x@127.0.0.1:1/x', 1, 'Connection refused'),
        ('nonsense', 2, 'Could not parse SQLAlchemy URL'),
        ('mysql+pymysql://x:secret@127.0.0.1:1/x', 1, 'x:***@127.0.0.1:1/x'),
    ],
)
def test_up_when_database_is_out_of_reach_then_fails_and_says_why(
    start, url, code, said
):
    up = start(f'--database={url}')
    assert up.process.wait(TIMEOUT) == code
    up.end()
    first, line = up.lines
    assert first.startswith('checking the configuration')
    assert line.startswith('vobjects db: [database] connection = ')
    assert said in line


@pytest.mark.parametrize(
    ('url', 'code', 'said'),
    [
        ('rubbish', 2, 'rubbish is not usable: No scheme specified'),
        ('rabbit://u:secret@127.0.0.1:x/', 2, 'u:***@127.0.0.1:x/'),
        ('nosuch://h/', 2, 'nosuch://h/ is not usable'),
        ('rabbit://u:secret@127.0.0.1:1/', 1, 'Connection refused; start it'),
    ],
)
def test_up_when_message_bus_cannot_be_used_then_says_why_in_a_line(
    start, url, code, said
):
    up = start(f'--transport-url={url}')
    assert up.process.wait(TIMEOUT) == code
    up.end()
    _, line = up.lines
    assert '[DEFAULT] transport_url = ' in line
    assert said in line
    assert 'secret' not in line


def test_up_when_a_setting_is_bad_then_one_line_and_exit_code_2(
    start, tmp_path
):
    extra = tmp_path / 'extra.conf'
    extra.write_text('[engine]\nworkers = many\n')
    up = start(f'--config-file={extra}')
    assert up.process.wait(TIMEOUT) == 2
    up.end()
    assert up.lines[1:] == [
        f'{extra}: [engine] workers = many: must be a whole number from 1 to'
        ' 1024'
    ]


def test_up_when_an_option_is_unknown_then_warns_and_starts(start, tmp_path):
    extra = tmp_path / 'extra.conf'
    extra.write_text('[api]\nprot = 1\n')
    up = start('--engines=1', f'--config-file={extra}').ready()
    warning = (
        f'{extra}: [api] prot: unknown option, nothing reads it; did you mean'
        " 'port'?"
    )
    assert warning in up.lines
    for name in ('engine-1', 'api'):
        log = (up.directory / 'log' / f'{name}.log').read_text()
        (line,) = [ln for ln in log.splitlines() if warning in ln]
        assert ' WARNING ' in line


def test_up_when_more_settings_are_given_then_they_count(start, tmp_path):
    extra = tmp_path / 'extra.conf'
    extra.write_text('[api]\nmethod_not_found_status = 400\n')
    up = start('--engines=1', f'--config-file={extra}').ready()
    assert up.get('/v1/clusters/c/attrs/name') == 400  # there since 1.2


def test_fleet_when_asked_of_a_running_service_then_tells(start):
    up = start('--engines=2').ready()
    listed = up.fleet('list')
    assert listed.startswith('ID ')
    assert len(re.findall(r'(?m)^\w+ +vobjects-engine ', listed)) == 2
    assert 'highest microversion: 1.14\n' in listed
    explained = up.fleet('explain', 'ClusterDeleteRequest')
    assert explained.startswith('ClusterDeleteRequest: 1.1; this build')
    assert explained.count('speaks 1.1; last seen') == 2
    assert 'held' in up.fleet('hold')
    assert 'held' not in up.fleet('finalize')
