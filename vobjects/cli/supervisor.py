# SPDX-License-Identifier: Apache-2.0
"""Start, watch, restart and stop processes.

Children start in ascending order of their ``stage`` and stop in descending
order, those of a stage together. One that ends by itself is started again
after a delay that doubles each time, until it has been up for a while. The
supervisor knows nothing of what its children do.

Everything happens in the thread that calls :meth:`Supervisor.run`, which has
to be the main thread (see :func:`vobjects.cli.keeper.die_with_parent`);
:meth:`Supervisor.stop` may be called from a signal handler.
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

from vobjects.cli import keeper, logs

_LAST_LINES = 8

#: Seconds between two looks at the children.
_PERIOD = 0.1

#: Seconds after which a second request to stop is not the first one's echo.
_INSISTS = 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class Child:
    """A process to run.

    :ivar name: for messages
    :ivar command: program and arguments
    :ivar log: gets standard output and error, appended
    :ivar stage: lower starts earlier and stops later
    :ivar ready: tells whether it does its work; None: as soon as it runs
    """

    name: str
    command: tuple[str, ...]
    log: pathlib.Path
    stage: int = 0
    ready: Callable[[], bool] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Timing:
    """How patient the supervisor is; all times in seconds.

    :ivar first_delay: before the first restart
    :ivar longest_delay: before any restart
    :ivar steady_after: time up after which earlier crashes are forgotten
    :ivar grace: between asking a child to stop and killing it
    :ivar ready_within: until all are ready after the start
    :ivar attempts: crashes of one child, before all are ready, to give up
    """

    first_delay: float = 0.5
    longest_delay: float = 30
    steady_after: float = 30
    grace: float = 20
    ready_within: float = 60
    attempts: int = 3

    def delay(self, crashes: int) -> float:
        """Return how long to wait after so many crashes in a row."""
        doublings = min(crashes - 1, 32)
        return float(min(self.first_delay * 2**doublings, self.longest_delay))


@dataclasses.dataclass(slots=True)
class _Run:
    """What happens to one child."""

    child: Child
    process: subprocess.Popen[bytes] | None = None
    started: float = 0
    offset: int = 0  # of its log when it was started
    crashes: int = 0  # in a row
    due: float = 0  # when to start it again
    ready: bool = False


class Supervisor:
    """Runs children until it is asked to stop.

    :param children: what to run
    :param say: called with each message, one or several lines
    :param timing: how patient to be
    :param keep_open: file descriptors that stay open until the last child
        has ended, even if this process is killed (a lock, for instance)
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
        # Plain values rather than an Event: a signal handler that sets an
        # Event on which its own thread waits may wait for itself.
        self._asked: float | None = None
        self._insisted = False

    def stop(self) -> None:
        """Ask to stop; asked again a second later, kill.

        One request may arrive twice: `make` passes on what its whole process
        group has got.
        """
        now = time.monotonic()
        if self._asked is None:
            self._asked = now
        elif now - self._asked >= _INSISTS:
            self._insisted = True

    def run(self, on_ready: Callable[[], None]) -> int:
        """Start all, and look after them until asked to stop.

        :param on_ready: called once, when all children are ready
        :returns: 0 after :meth:`stop`; 1 when a child could not be started
            or did not get ready in time; nothing runs any more
        """
        try:
            return self._run(on_ready)
        finally:
            self._stop_all()

    def _run(self, on_ready: Callable[[], None]) -> int:
        until = time.monotonic() + self._timing.ready_within
        announced = False
        while self._asked is None:
            for run in self._runs:
                self._look_after(run)
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
        """Say why starting has failed; empty while it has not."""
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
        elif (code := _ended(run.process)) is not None:
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
            *(sys.executable, '-I', '-S', keeper.__file__),
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
            process.send_signal(signal.SIGTERM)
        # The keeper kills what does not end in time; the rest is for a
        # keeper that was stopped itself.
        until = time.monotonic() + self._timing.grace + 5
        while processes and not self._insisted and time.monotonic() < until:
            processes = [p for p in processes if _ended(p) is None]
            time.sleep(_PERIOD / 5)
        for process in processes:
            keeper.kill_session(process.pid)
            process.wait()


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    """Return the exit code of a keeper that ended, alone or with its own.

    What it left is killed before its process id is given back: until then
    no stranger's session can have that id.
    """
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    if os.waitid(os.P_PID, process.pid, flags) is None:
        return None
    keeper.kill_session(process.pid)
    return process.wait()


def _obituary(run: _Run, code: int, delay: float) -> str:
    number = -code if code < 0 else code - 128
    try:
        how = f'was ended by {signal.Signals(number).name}'
    except ValueError:
        how = f'ended with exit code {code}'
    lines = logs.last_lines(run.child.log, _LAST_LINES, start=run.offset)
    tail = ''.join(f'\n    {line}' for line in lines)
    end = ':' if lines else ''
    return (
        f'{run.child.name} {how}; next start in {delay:g} s; log'
        f' {run.child.log}{end}{tail}'
    )
