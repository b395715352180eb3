# SPDX-License-Identifier: Apache-2.0
"""Limit the number of threads that run Python code at a time.

Threads that compete for the interpreter's lock slow each other down: a server
that handles 32 requests at once needs more CPU time for each than one that
handles four. So only a few requests hold a slot, and the others wait in a
queue, asleep.

Release the slot while you wait for an external service::

    with concurrency_limit.released():
        cloud.get_server(...)

Correctness does not depend on it: after :data:`QUEUE_TIMEOUT` seconds in the
queue, a request continues without a slot. Code that does not call
:func:`released` delays other requests but never blocks them.
"""

from __future__ import annotations

import collections
import contextlib
import contextvars
import threading
from collections.abc import Iterator

#: Maximum time that a request waits in the queue, in seconds.
QUEUE_TIMEOUT = 1.0


class ConcurrencyLimit:
    """A semaphore with a first-in, first-out queue and a timeout.

    :param slots: number of threads that run at a time
    """

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._lock = threading.Lock()
        self._running = 0
        self._queue: collections.deque[threading.Lock] = collections.deque()

    @contextlib.contextmanager
    def slot(self) -> Iterator[None]:
        """Hold a slot while the block runs, in order of arrival."""
        self._acquire()
        token = _current_limit.set(self)
        try:
            yield
        finally:
            _current_limit.reset(token)
            self.release()

    def release(self) -> None:
        """Give the slot to the first thread in the queue."""
        with self._lock:
            self._running -= 1
            if self._queue and self._running < self._slots:
                self._running += 1
                self._queue.popleft().release()

    def reacquire(self) -> None:
        """Take a slot even if none is free.

        A thread that was already running may hold a lock that the threads in
        the slots wait for.
        """
        with self._lock:
            self._running += 1

    def _acquire(self) -> None:
        with self._lock:
            if self._running < self._slots:
                self._running += 1
                return
            turn = threading.Lock()
            turn.acquire()
            self._queue.append(turn)
        if turn.acquire(timeout=QUEUE_TIMEOUT):
            return
        with self._lock:
            if turn in self._queue:  # otherwise release() has just granted it
                self._queue.remove(turn)
                self._running += 1


_current_limit: contextvars.ContextVar[ConcurrencyLimit | None] = (
    contextvars.ContextVar('vobjects_concurrency_limit', default=None)
)


@contextlib.contextmanager
def released() -> Iterator[None]:
    """Release the slot while the block waits for an external service.

    Without a slot, or inside another such block, it does nothing.
    """
    limit = _current_limit.get()
    if limit is None:
        yield
        return
    token = _current_limit.set(None)
    limit.release()
    try:
        yield
    finally:
        limit.reacquire()
        _current_limit.reset(token)
