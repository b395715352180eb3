# SPDX-License-Identifier: Apache-2.0
"""Nothing is left behind, whoever dies first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.functional.processes import is_alive, wait_for
from vobjects.clustering.run import subreaper

#: A supervisor with one child that starts a process of its own.
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
    wait_for('what should happen', condition, timeout=120, interval=0.01)


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
    # Nobody was left who could have known of this one.
    os.kill(inner, signal.SIGKILL)


def test_session_when_asked_for_our_own_then_we_are_in_it():
    assert os.getpid() in subreaper.session(os.getsid(0))


def run_kept(*command, parent=None):
    return subprocess.run(
        [
            *(sys.executable, '-I', '-S', subreaper.__file__),
            *(str(parent or os.getpid()), '1', *command),
        ],
        capture_output=True,
        text=True,
        check=False,
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
def test_keep_when_command_ends_then_ends_the_same_way(code, expected):
    assert run_kept(sys.executable, '-c', code).returncode == expected


def test_keep_when_program_is_missing_then_says_so():
    done = run_kept('/no/such/program')
    assert done.returncode == 127
    assert done.stderr.startswith('cannot run /no/such/program: No such file')


def test_keep_when_parent_is_gone_already_then_runs_nothing(tmp_path):
    mark = tmp_path / 'mark'
    assert run_kept('touch', str(mark), parent=2**22).returncode == 0
    assert not mark.exists()


def test_keep_when_command_runs_then_signals_are_as_usual():
    code = (
        'import signal; assert not signal.pthread_sigmask(0, []);'
        'print(open("/proc/self/status").read())'
    )
    done = run_kept(sys.executable, '-c', code)
    assert done.returncode == 0, done.stderr
    assert 'SigBlk:\t0000000000000000' in done.stdout


def test_keep_when_descriptors_are_open_then_command_has_none_of_them(
    tmp_path,
):
    with (tmp_path / 'lock').open('w') as lock:
        done = subprocess.run(
            [
                *(sys.executable, '-I', '-S', subreaper.__file__),
                *(str(os.getpid()), '1', 'ls', '-l', '/proc/self/fd'),
            ],
            pass_fds=[lock.fileno()],
            capture_output=True,
            text=True,
            check=True,
            start_new_session=True,
        )
    assert str(tmp_path) not in done.stdout
