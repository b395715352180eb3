# SPDX-License-Identifier: Apache-2.0
"""Run one command and leave nothing behind, whoever dies first.

::

    supervisor         dies by SIGKILL: the kernel sends the keeper SIGTERM
    └── keeper         leads a session of its own, so that a terminal's
        │              Ctrl-C reaches the supervisor only
        └── command    the keeper dies by SIGKILL: the kernel kills this too
            └── ...    what the command started, in the same session

On SIGTERM the keeper passes it on, and kills the whole session when the
command has not ended ``GRACE`` seconds later. When the command has ended,
the keeper kills what it left and ends with its exit code, or 128 + N for
signal N.

This file is also run as a script, without site-packages, to be small and
quick: ``python -I -S keeper.py PARENT_PID GRACE COMMAND [ARGUMENT ...]``.
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
    """Have the kernel send this process a signal when its parent dies.

    It survives ``exec``. What counts is the death of the *thread* that
    started this process (prctl(2), PR_SET_PDEATHSIG).

    :param number: the signal
    :param parent: the process id that the parent is expected to have
    :returns: False when the parent is gone already
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    return os.getppid() == parent


def session(leader: int) -> list[int]:
    """Return the processes of a session that are alive.

    :param leader: the session's id
    """
    found = []
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
            found.append(int(entry))
    return found


def kill_session(leader: int, *, spare: int = 0, within: float = 5) -> None:
    """Kill every process of a session.

    :param spare: the one process to leave alone
    :param within: seconds to go on while new ones appear
    """
    until = time.monotonic() + within
    while alive := [pid for pid in session(leader) if pid != spare]:
        for pid in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > until:
            return
        time.sleep(0.01)


def keep(parent: int, grace: float, command: list[str]) -> int:
    """Run a command until it ends.

    :param parent: the process that this one must not outlive
    :param grace: seconds between SIGTERM and SIGKILL
    :returns: the command's exit code, or 128 + the signal that ended it
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    if not die_with_parent(signal.SIGTERM, parent):
        return 0
    # Orphans of the command become ours, so that they do not stay zombies
    # where process 1 collects none, as in many containers.
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
    """Collect who has ended; return the exit code if it was the child."""
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
    """Wait for a signal; None when the deadline came first."""
    if deadline is None:
        return signal.sigwaitinfo(_SIGNALS).si_signo
    left = max(deadline - time.monotonic(), 0)
    received = signal.sigtimedwait(_SIGNALS, left)
    return None if received is None else received.si_signo


if __name__ == '__main__':
    sys.exit(keep(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
