# SPDX-License-Identifier: Apache-2.0
"""Whose turn it is to write to an SQLite file: nobody waits forever.

SQLite knows no queue of writers. Who finds the file locked looks again after
a while, up to a tenth of a second, and many who look can keep one waiting
for seconds: long enough for an engine's heartbeat to be missed. So the
threads of a process queue here, and only the first of them competes with
other processes. It looks often (:func:`begin`), and a process that has
written for :data:`STINT` seconds leaves the file alone for a moment, in which
another's look falls.
"""

from __future__ import annotations

import collections
import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from typing import Any

#: Seconds for which one process may write without a pause, and that pause:
#: longer than the time between two looks.
STINT = 0.1
PAUSE = 0.01

#: Milliseconds for which SQLite itself looks, after 1, 2 and 5 of them.
LOOK = 8


class Turns:
    """A lock that is had in the order in which it was asked for."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: collections.deque[threading.Lock] = collections.deque()
        self._taken = False
        self._since = 0.0

    @contextlib.contextmanager
    def turn(self, until: float, *, urgent: bool = False) -> Iterator[None]:
        """Run the block when it is the caller's turn, or time is up.

        :param until: a monotonic time
        :param urgent: go before all others who wait
        """
        mine = self._take(until, urgent)
        try:
            yield
        finally:
            if mine:
                self._pass_on()

    def _take(self, until: float, urgent: bool) -> bool:
        with self._guard:
            if not self._taken:
                self._taken = True
                self._since = time.monotonic()
                return True
            ticket = threading.Lock()
            ticket.acquire()
            if urgent:
                self._waiting.appendleft(ticket)
            else:
                self._waiting.append(ticket)
        if not ticket.acquire(timeout=max(0.0, until - time.monotonic())):
            with self._guard:
                if ticket in self._waiting:
                    self._waiting.remove(ticket)
                    return False
            # It was passed on to us just now.
        if time.monotonic() - self._since > STINT:
            time.sleep(PAUSE)
            self._since = time.monotonic()
        return True

    def _pass_on(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False


def begin(cursor: Any, until: float) -> None:
    """Begin a transaction that writes, as soon as no other process does.

    :param cursor: of a :class:`sqlite3.Connection`
    :param until: a monotonic time; the first look is made in any case
    :raises sqlite3.OperationalError: time is up
    """
    ((usual,),) = cursor.execute('PRAGMA busy_timeout').fetchall()
    cursor.execute(f'PRAGMA busy_timeout = {LOOK}')
    try:
        while True:
            try:
                cursor.execute('BEGIN IMMEDIATE')
            except sqlite3.OperationalError as error:
                is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if not is_busy or time.monotonic() >= until:
                    raise
            else:
                return
    finally:
        cursor.execute(f'PRAGMA busy_timeout = {usual}')
