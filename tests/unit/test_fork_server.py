# SPDX-License-Identifier: Apache-2.0
"""Forks of the tests with processes behave like executed programs."""

from __future__ import annotations

import atexit
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from typing import IO

import pytest

from tests.functional import fork_server
from tests.functional.processes import is_alive, wait_for


def main() -> int:
    """Run in forks: exit with the given code, or wait."""
    if sys.argv[1] == 'wait':
        signal.pause()
    atexit.register(sys.stdout.write, '\nlast words\n')
    sys.stderr.write('wrong\n')
    json.dump(
        {
            'arguments': sys.argv[1:],
            'environment': dict(os.environ),
            'directory': os.getcwd(),
            'leads its session': os.getsid(0) == os.getpid(),
        },
        sys.stdout,
    )
    return int(sys.argv[1])


@pytest.fixture(scope='module')
def server() -> Iterator[fork_server.ForkServer]:
    opened = fork_server.ForkServer([__name__])
    yield opened
    opened.close()


@pytest.fixture
def output() -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as file:
        yield file


@pytest.fixture
def errors() -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as file:
        yield file


def start(
    server: fork_server.ForkServer,
    word: str,
    output: IO[bytes],
    errors: IO[bytes],
) -> fork_server.ForkedProcess:
    files = [0, output.fileno(), errors.fileno()]
    return server.start(__name__, [word], {'WORD': 'x'}, files)


def test_fork_has_its_own_arguments_environment_and_output(
    server: fork_server.ForkServer,
    output: IO[bytes],
    errors: IO[bytes],
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)

    process = start(server, '3', output, errors)

    assert process.wait(60) == 3
    assert process.poll() == 3
    output.seek(0)
    document, last = output.read().decode().splitlines()
    assert json.loads(document) == {
        'arguments': ['3'],
        'environment': {'WORD': 'x'},
        'directory': str(tmp_path),
        'leads its session': True,
    }
    assert last == 'last words'
    errors.seek(0)
    assert errors.read() == b'wrong\n'


def test_signal_ends_one_fork_and_later_ones_reach_nothing(
    server: fork_server.ForkServer, output: IO[bytes], errors: IO[bytes]
) -> None:
    killed = start(server, 'wait', output, errors)
    other = start(server, 'wait', output, errors)
    with pytest.raises(subprocess.TimeoutExpired):
        killed.wait(0)

    killed.send_signal(signal.SIGKILL)

    assert killed.wait(60) == -signal.SIGKILL
    killed.send_signal(signal.SIGTERM)
    assert other.poll() is None
    other.send_signal(signal.SIGTERM)
    assert other.wait(60) == -signal.SIGTERM


def test_forks_end_with_the_server(
    output: IO[bytes], errors: IO[bytes]
) -> None:
    server = fork_server.ForkServer([__name__])
    process = start(server, 'wait', output, errors)

    server.close()

    wait_for('the fork has ended', lambda: not is_alive(process.pid))
    with pytest.raises(AssertionError, match='has ended'):
        process.poll()


#: Script of another environment: prints its prefix, and what it can import.
SHOP = """
import importlib.util
import sys

def main():
    print(sys.prefix, importlib.util.find_spec('vobjects'), *sys.argv[1:])
    return 3
"""


def test_script_of_another_environment_has_only_its_packages(
    tmp_path: pathlib.Path, output: IO[bytes], errors: IO[bytes]
) -> None:
    venv.create(tmp_path)
    (site,) = tmp_path.glob('lib/python*/site-packages')
    (site / 'shop.py').write_text(SHOP)
    script = str(tmp_path / 'bin' / 'shop')
    fork_server.offer(str(tmp_path / 'bin' / 'python'), {script: 'shop'})
    command, environment = [script, 'word'], dict(os.environ)
    assert fork_server.is_forkable(command, environment)

    process = fork_server.start(command, environment, output, errors)

    assert process.wait(60) == 3
    output.seek(0)
    assert output.read().decode() == f'{tmp_path} None word\n'


@pytest.mark.parametrize(
    ('command', 'environment', 'expected'),
    [
        (['-m', 'vobjects', 'engine'], {}, True),
        (['-m', 'vobjects', 'engine'], {'PYTHONUNBUFFERED': '1'}, True),
        (['-m', 'vobjects', 'engine'], {'PYTHONPATH': '/other'}, False),
        (['-m', 'vobjects', 'up'], {}, False),
        (['script.py', 'engine'], {}, False),
    ],
)
def test_commands_with_other_settings_of_python_are_executed(
    command: list[str], environment: dict[str, str], expected: bool
) -> None:
    assert (
        fork_server.is_forkable(
            [sys.executable, *command], {**os.environ, **environment}
        )
        is expected
    )
