# SPDX-License-Identifier: Apache-2.0
"""Starting, restarting and stopping, with real processes."""

from __future__ import annotations

import os
import pathlib
import signal
import sys
import threading
import time

import pytest

from tests.functional.processes import is_alive, wait_for
from vobjects.clustering.run import supervisor

QUICK = supervisor.Timing(
    first_delay=0.05,
    longest_delay=0.2,
    steady_after=5,
    grace=1,
    ready_within=240,
)

#: Writes its process id, then runs until it gets a signal.
WELL = """
import os, signal, sys
def end(*_):
    print('ended', sys.argv[1], flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print('pid', os.getpid(), flush=True)
while True:
    signal.pause()
"""

#: Starts a process; both ignore SIGTERM.
DEAF = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
inner = subprocess.Popen(['sleep', '1000'])
print('pid', inner.pid, flush=True)
print('pid', os.getpid(), flush=True)
inner.wait()
signal.pause()
"""

#: Starts a process and ends without it.
LEAVER = """
import subprocess
print('pid', subprocess.Popen(['sleep', '1000']).pid, flush=True)
"""

CRASHER = "import sys; sys.exit('out of order')"


class Watched:
    """A supervisor that a test controls, with its messages."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory
        self.messages: list[str] = []
        self.children: list[supervisor.Child] = []

    def child(self, name, code, **options):
        self.children.append(
            supervisor.Child(
                name,
                (sys.executable, '-c', code, name),
                self.directory / f'{name}.log',
                **options,
            )
        )

    def log(self, name):
        try:
            return (self.directory / f'{name}.log').read_text()
        except FileNotFoundError:
            return ''

    def pids(self, name):
        lines = self.log(name).splitlines()
        return [int(ln.split()[1]) for ln in lines if ln.startswith('pid')]

    def run(self, then=lambda: None, timing=QUICK):
        """Run; `then` is called in a thread once all are ready."""
        watch = supervisor.Supervisor(
            self.children, self.messages.append, timing=timing
        )
        failures = []

        def steer():
            try:
                then()
            except BaseException as error:  # noqa: BLE001 - raised below
                failures.append(error)
            finally:
                watch.stop()

        thread = threading.Thread(target=steer)
        code = watch.run(thread.start)
        if thread.ident is not None:
            thread.join()
        if failures:
            raise failures[0]
        return code


@pytest.fixture
def watched(tmp_path):
    return Watched(tmp_path)


def wait_until(condition):
    wait_for('what should happen', condition, interval=0.01)


def test_run_when_stopped_then_children_end_in_reverse_order(watched):
    order = watched.directory / 'order'
    for name, stage in (('late', 2), ('early', 1)):
        watched.child(
            name,
            f'import signal, sys\n'
            f'def end(*_):\n'
            f'    open({str(order)!r}, "a").write({name!r} + " ")\n'
            f'    sys.exit(0)\n'
            f'signal.signal(signal.SIGTERM, end)\n'
            f'print("pid 0", flush=True)\n'
            f'signal.pause()\n',
            stage=stage,
            ready=lambda name=name: bool(watched.pids(name)),
        )
    assert watched.run() == 0
    assert order.read_text() == 'late early '
    assert watched.messages == ['stopping']


def test_run_when_child_crashes_then_it_is_started_again(watched):
    watched.child('well', WELL, ready=lambda: bool(watched.pids('well')))

    def kill_it():
        os.kill(watched.pids('well')[0], signal.SIGKILL)
        wait_until(lambda: len(watched.pids('well')) == 2)

    assert watched.run(kill_it) == 0
    assert (
        'well was ended by SIGKILL; next start in 0.05 s'
        in watched.messages[0]
    )
    assert watched.messages[1] == 'well is started again'
    assert watched.log('well').endswith('ended well\n')
    assert not any(is_alive(pid) for pid in watched.pids('well'))


def test_run_when_child_goes_on_crashing_then_delays_grow(watched):
    flag = watched.directory / 'flag'
    watched.child(
        'crasher',
        f'import os, pathlib, signal, sys\n'
        f'pathlib.Path({str(flag)!r}).exists() and sys.exit("out of order")\n'
        f'print("pid", os.getpid(), flush=True)\n'
        f'signal.pause()\n',
        ready=lambda: bool(watched.pids('crasher')),
    )

    def break_it():
        flag.touch()
        os.kill(watched.pids('crasher')[0], signal.SIGTERM)
        wait_until(lambda: len(ends_of(watched)) >= 4)

    assert watched.run(break_it) == 0
    ends = ends_of(watched)
    delays = [text.split('next start in ')[1].split(' s')[0] for text in ends]
    assert delays[:4] == ['0.05', '0.1', '0.2', '0.2']
    assert ends[1].endswith('crasher.log:\n    out of order')


def ends_of(watched):
    return [text for text in watched.messages if 'next start in' in text]


