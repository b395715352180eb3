# SPDX-License-Identifier: Apache-2.0
"""Limit the number of threads that run Python code at a time.

Threads that compete for the interpreter's lock slow each other down: a server
that handles 32 requests at once needs more CPU time for each than one that
handles four. So only a few requests hold a place, and the others wait in a
queue, asleep.

Give up the place while you wait for an external service::

    with gate.waiting():
        cloud.get_server(...)

Correctness does not depend on it: after :data:`QUEUE_TIMEOUT` seconds in the
queue, a request continues without a place. Code that does not call
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

    :param places: number of threads that run at a time
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._guard = threading.Lock()
        self._inside = 0
        self._line: collections.deque[threading.Lock] = collections.deque()

    @contextlib.contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place while the block runs, in order of arrival."""
        self._enter()
        token = _current_limit.set(self)
        try:
            yield
        finally:
            _current_limit.reset(token)
            self.leave()

    def leave(self) -> None:
        """Give the place to the first thread in the queue."""
        with self._guard:
            self._inside -= 1
            if self._line and self._inside < self._places:
                self._inside += 1
                self._line.popleft().release()

    def reacquire(self) -> None:
        """Take a place even if none is free.

        A thread that was already running may hold a lock that the threads in
        the places wait for.
        """
        with self._guard:
            self._inside += 1

    def _enter(self) -> None:
        with self._guard:
            if self._inside < self._places:
                self._inside += 1
                return
            turn = threading.Lock()
            turn.acquire()
            self._line.append(turn)
        if turn.acquire(timeout=QUEUE_TIMEOUT):
            return
        with self._guard:
            if turn in self._line:  # otherwise leave() has just granted it
                self._line.remove(turn)
                self._inside += 1


_current_limit: contextvars.ContextVar[ConcurrencyLimit | None] = (
    contextvars.ContextVar('vobjects_gate', default=None)
)


@contextlib.contextmanager
def released() -> Iterator[None]:
    """Give up the place while the block waits for an external service.

    Without a place, or inside another such block, it does nothing.
    """
    left = _current_limit.get()
    if left is None:
        yield
        return
    token = _current_limit.set(None)
    left.leave()
    try:
        yield
    finally:
        left.reacquire()
        _current_limit.reset(token)
