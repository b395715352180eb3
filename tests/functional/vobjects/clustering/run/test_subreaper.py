# SPDX-License-Identifier: Apache-2.0
"""No process remains, in whatever order the processes die."""

import os
import signal
import subprocess
import sys

import pytest

from tests.functional.processes import is_alive, wait_for
from tests.programs import run_program
from vobjects.clustering.run import subreaper

#: A supervisor with a child and a grandchild.
SUPERVISOR = """
import pathlib, sys
from vobjects.clustering.run import supervisor
directory = pathlib.Path(sys.argv[1])
child = supervisor.Child(
    'child', (sys.executable, '-c', sys.argv[2]), directory / 'log'
)
timing = supervisor.Timing(grace=0.5)
watch = supervisor.Supervisor([child], print, timing=timing)
watch.run(lambda: print('ready', flush=True))
"""

HEEDS = """
import os, signal, subprocess
inner = subprocess.Popen(['sleep', '1000'])
print(os.getppid(), os.getpid(), inner.pid, 'all', flush=True)
signal.pause()
"""

DEAF = 'import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)' + HEEDS


def wait_until(condition):
    wait_for('what should happen', condition, interval=0.01)


def supervised(directory, code):
    """Start a supervisor; return it, and its descendants' process ids."""
    process = subprocess.Popen(
        [sys.executable, '-c', SUPERVISOR, str(directory), code],
        stdout=subprocess.DEVNULL,
    )
    log = directory / 'log'
    wait_until(lambda: log.exists() and 'all' in log.read_text())
    return process, [int(word) for word in log.read_text().split()[:3]]


@pytest.mark.parametrize('code', [HEEDS, DEAF], ids=['heeds', 'deaf'])
def test_supervisor_when_killed_then_all_below_it_end(tmp_path, code):
    process, below = supervised(tmp_path, code)
    process.kill()
    process.wait()
    wait_until(lambda: not any(is_alive(pid) for pid in below))


def test_supervisor_when_it_and_the_keeper_are_killed_then_command_ends(
    tmp_path,
):
    process, (keeper_pid, command, inner) = supervised(tmp_path, DEAF)
    process.kill()
    os.kill(keeper_pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not is_alive(command))
    # No keeper was left that could have killed the grandchild.
    os.kill(inner, signal.SIGKILL)


def test_session_of_this_process_contains_it():
    assert os.getpid() in subreaper.session(os.getsid(0))


def run_with_keeper(*command, parent=None):
    return run_program(
        [
            *(sys.executable, '-I', '-S', subreaper.__file__),
            *(str(parent or os.getpid()), '1', *command),
        ],
        start_new_session=True,
    )


@pytest.mark.parametrize(
    ('code', 'expected'),
    [
        ('raise SystemExit(0)', 0),
        ('raise SystemExit(3)', 3),
        ('import os; os.kill(os.getpid(), 9)', 128 + 9),
    ],
)
def test_keep_when_command_ends_exits_with_its_status(code, expected):
    assert run_with_keeper(sys.executable, '-c', code).returncode == expected


def test_keep_when_program_is_missing_exits_127():
    result = run_with_keeper('/no/such/program')
    assert result.returncode == 127
    assert result.stderr.startswith(
        'cannot run /no/such/program: No such file'
    )


def test_keep_when_parent_has_ended_runs_nothing(tmp_path):
    mark = tmp_path / 'mark'
    assert run_with_keeper('touch', str(mark), parent=2**22).returncode == 0
    assert not mark.exists()


def test_keep_when_command_runs_blocks_no_signal():
    code = (
        'import signal; assert not signal.pthread_sigmask(0, []);'
        'print(open("/proc/self/status").read())'
    )
    result = run_with_keeper(sys.executable, '-c', code)
    assert result.returncode == 0, result.stderr
    assert 'SigBlk:\t0000000000000000' in result.stdout


def test_keep_when_descriptors_are_open_closes_them_for_the_command(
    tmp_path,
):
    with (tmp_path / 'lock').open('w') as lock:
        result = run_program(
            [
                *(sys.executable, '-I', '-S', subreaper.__file__),
                *(str(os.getpid()), '1', 'ls', '-l', '/proc/self/fd'),
            ],
            pass_fds=[lock.fileno()],
            check=True,
            start_new_session=True,
        )
    assert str(tmp_path) not in result.stdout
