# SPDX-License-Identifier: Apache-2.0
"""The time on the ledger's clock, as several processes estimate it.

Each process reads the ledger's clock with its reports. Between two reports, it
adds the time of its own, monotonic clock. If the ledger's clock is set, the
estimates of two processes differ until both have reported, so an estimate is a
range that includes the readings before and after a step.
"""

from __future__ import annotations

import time
from collections.abc import Callable


class LedgerClock:
    """Estimates the time on the ledger's clock.

    :param memory: seconds for which a reading counts; the last one always does
    :param clock: returns monotonic seconds
    """

    def __init__(
        self, memory: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._memory = memory
        self._clock = clock
        #: Local times of readings, and the highest and the lowest possible
        #: ledger time minus local time.
        self._readings: list[tuple[float, float, float]] = []
        #: The highest and the lowest of all. Every call needs them, so they
        #: are computed once for each reading.
        self._offsets: tuple[float, float] | None = None

    def note(self, now: float, start: float, end: float) -> None:
        """Note a reading.

        :param now: the time that the ledger read, in seconds since 1970
        :param start: local time before the reading, in seconds
        :param end: local time after the reading
        """
        self._readings = [
            reading
            for reading in self._readings
            if end - reading[0] <= self._memory
        ]
        self._readings.append((end, now - start, now - end))
        _, highest, lowest = zip(*self._readings, strict=True)
        self._offsets = max(highest), min(lowest)

    def latest(self) -> float | None:
        """Return the highest possible time, in seconds since 1970.

        :returns: None: the ledger has not reported its time
        """
        offsets = self._offsets
        return None if offsets is None else offsets[0] + self._clock()

    def earliest(self) -> float | None:
        """Return the lowest possible time; see :meth:`latest`."""
        offsets = self._offsets
        return None if offsets is None else offsets[1] + self._clock()