def test_run_when_child_was_up_for_long_then_crashes_are_forgotten(watched):
    watched.child('well', WELL, ready=lambda: bool(watched.pids('well')))

    def kill_it_twice():
        os.kill(watched.pids('well')[-1], signal.SIGKILL)
        wait_until(lambda: len(watched.pids('well')) == 2)
        time.sleep(0.4)
        os.kill(watched.pids('well')[-1], signal.SIGKILL)
        wait_until(lambda: len(watched.pids('well')) == 3)

    timing = supervisor.Timing(
        first_delay=0.05, steady_after=0.2, grace=1, ready_within=240
    )
    assert watched.run(kill_it_twice, timing) == 0
    ends = ends_of(watched)
    assert len(ends) == 2
    assert all('next start in 0.05 s' in text for text in ends)


def test_run_when_child_cannot_start_then_fails_and_stops_the_rest(watched):
    watched.child('well', WELL)
    watched.child('crasher', CRASHER, ready=lambda: False)
    assert watched.run() == 1
    assert 'crasher ended 3 times during the start' in watched.messages[-1]
    assert not any(is_alive(pid) for pid in watched.pids('well'))


def test_stop_when_children_end_at_the_same_time_then_the_rest_ends_in_order(
    watched,
):
    watched.child('well', WELL, ready=lambda: bool(watched.pids('well')))
    for name in ('first', 'second'):
        watched.child(
            name,
            WELL,
            stage=1,
            ready=lambda name=name: bool(watched.pids(name)),
        )
    watch = supervisor.Supervisor(
        watched.children, watched.messages.append, timing=QUICK
    )

    def end_both_and_stop():
        """Run between the supervisor's last look and its stop."""
        keepers = [
            pathlib.Path(f'/proc/{watched.pids(name)[0]}/stat')
            .read_text()
            .rpartition(')')[2]
            .split()[1]
            for name in ('first', 'second')
        ]
        for name in ('first', 'second'):
            os.kill(watched.pids(name)[0], signal.SIGKILL)
        wait_until(lambda: not any(is_alive(int(pid)) for pid in keepers))
        watch.stop()

    assert watch.run(end_both_and_stop) == 0
    assert watched.messages == ['stopping']
    assert watched.log('well').endswith('ended well\n')


def test_run_when_child_ends_with_2_then_not_started_again(watched):
    watched.child('well', WELL)
    watched.child(
        'picky',
        'import sys\n'
        'print("pid 0", flush=True)\n'
        'print("picky: [engine] workers is bad", flush=True)\n'
        'sys.exit(2)\n',
        ready=lambda: False,
    )
    assert watched.run() == 2
    assert watched.messages == ['picky: picky: [engine] workers is bad']
    assert len(watched.pids('picky')) == 1
    assert not any(is_alive(pid) for pid in watched.pids('well'))


def test_run_when_child_crashes_then_only_the_last_line_is_shown(watched):
    watched.child('crasher', 'def f(): f()\nf()', ready=lambda: False)
    assert watched.run() == 1
    assert len(watched.log('crasher').splitlines()) > 9
    for text in ends_of(watched):
        _, line = text.splitlines()
        assert line.startswith('    RecursionError: ')


def test_run_when_program_is_missing_then_fails_with_its_name(watched):
    watched.children.append(
        supervisor.Child(
            'none',
            ('/no/such/program',),
            watched.directory / 'none.log',
            ready=lambda: False,
        )
    )
    assert watched.run() == 1
    assert 'cannot run /no/such/program: No such file' in watched.messages[0]


def test_run_when_child_is_never_ready_then_fails(watched):
    watched.child('well', WELL, ready=lambda: False)
    timing = supervisor.Timing(grace=1, ready_within=0.3)
    assert watched.run(timing=timing) == 1
    assert 'not ready after 0.3 s: well; see' in watched.messages[-1]
    assert not any(is_alive(pid) for pid in watched.pids('well'))


def test_run_when_child_does_not_heed_then_its_whole_session_is_killed(
    watched,
):
    watched.child('deaf', DEAF, ready=lambda: len(watched.pids('deaf')) == 2)
    began = time.monotonic()
    assert watched.run() == 0
    assert time.monotonic() - began >= QUICK.grace
    assert not any(is_alive(pid) for pid in watched.pids('deaf'))


def test_run_when_child_leaves_processes_then_they_are_killed(watched):
    watched.child('leaver', LEAVER, ready=lambda: False)
    assert watched.run() == 1
    assert len(watched.pids('leaver')) == 3
    assert not any(is_alive(pid) for pid in watched.pids('leaver'))


def test_stop_when_called_twice_kills_at_once(watched):
    watched.child('deaf', DEAF, ready=lambda: len(watched.pids('deaf')) == 2)
    patient = supervisor.Timing(grace=600)
    watch = supervisor.Supervisor(
        watched.children, watched.messages.append, timing=patient
    )

    def insist():
        watch.stop()
        watch.stop()
        time.sleep(0.5)
        assert all(is_alive(pid) for pid in watched.pids('deaf'))
        time.sleep(1)
        watch.stop()

    thread = threading.Thread(target=insist)
    began = time.monotonic()
    assert watch.run(thread.start) == 0
    thread.join()
    assert time.monotonic() - began < patient.grace
    assert not any(is_alive(pid) for pid in watched.pids('deaf'))
