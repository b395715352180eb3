# SPDX-License-Identifier: Apache-2.0
"""Notify other engines of new work, with one notice for many actions.

Each notice costs the broker and every engine some work, and a single notice
covers all new work. Requests to notify that arrive while a notice is being
sent, or within :data:`PAUSE` after it, are therefore combined. The announced
work has been committed by then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

#: Minimum seconds between two notices.
PAUSE = 0.005


class Announcer:
    """Send notices from a separate thread.

    :param tell: sends one notice; must not raise
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._due = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._loop, name='announcer', daemon=True
        )

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def announce(self) -> None:
        """Request a notice; sending it begins after this call."""
        self._due.set()

    def stop(self) -> None:
        """Send a last notice, and end the thread."""
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
