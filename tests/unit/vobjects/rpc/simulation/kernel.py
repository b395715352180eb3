# SPDX-License-Identifier: Apache-2.0
"""Virtual time, processes, and threads that run one at a time.

Each simulated thread is a thread of Python that runs only while it holds the
baton. A thread that waits takes the next event from the queue, and hands the
baton to the thread that the event resumes. All decisions come from one random
number generator, so a schedule depends on nothing but its seed.

:class:`Threading` and :class:`Time` replace the modules ``threading`` and
``time`` in the modules of the protocol.
"""

from __future__ import annotations

import heapq
import random
import threading
from collections.abc import Callable
from typing import Any

#: Maximum delay until a thread that another one wakes continues, in seconds.
WAKE_DELAY = 0.001


class Killed(BaseException):
    """Ends a thread whose process has crashed."""


class Process:
    """A process with a clock of its own, which may be paused or crash.

    :param rate: seconds of its clock per second of virtual time
    """

    def __init__(self, kernel: Kernel, name: str, rate: float = 1.0) -> None:
        self.kernel = kernel
        self.name = name
        self.rate = rate
        self._offset = kernel.random.uniform(0, 1000)
        self.paused_until = 0.0
        self.is_alive = True
        self.tasks: list[Task] = []

    def clock(self) -> float:
        """Return the monotonic time of this process."""
        return self._offset + self.kernel.now * self.rate

    def spawn(self, work: Callable[[], Any]) -> Task:
        """Run a function in a new thread of this process."""
        task = Task(self, work)
        self.tasks.append(task)
        self.kernel.wake(task)
        return task

    def crash(self) -> None:
        """End all threads of this process, wherever they are."""
        self.is_alive = False
        self.paused_until = 0.0
        for task in self.tasks:
            self.kernel.wake(task)


class Task:
    """A simulated thread."""

    def __init__(self, process: Process, work: Callable[[], Any]) -> None:
        self.process = process
        self.work = work
        self.worker: Worker | None = None
        self.is_finished = False
        self.finished = Waiters(process.kernel)
        #: Number of times that it has waited: it ignores older wakeups.
        self.waits = 0


class Worker:
    """A thread of Python that runs one task after another."""

    def __init__(self) -> None:
        self.baton = threading.Lock()
        self.baton.acquire()
        self.task: Task | None = None

    def start(self) -> Worker:
        """Start the thread."""
        threading.Thread(target=self._loop, daemon=True).start()
        return self

    def _loop(self) -> None:
        while True:
            self.baton.acquire()
            if self.task is None:
                return
            self.task.process.kernel.run_task(self, self.task)


class Kernel:
    """The queue of events of one schedule.

    :param workers: threads of earlier schedules, to use again
    """

    def __init__(self, seed: int, workers: list[Worker]) -> None:
        self.random = random.Random(seed)
        self.now = 0.0
        self.trace: list[str] = []
        #: Called after each event; raises if an invariant is violated.
        self.check: Callable[[], None] = lambda: None
        self.failure: BaseException | None = None
        self.current: Task | None = None
        self._idle = workers
        self._main = Worker()
        self._events: list[tuple[float, int, Process | None, Any]] = []
        self._number = 0
        self._live: dict[Task, None] = {}

    def log(self, text: str) -> None:
        """Add a line to the trace."""
        self.trace.append(f'{self.now:8.3f} {text}')

    def after(
        self,
        delay: float,
        action: Callable[[], Task | None],
        process: Process | None = None,
    ) -> None:
        """Schedule an event.

        :param action: returns the task to resume, or None
        :param process: the event waits while this process is paused
        """
        self._number += 1
        event = self.now + max(delay, 0.0), self._number, process, action
        heapq.heappush(self._events, event)

    def wake(self, task: Task, delay: float | None = None) -> None:
        """Resume a task after a delay, unless something else has done so."""
        waits = task.waits
        if delay is None:
            delay = self.random.random() * WAKE_DELAY
        self.after(
            delay,
            lambda: (
                task if task.waits == waits and not task.is_finished else None
            ),
            task.process,
        )

    def run(self, duration: float) -> None:
        """Run the schedule up to a time; raise what violates an invariant."""
        self.after(duration - self.now, self._stop)
        self._hand_over(self._main)
        if self.failure is None:
            return
        raise self.failure

    def close(self) -> None:
        """End all tasks."""
        self._events = []
        for task in self._live:
            task.process.is_alive = False
            task.process.paused_until = 0.0
            self.wake(task, 0.0)
        self.check = lambda: None
        self.failure = None
        self.after(0, self._stop)
        self._hand_over(self._main)

    def sleep(self, seconds: float) -> None:
        """Let the current task wait for some virtual time."""
        task = self.current
        assert task is not None
        self.wake(task, seconds)
        self.block(task)

    def block(self, task: Task) -> None:
        """Wait until an event resumes the current task."""
        if task.process.is_alive:
            assert task.worker is not None
            self._hand_over(task.worker)
        task.waits += 1
        if not task.process.is_alive:
            raise Killed

    def run_task(self, worker: Worker, task: Task) -> None:
        """Run a task in the thread of a worker."""
        try:
            if task.process.is_alive:
                task.waits += 1
                task.work()
        except BaseException as error:  # noqa: BLE001 - raised in run()
            # A server reports whatever ends a handler as its error.
            if not isinstance(error.__cause__ or error, Killed):
                self.failure = self.failure or error
        task.is_finished = True
        task.process.tasks.remove(task)
        del self._live[task]
        self._idle.append(worker)
        task.finished.wake()
        self._next().baton.release()

    def _stop(self) -> None:
        raise StopIteration

    def _hand_over(self, own: Worker) -> None:
        worker = self._next()
        if worker is not own:
            worker.baton.release()
            own.baton.acquire()
        self.current = own.task

    def _next(self) -> Worker:
        """Handle events up to the first that resumes a task."""
        while self.failure is None:
            try:
                self.check()
                worker = self._handle_event()
            except StopIteration:
                break
            except BaseException as error:  # noqa: BLE001 - raised in run()
                self.failure = error
                break
            if worker is not None:
                return worker
        return self._main

    def _handle_event(self) -> Worker | None:
        when, number, process, action = heapq.heappop(self._events)
        self.now = when
        if process is not None and process.paused_until > when:
            heapq.heappush(
                self._events, (process.paused_until, number, process, action)
            )
            return None
        task = action()
        if task is None:
            return None
        if task.worker is None:
            task.worker = self._idle.pop() if self._idle else Worker().start()
            task.worker.task = task
            self._live[task] = None
        self.current = task
        worker: Worker = task.worker
        return worker


