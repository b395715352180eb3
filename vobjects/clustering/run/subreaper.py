# SPDX-License-Identifier: Apache-2.0
"""Run one command, and leave no process behind in any case.

::

    supervisor         if it is killed, the kernel sends the keeper SIGTERM
    └── keeper         leads a separate session, so that a terminal's
        │              Ctrl-C reaches the supervisor only
        └── command    if the keeper is killed, the kernel kills it, too
            └── ...    processes that the command started, in its session

The keeper forwards SIGTERM to the command. If the command has not ended
``GRACE`` seconds later, the keeper kills the whole session. When the command
ends, the keeper kills the processes that it left and exits with its exit code,
or with 128 + N for signal N.

This file also runs as a script, without site-packages, to start quickly and
stay small::

    python -I -S subreaper.py PARENT_PID GRACE COMMAND [ARGUMENT ...]
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_PR_SET_CHILD_SUBREAPER = 36

_SIGNALS = frozenset(
    {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD}
)
_CANNOT_RUN = 127


def die_with_parent(number: int, parent: int) -> bool:
    """Ask the kernel to signal this process when its parent dies.

    The setting survives ``exec``. The kernel sends the signal when the
    *thread* that started this process ends (prctl(2), PR_SET_PDEATHSIG).

    :param number: the signal
    :param parent: the expected process id of the parent
    :returns: False if the parent has already ended
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    return os.getppid() == parent


def session(leader: int) -> list[int]:
    """Return the live processes of a session.

    :param leader: id of the session
    """
    processes = []
    for entry in os.listdir('/proc'):
        if not entry.isdigit():
            continue
        try:
            with open(f'/proc/{entry}/stat', encoding='latin-1') as stat:
                # proc(5): pid (command) state ppid pgrp session ...
                fields = stat.read().rpartition(')')[2].split()
        except OSError:
            continue
        if fields[0] not in 'ZX' and int(fields[3]) == leader:
            processes.append(int(entry))
    return processes


def kill_session(leader: int, *, spare: int = 0) -> None:
    """Kill every process of a session, also those that appear meanwhile.

    :param leader: id of the session
    :param spare: id of a process to leave alone
    """
    until = time.monotonic() + 5
    while alive := [pid for pid in session(leader) if pid != spare]:
        for pid in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > until:
            return
        time.sleep(0.01)


def keep(parent: int, grace: float, command: list[str]) -> int:
    """Run a command until it ends.

    :param parent: id of the process that this one must not outlive
    :param grace: seconds between SIGTERM and SIGKILL
    :param command: program and arguments
    :returns: the command's exit code, or 128 + the number of the signal that
        ended it
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    if not die_with_parent(signal.SIGTERM, parent):
        return 0
    # Adopt the orphans of the command: where process 1 does not reap
    # processes, as in many containers, they would stay zombies.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = _start(command)
    deadline: float | None = None
    while (code := _reap(child)) is None:
        number = _next_signal(deadline)
        if number is None:
            kill_session(os.getsid(0), spare=os.getpid())
            deadline = None
        elif number != signal.SIGCHLD:
            os.kill(child, signal.SIGTERM)
            deadline = deadline or time.monotonic() + grace
    kill_session(os.getsid(0), spare=os.getpid())
    _reap(child)
    return code if code >= 0 else 128 - code


def _start(command: list[str]) -> int:
    keeper = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        if die_with_parent(signal.SIGKILL, keeper):
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)  # Python ignores them
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            os.closerange(3, os.sysconf('SC_OPEN_MAX'))
            os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.stderr.write(f'cannot run {command[0]}: {error.strerror}\n')
        sys.stderr.flush()
    finally:
        os._exit(_CANNOT_RUN)


def _reap(child: int) -> int | None:
    """Reap ended processes; return the child's exit code if it ended."""
    code = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if pid == 0:
            return code
        if pid == child:
            code = os.waitstatus_to_exitcode(status)


def _next_signal(deadline: float | None) -> int | None:
    """Wait for a signal; return None if the deadline passes first."""
    if deadline is None:
        return signal.sigwaitinfo(_SIGNALS).si_signo
    left = max(deadline - time.monotonic(), 0)
    received = signal.sigtimedwait(_SIGNALS, left)
    return None if received is None else received.si_signo


if __name__ == '__main__':
    sys.exit(keep(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
