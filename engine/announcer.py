# SPDX-License-Identifier: Apache-2.0
"""Tells other engines that there is work, once for all of a few moments.

A notice costs the broker and each engine something, and one that says that
there is work says all: so those that come while one is being sent, or just
after, are sent as one. What is announced is committed by then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

#: Seconds from one notice to the next.
PAUSE = 0.005


class Announcer:
    """Sends notices from a thread of its own.

    :param tell: sends one; it does not raise
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._due = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._loop, name='announcer', daemon=True
        )

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def announce(self) -> None:
        """Have a notice sent that is begun with after this."""
        self._due.set()

    def stop(self) -> None:
        """Send a last notice, and end."""
        self._stopping.set()
        self._due.set()
        if self._thread.is_alive():
            self._thread.join()

    def _loop(self) -> None:
        is_last = False
        while not is_last:
            self._due.wait()
            is_last = self._stopping.is_set()
            self._due.clear()
            self._tell()
            self._stopping.wait(PAUSE)
