# SPDX-License-Identifier: Apache-2.0
"""Do something in the background again and again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from engine.db import database

LOG = logging.getLogger(__name__)


class Periodic:
    """Calls a function regularly in a thread.

    :param name: name of the thread
    :param interval: seconds before each call; None: call only when woken
    :param failure: what to log when a call fails
    :param pause: minimum seconds between two calls
    :param calls_last: whether to call once more when stopping
    :ivar stopping: set when the thread shall end
    """

    def __init__(
        self,
        name: str,
        call: Callable[[], object],
        interval: float | None,
        failure: str,
        *,
        pause: float = 0.0,
        calls_last: bool = False,
    ) -> None:
        self._call = call
        self._interval = interval
        self._failure = failure
        self._pause = pause
        self._calls_last = calls_last
        self._wake = threading.Event()
        self.stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._loop, name=name, daemon=True
        )

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """Make the next call soon; it begins after this method."""
        self._wake.set()

    def stop(self) -> None:
        """Stop after the current call."""
        self.stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def _loop(self) -> None:
        is_last = False
        while not is_last:
            self._wake.wait(self._interval)
            is_last = self.stopping.is_set()
            self._wake.clear()
            if is_last and not self._calls_last:
                return
            try:
                self._call()
            except Exception as error:  # noqa: BLE001 - reported
                database.log_failure(LOG, error, self._failure)
            self.stopping.wait(self._pause)