class Waiters:
    """Tasks that wait for something."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._tasks: list[Task] = []

    def wait(
        self, is_ready: Callable[[], bool], timeout: float | None = None
    ) -> bool:
        """Wait for a condition.

        :param timeout: seconds of the clock of the process
        :returns: whether the condition is true
        """
        if is_ready():
            return True
        task = self._kernel.current
        assert task is not None
        clock = task.process.clock
        end = None if timeout is None else clock() + timeout
        while True:
            self._tasks.append(task)
            if end is not None:
                left = (end - clock()) / task.process.rate
                self._kernel.wake(task, max(left, 0.0) + 1e-9)
            try:
                self._kernel.block(task)
            finally:
                if task in self._tasks:
                    self._tasks.remove(task)
            if is_ready():
                return True
            if end is not None and clock() >= end:
                return False

    def wake(self) -> None:
        """Let all tasks check their conditions."""
        for task in self._tasks:
            self._kernel.wake(task)
        self._tasks = []


class Threading:
    """Replaces the module ``threading`` by simulated threads."""

    def __init__(self) -> None:
        self.kernel: Kernel = Kernel(0, [])

    def Lock(self) -> Lock:  # noqa: N802
        """Return a lock."""
        return Lock(self.kernel)

    def Condition(self) -> Condition:  # noqa: N802
        """Return a condition."""
        return Condition(self.kernel)

    def Event(self) -> Event:  # noqa: N802
        """Return an event."""
        return Event(self.kernel)

    def Thread(  # noqa: N802
        self, target: Callable[[], Any], name: str, daemon: bool
    ) -> Thread:
        """Return a thread of the process that starts it."""
        return Thread(self.kernel, target)


class Time:
    """Replaces the module ``time`` by the clocks of simulated processes."""

    def __init__(self, threads: Threading) -> None:
        self._threads = threads

    def monotonic(self) -> float:
        """Return the time of the current process."""
        task = self._threads.kernel.current
        return 0.0 if task is None else task.process.clock()

    perf_counter = monotonic


class Lock:
    """See ``threading.Lock``."""

    def __init__(self, kernel: Kernel) -> None:
        self._waiters = Waiters(kernel)
        self._is_held = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock."""
        seconds = None if timeout < 0 else timeout
        if self._is_held and not (
            blocking and self._waiters.wait(lambda: not self._is_held, seconds)
        ):
            return False
        self._is_held = True
        return True

    def release(self) -> None:
        """Give the lock back."""
        self._is_held = False
        self._waiters.wake()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class Condition(Lock):
    """See ``threading.Condition``."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self._notified = Waiters(kernel)

    def wait_for(
        self, predicate: Callable[[], bool], timeout: float | None = None
    ) -> bool:
        """Wait for a condition."""
        self.release()
        try:
            return self._notified.wait(predicate, timeout)
        finally:
            self._is_held = True  # no task waits while it holds the lock

    def notify_all(self) -> None:
        """Let all tasks check their conditions."""
        self._notified.wake()


class Event:
    """See ``threading.Event``."""

    def __init__(self, kernel: Kernel) -> None:
        self._waiters = Waiters(kernel)
        self._is_set = False

    def is_set(self) -> bool:
        """Return whether the event is set."""
        return self._is_set

    def set(self) -> None:
        """Set the event."""
        self._is_set = True
        self._waiters.wake()

    def clear(self) -> None:
        """Clear the event."""
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the event is set."""
        return self._waiters.wait(self.is_set, timeout)


class Thread:
    """See ``threading.Thread``."""

    def __init__(self, kernel: Kernel, target: Callable[[], Any]) -> None:
        self._kernel = kernel
        self._target = target
        self._task: Task | None = None

    def start(self) -> None:
        """Start the thread in the current process."""
        assert self._kernel.current is not None
        self._task = self._kernel.current.process.spawn(self._target)

    def is_alive(self) -> bool:
        """Return whether the thread runs."""
        return self._task is not None and not self._task.is_finished

    def join(self) -> None:
        """Wait until the thread ends."""
        task = self._task
        if task is not None:
            task.finished.wait(lambda: task.is_finished)
