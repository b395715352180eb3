# SPDX-License-Identifier: Apache-2.0
"""Lets so many requests at a time through Python.

Threads that compete for the interpreter's lock make each other slower: a
server that handles 32 requests at once needs more CPU for each than one that
handles four. So only some have a place; the others wait in line, asleep.

Who waits for something outside leaves its place meanwhile::

    with gate.waiting():
        cloud.get_server(...)

Nothing depends on that: after :data:`PATIENCE` seconds in line a request goes
in without a place. What forgets to leave makes others late, and no more.
"""

from __future__ import annotations

import collections
import contextlib
import contextvars
import threading
from collections.abc import Iterator

#: Seconds that a request stands in line at most.
PATIENCE = 1.0


class Gate:
    """Places for threads that work.

    :param places: how many work at a time
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._guard = threading.Lock()
        self._inside = 0
        self._line: collections.deque[threading.Lock] = collections.deque()

    @contextlib.contextmanager
    def place(self) -> Iterator[None]:
        """Run the block at a place; who came first goes first."""
        self._enter()
        token = _gate.set(self)
        try:
            yield
        finally:
            _gate.reset(token)
            self.leave()

    def leave(self) -> None:
        """Give a place away, to the first in line."""
        with self._guard:
            self._inside -= 1
            if self._line and self._inside < self._places:
                self._inside += 1
                self._line.popleft().release()

    def come_back(self) -> None:
        """Take a place although there may be none.

        Whoever was at work already may hold what others in here wait for.
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
        if turn.acquire(timeout=PATIENCE):
            return
        with self._guard:
            if turn in self._line:  # else its turn has come just now
                self._line.remove(turn)
                self._inside += 1


_gate: contextvars.ContextVar[Gate | None] = contextvars.ContextVar(
    'vobjects_gate', default=None
)


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """Leave one's place while the block waits for something outside.

    Harmless where nobody has a place, and within another such block.
    """
    left = _gate.get()
    if left is None:
        yield
        return
    token = _gate.set(None)
    left.leave()
    try:
        yield
    finally:
        left.come_back()
        _gate.reset(token)
