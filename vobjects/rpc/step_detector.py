# SPDX-License-Identifier: Apache-2.0
"""Detect that the ledger's clock was set.

After a step forward, the last heartbeats of all members seem to be older than
they are. A process therefore removes no members until it has seen the ledger's
clock advance as its own for so long that each live member has reported.
"""

from __future__ import annotations

from vobjects.rpc.fleet import CLOCK_DRIFT

#: Seconds by which readings may differ, because databases round times.
_TOLERANCE = 0.01


class StepDetector:
    """Compare the ledger's clock with the monotonic clock of this process."""

    def __init__(self) -> None:
        #: Lowest and highest possible ledger time minus local time, when it
        #: was last read. A slow reading alone has a wide range, which could
        #: hide a step.
        self._low, self._high = float('inf'), float('-inf')
        self._read = 0.0
        #: Local time of the first reading, or of the first after a step.
        self._steady_since: float | None = None

    def note(self, now: float, start: float, end: float) -> None:
        """Note a reading of the ledger's clock.

        :param now: the time that the ledger read, in seconds since 1970
        :param start: local time before the reading, in seconds
        :param end: local time after the reading
        """
        low, high = now - end, now - start
        drift = self._drift(end)
        if low > self._high + drift or high < self._low - drift:
            self._steady_since = end
        else:
            low = max(low, self._low - drift)
            high = min(high, self._high + drift)
        self._low, self._high, self._read = low, high, end

    def has_jumped(self, now: float, end: float) -> bool:
        """Return whether the clock was set forward after the last reading.

        :param now: the time that the ledger read
        :param end: local time after the reading
        """
        return now - end > self._high + self._drift(end)

    def steady_seconds(self, now: float) -> float:
        """Return the time for which both clocks have advanced alike.

        :param now: local time
        """
        return 0.0 if self._steady_since is None else now - self._steady_since

    def _drift(self, end: float) -> float:
        return CLOCK_DRIFT * (end - self._read) + _TOLERANCE
