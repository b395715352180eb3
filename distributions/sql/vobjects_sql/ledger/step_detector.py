# SPDX-License-Identifier: Apache-2.0
"""Detect that the database's clock was set.

After a step forward, the last heartbeats of all members seem to be older than
they are. A process therefore removes no members for some time after a step.

A process cannot see two steps that cancel each other between two of its
readings, but the members that report between the steps can. The process that
records such a report notes the step in the same transaction: it replaces a
token in the ledger, which all processes compare.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

from vobjects.rpc.fleet import CLOCK_DRIFT

#: Seconds by which readings may differ, because databases round times.
_TOLERANCE = 0.01

#: Seconds by which the last sweep may be in the future without a step. Times
#: of concurrent transactions differ a little.
_FUTURE = 0.5


class StepDetector:
    """Compare the database's clock with the monotonic clock of this process.

    :param clock: returns monotonic seconds
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._lock = threading.Lock()
        #: Lowest and highest possible database time minus local time, when it
        #: was last read. A slow reading alone has a wide range, which could
        #: hide a step.
        self._low, self._high = float('-inf'), float('inf')
        self._read: float | None = None
        self._stepped = float('-inf')
        self._token: str | None = None
        #: The token of a step that other processes may not know.
        self._untold: str | None = None

    def note(self, pulse: Any, start: float) -> None:
        """Note a reading of the clock, which has just ended.

        :param pulse: a row with ``now``, ``clock_token`` and ``swept_at``
        :param start: local time before the reading, in seconds
        """
        now, end = pulse.now.timestamp(), self.clock()
        low, high = now - end, now - start
        with self._lock:
            if self._read is None:
                swept = pulse.swept_at
                stepped = bool(swept and swept.timestamp() > now + _FUTURE)
                self._token = pulse.clock_token
            else:
                drift = CLOCK_DRIFT * (end - self._read) + _TOLERANCE
                stepped = low > self._high + drift or high < self._low - drift
                if not stepped:
                    low = max(low, self._low - drift)
                    high = min(high, self._high + drift)
            self._low, self._high, self._read = low, high, end
            if stepped or pulse.clock_token != self._token:
                self._stepped, self._token = end, pulse.clock_token
            if stepped:
                self._untold = uuid.uuid4().hex

    def untold(self) -> str | None:
        """Return the token to store; None: others know of all steps.

        Call :meth:`told` once the transaction is committed.
        """
        with self._lock:
            return self._untold

    def told(self, token: str) -> None:
        """Note that the ledger has a token of this process."""
        with self._lock:
            self._token = token
            if self._untold == token:
                self._untold = None

    def is_steady(self, seconds: float) -> bool:
        """Return whether no step is known for a number of seconds."""
        with self._lock:
            return self.clock() - self._stepped >= seconds
