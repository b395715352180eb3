# SPDX-License-Identifier: Apache-2.0
"""A fair queue of writers to an SQLite file.

SQLite has no queue of writers. A process that finds the file locked retries
after a delay of up to a tenth of a second. If many processes retry, some of
them can wait for seconds: long enough to miss an engine's heartbeat. Therefore
the threads of a process queue here, and only the first of them competes with
other processes. It retries often (:func:`begin`). A process that has written
for :data:`MAX_BURST` seconds pauses for a moment, so that another process can
take its turn.
"""

from __future__ import annotations

import collections
import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from typing import Any

#: Seconds that one process may write without a pause, and the seconds of that
#: pause: longer than the time between two attempts.
MAX_BURST = 0.1
PAUSE = 0.01

#: Milliseconds of SQLite's own busy timeout. It retries after 1, 2 and 5.
BUSY_TIMEOUT = 8


class WriterQueue:
    """A lock that is granted in the order of the requests."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: collections.deque[threading.Lock] = collections.deque()
        self._is_busy = False
        self._writing_since = 0.0

    @contextlib.contextmanager
    def slot(self, until: float, *, urgent: bool = False) -> Iterator[None]:
        """Run the block as the only writer, or when the time is up.

        :param until: a monotonic time
        :param urgent: go before all other waiting threads
        """
        has_slot = self._acquire(until, urgent)
        try:
            yield
        finally:
            if has_slot:
                self._release()

    def _acquire(self, until: float, urgent: bool) -> bool:
        with self._guard:
            if not self._is_busy:
                self._is_busy = True
                self._writing_since = time.monotonic()
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
            # This thread became the writer at the last moment.
        if time.monotonic() - self._writing_since > MAX_BURST:
            time.sleep(PAUSE)
            self._writing_since = time.monotonic()
        return True

    def _release(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_busy = False


def begin(cursor: Any, until: float) -> None:
    """Begin a write transaction as soon as no other process writes.

    :param cursor: a cursor of a :class:`sqlite3.Connection`
    :param until: a monotonic time; the first attempt is always made
    :raises sqlite3.OperationalError: the time is up, or another error
    """
    ((busy_timeout,),) = cursor.execute('PRAGMA busy_timeout').fetchall()
    cursor.execute(f'PRAGMA busy_timeout = {BUSY_TIMEOUT}')
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
        cursor.execute(f'PRAGMA busy_timeout = {busy_timeout}')
