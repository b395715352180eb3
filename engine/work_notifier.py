# SPDX-License-Identifier: Apache-2.0
"""Notify other engines of new work, with one notice for many actions.

Each notice costs the broker and every engine some work, and a single notice
covers all new work. Requests to notify that arrive while a notice is being
sent, or within :data:`MIN_INTERVAL` after it, are therefore combined. The new
work has been committed by then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

#: Minimum seconds between two notices.
MIN_INTERVAL = 0.005


class WorkNotifier:
    """Send notices from a separate thread.

    :param send: sends one notice; must not raise
    """

    def __init__(self, send: Callable[[], None]) -> None:
        self._send = send
        self._due = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._loop, name='announcer', daemon=True
        )

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def notify(self) -> None:
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
            self._send()
            self._stopping.wait(MIN_INTERVAL)
