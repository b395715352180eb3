# SPDX-License-Identifier: Apache-2.0
"""Start, monitor, restart and stop processes.

Children start in ascending order of their ``stage`` and stop in descending
order; the children of a stage stop together. A child that ends by itself is
started again after a delay. The delay doubles with each restart, until the
child has been up for a while. A child that ends with exit code 2 rejects its
arguments or its configuration: another start would end the same way, so the
supervisor stops all children and returns that code. The supervisor knows
nothing else about its children.

Everything runs in the thread that calls :meth:`Supervisor.run`, which must be
the main thread (see
:func:`vobjects.clustering.run.subreaper.die_with_parent`). Signal handlers may
call :meth:`Supervisor.stop`.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from vobjects.clustering.run import logs, subreaper

#: Exit code of a child that must not be started again.
REJECTED = 2

#: Seconds between two checks of the children.
_PERIOD = 0.1

#: Seconds after which a second stop request is not an echo of the first.
_INSISTS = 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class Child:
    """A process to run.

    :ivar name: name for messages
    :ivar command: program and arguments
    :ivar log: file to which standard output and error are appended
    :ivar stage: children of lower stages start earlier and stop later
    :ivar ready: returns whether the child is ready; None: ready once it runs
    """

    name: str
    command: tuple[str, ...]
    log: pathlib.Path
    stage: int = 0
    ready: Callable[[], bool] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Timing:
    """Delays and timeouts of the supervisor, in seconds.

    :ivar first_delay: delay before the first restart
    :ivar longest_delay: maximum delay before a restart
    :ivar steady_after: time up after which earlier crashes are forgotten
    :ivar grace: time between the request to stop and SIGKILL
    :ivar ready_within: maximum time until all children are ready
    :ivar attempts: number of crashes of one child after which the start fails
    """

    first_delay: float = 0.5
    longest_delay: float = 30
    steady_after: float = 30
    grace: float = 20
    ready_within: float = 60
    attempts: int = 3

    def delay(self, crashes: int) -> float:
        """Return the delay after a number of crashes in a row."""
        doublings = min(crashes - 1, 32)
        return float(min(self.first_delay * 2**doublings, self.longest_delay))


@dataclasses.dataclass(slots=True)
class _Run:
    """The state of one child."""

    child: Child
    process: subprocess.Popen[bytes] | None = None
    started: float = 0
    offset: int = 0  # size of its log at its start, in bytes
    crashes: int = 0  # in a row
    due: float = 0  # monotonic time of the next start
    ready: bool = False


class Supervisor:
    """Runs children until it is stopped.

    :param children: the processes to run
    :param say: called with each message, of one or several lines
    :param timing: delays and timeouts
    :param keep_open: file descriptors that stay open until the last child has
        ended, even if this process is killed (a lock, for instance)
    """

    def __init__(
        self,
        children: Sequence[Child],
        say: Callable[[str], None],
        *,
        timing: Timing | None = None,
        keep_open: Sequence[int] = (),
    ) -> None:
        self._runs = [
            _Run(child)
            for child in sorted(children, key=lambda child: child.stage)
        ]
        self._say = say
        self._timing = timing or Timing()
        self._keep_open = tuple(keep_open)
        # Plain values instead of an Event: a signal handler that sets an Event
        # on which the main thread waits may deadlock.
        self._stop_requested_at: float | None = None
        self._insisted = False
        self._rejected = False

    def stop(self) -> None:
        """Request a stop; a second request after a second kills the children.

        One request may arrive twice: `make` forwards a signal that its whole
        process group has received.
        """
        now = time.monotonic()
        if self._stop_requested_at is None:
            self._stop_requested_at = now
        elif now - self._stop_requested_at >= _INSISTS:
            self._insisted = True

    def run(self, on_ready: Callable[[], None]) -> int:
        """Start all children, and restart them as needed until stopped.

        No child runs any more when this method returns.

        :param on_ready: called once, when all children are ready
        :returns: 0 after :meth:`stop`; 1 if a child could not be started or
            was not ready in time; 2 if a child ended with that exit code
        """
        try:
            return self._run(on_ready)
        finally:
            self._stop_all()

    def _run(self, on_ready: Callable[[], None]) -> int:
        until = time.monotonic() + self._timing.ready_within
        announced = False
        while self._stop_requested_at is None:
            for run in self._runs:
                self._look_after(run)
            if self._rejected:
                return REJECTED
            if not announced:
                if failure := self._failure(until):
                    self._say(failure)
                    return 1
                if all(self._is_ready(run) for run in self._runs):
                    announced = True
                    on_ready()
            time.sleep(_PERIOD)
        self._say('stopping')
        return 0

    def _failure(self, until: float) -> str:
        """Return why the start has failed; empty if it has not."""
        for run in self._runs:
            if run.crashes >= self._timing.attempts:
                return (
                    f'{run.child.name} ended {run.crashes} times during the'
                    f' start; its log is {run.child.log}'
                )
        if time.monotonic() < until:
            return ''
        late = ', '.join(r.child.name for r in self._runs if not r.ready)
        logs_of = ', '.join(
            str(r.child.log) for r in self._runs if not r.ready
        )
        return (
            f'not ready after {self._timing.ready_within:g} s: {late}; see'
            f' {logs_of}'
        )

    def _is_ready(self, run: _Run) -> bool:
        if run.process is None:
            run.ready = False
        elif not run.ready:
            run.ready = run.child.ready is None or run.child.ready()
        return run.ready

    def _look_after(self, run: _Run) -> None:
        now = time.monotonic()
        if run.process is None:
            if now >= run.due:
                self._start(run)
        elif (code := _ended(run.process)) == REJECTED:
            run.process, self._rejected = None, True
            line = _last_line(run) or f'exit code {code}; log {run.child.log}'
            self._say(f'{run.child.name}: {line}')
        elif code is not None:
            if now - run.started >= self._timing.steady_after:
                run.crashes = 0
            run.crashes += 1
            delay = self._timing.delay(run.crashes)
            run.process, run.due = None, now + delay
            self._say(_obituary(run, code, delay))
        elif run.crashes and now - run.started >= self._timing.steady_after:
            run.crashes = 0

    def _start(self, run: _Run) -> None:
        run.offset = logs.size(run.child.log)
        run.started = time.monotonic()
        command = (
            *(sys.executable, '-I', '-S', subreaper.__file__),
            *(str(os.getpid()), str(self._timing.grace)),
            *run.child.command,
        )
        with run.child.log.open('ab') as log:
            run.process = subprocess.Popen(  # noqa: S603 - no shell, no input
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=self._keep_open,
            )
        if run.crashes:
            self._say(f'{run.child.name} is started again')

    def _stop_all(self) -> None:
        for stage in sorted({r.child.stage for r in self._runs}, reverse=True):
            running = [
                run
                for run in self._runs
                if run.child.stage == stage and run.process is not None
            ]
            self._stop_together(running)

    def _stop_together(self, runs: list[_Run]) -> None:
        processes = [run.process for run in runs if run.process is not None]
        for process in processes:
            # Not Popen.send_signal: it reaps a process that has ended, so that
            # _ended() would not find it.
            os.kill(process.pid, signal.SIGTERM)
        # The keeper kills processes that do not end in time; the longer
        # timeout here is for a keeper that is suspended itself.
        until = time.monotonic() + self._timing.grace + 5
        while processes and not self._insisted and time.monotonic() < until:
            processes = [p for p in processes if _ended(p) is None]
            time.sleep(_PERIOD / 5)
        for process in processes:
            subreaper.kill_session(process.pid)
            process.wait()


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    """Return the exit code of a keeper that has ended, or None.

    The processes that it left are killed before it is reaped: until then no
    other session can have its id.
    """
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    if os.waitid(os.P_PID, process.pid, flags) is None:
        return None
    subreaper.kill_session(process.pid)
    return process.wait()


def _obituary(run: _Run, code: int, delay: float) -> str:
    number = -code if code < 0 else code - 128
    try:
        end = f'was ended by {signal.Signals(number).name}'
    except ValueError:
        end = f'ended with exit code {code}'
    line = _last_line(run)
    tail = f':\n    {line}' if line else ''
    return (
        f'{run.child.name} {end}; next start in {delay:g} s; log'
        f' {run.child.log}{tail}'
    )


def _last_line(run: _Run) -> str:
    """Return the last line that this run logged; empty if none."""
    return ''.join(logs.last_lines(run.child.log, 1, start=run.offset))
