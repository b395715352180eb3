# SPDX-License-Identifier: Apache-2.0
"""Limit concurrent password checks, which take long by design.

Guessing must not block other callers, so checks may use only a part of the
processors and threads, and one address only a part of that.
"""

from __future__ import annotations

import collections
import contextlib
import os
import threading
from collections.abc import Iterator

from api import errors

#: ``[api] threads`` divided by these is the number of threads that may wait
#: for password checks: of all callers, and of callers at a single address.
THREAD_SHARE = 2
ADDRESS_SHARE = 8


class CheckLimiter:
    """Limit the number of concurrent password checks.

    :param threads: request threads of the process
    """

    def __init__(self, threads: int) -> None:
        self._max_total = max(1, threads // THREAD_SHARE)
        self._max_per_address = max(1, threads // ADDRESS_SHARE)
        self._lock = threading.Lock()
        self._waiting: collections.Counter[str] = collections.Counter()
        # Half of the processors: bcrypt releases the GIL.
        self._running = threading.Semaphore(max(1, (os.cpu_count() or 1) // 2))

    @contextlib.contextmanager
    def check(self, address: str) -> Iterator[None]:
        """Wait until a check may run.

        :param address: the caller's address
        :raises api.errors.TooManyChecks: too many checks are already waiting
        """
        with self._lock:
            if (
                self._waiting.total() >= self._max_total
                or self._waiting[address] >= self._max_per_address
            ):
                raise errors.TooManyChecks
            self._waiting[address] += 1
        try:
            with self._running:
                yield
        finally:
            with self._lock:
                self._waiting[address] -= 1
                if not self._waiting[address]:
                    del self._waiting[address]
