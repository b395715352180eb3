# SPDX-License-Identifier: Apache-2.0
"""The service on a disk that is full, and has space again.

The disks are small file systems in memory, which only root can mount.
"""

from __future__ import annotations

import collections
import contextlib
import errno
import os
import pathlib
import re
import signal
import subprocess
from collections.abc import Iterator

import pytest

from tests.functional.processes import wait_for
from tests.functional.rest import SPEC, RestClient, unique
from tests.functional.test_up import Up
from tests.programs import run_program


@contextlib.contextmanager
def mounted(directory: pathlib.Path, megabytes: int) -> Iterator[None]:
    """Mount a small disk; skip the test if that is not permitted."""
    directory.mkdir(mode=0o700)
    try:
        done = run_program(
            [
                *('mount', '-t', 'tmpfs', '-o'),
                *(f'size={megabytes}m,mode=0700', 'tmpfs', str(directory)),
            ]
        )
        problem = done.stderr
    except FileNotFoundError as error:
        problem = str(error)
    if problem:
        pytest.skip(f'cannot mount a disk, as root can: {problem}')
    try:
        yield
    finally:
        subprocess.run(['umount', '--lazy', str(directory)], check=True)


@contextlib.contextmanager
def filled(directory: pathlib.Path) -> Iterator[None]:
    """Fill a disk, and free it again."""
    ballast = directory / 'ballast'
    with ballast.open('wb', buffering=0) as file:
        try:
            while True:
                file.write(b'x' * 4096)
        except OSError as error:
            assert error.errno == errno.ENOSPC  # noqa: PT017
    try:
        yield
    finally:
        ballast.unlink()


@pytest.fixture(scope='module')
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A service whose state, logs and metrics are on disks of their own.

    Besides its output, each process writes the file that ``log_file`` names.
    """
    directory = tmp_path_factory.mktemp('full')
    state = directory / 'state'
    logs = state / 'log'
    options = directory / 'logs.conf'
    options.write_text(f'[DEFAULT]\nlog_file = {logs / "own.log"}\n')
    with mounted(state, 24), mounted(logs, 8), mounted(state / 'metrics', 2):
        running = Up(state, '--engines=1', f'--config-file={options}')
        try:
            yield running.wait_until_ready()
        finally:
            running.stop()


def create(rest: RestClient) -> int:
    """Return the status of a request that changes something."""
    body = {'profile': {'name': unique('p'), 'spec': SPEC}}
    return rest.request('POST', '/v1/profiles', body).status_code


def lines(up: Up, pattern: str) -> list[str]:
    """Return the lines that match in the logs of the engine and the API."""
    return [
        line
        for path in sorted((up.directory / 'log').glob('*.log'))
        for line in path.read_text(errors='replace').splitlines()
        if re.search(pattern, line)
    ]


def test_full_disk_of_the_state_means_503_until_there_is_space(up: Up) -> None:
    children = {name: up.pid_of(name) for name in ('api', 'engine')}
    with RestClient(up.url) as rest:
        assert create(rest) == 201
        with filled(up.directory):
            wait_for('changes are refused', lambda: create(rest) == 503)
            for _ in range(20):
                assert create(rest) == 503
                assert rest.request('GET', '/').status_code == 300
        wait_for('changes are accepted', lambda: create(rest) == 201)
    assert {name: up.pid_of(name) for name in children} == children
    refused = lines(up, 'accepts no changes: .*full')
    loggers = collections.Counter(line.split()[3] for line in refused)
    # Small changes may still find space, but the end of the outage is later.
    # The API and the engine each lose the fleet.
    assert loggers.pop('engine.db.reachability') == 1, refused
    wait_for('end of the outage', lambda: lines(up, 'accepts changes again'))
    assert loggers.pop('vobjects.rpc.membership:', 0) <= 6, refused
    of_api = loggers.pop('vobjects.microversions.application_errors')
    assert 1 <= of_api <= 3, refused
    assert not loggers
    assert lines(up, 'Traceback') == []


def test_full_disk_of_the_logs_stops_no_request(up: Up) -> None:
    children = {name: up.pid_of(name) for name in ('api', 'engine')}
    with RestClient(up.url) as rest:
        assert create(rest) == 201
        with filled(up.directory / 'log'):
            printed = len(up.lines)
            for _ in range(200):
                assert create(rest) == 201
            assert len(up.lines) - printed < 5
        assert create(rest) == 201
        last = rest.request('GET', '/v1/profiles')
        request_id = last.headers['X-OpenStack-Request-ID']
    wait_for('logged again', lambda: lines(up, request_id))
    assert {name: up.pid_of(name) for name in children} == children


def test_full_disk_of_the_metrics_ends_no_process_and_stops_none(
    up: Up,
) -> None:
    with RestClient(up.url) as rest:
        assert read(rest) == 200
        with filled(up.directory / 'metrics'):
            for _ in range(20):
                assert read(rest) == 200
            killed = up.pid_of('api')
            os.kill(killed, signal.SIGKILL)
            wait_for('the API runs again', lambda: is_up(up, killed))
            restarted = up.pid_of('api')
            for _ in range(20):
                assert read(rest) == 200
            assert up.get('/metrics') == 200
        assert read(rest) == 200
        assert up.get('/metrics') == 200
    assert up.pid_of('api') == restarted
    assert lines(up, 'Traceback') == []


def read(rest: RestClient) -> int:
    """Return the status of a request that changes nothing."""
    return rest.request('GET', '/v1/profiles').status_code


def is_up(up: Up, killed: int) -> bool:
    """Return whether another process than the one killed answers."""
    try:
        return up.pid_of('api') != killed and up.get('/v1/profiles') == 200
    except (LookupError, OSError):
        return False
