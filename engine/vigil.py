# SPDX-License-Identifier: Apache-2.0
"""How wakeful this process has been, so that it may take others for dead.

A process that slept (its machine was busy, or suspended; nobody could write
to the database) finds everybody silent when it wakes: they could not be
heard. For a while it allows them as much silence as it has slept itself. So a
slow machine makes deaths be noticed late, and nobody be buried alive.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Callable


class Vigil:
    """One watcher's wakefulness.

    :param longest_pause: seconds between two looks, and between two of the
        watcher's own heartbeats, that are no sleep
    :param memory: seconds after a sleep in which others may be heard again
    :param clock: returns monotonic seconds
    """

    def __init__(
        self,
        longest_pause: float,
        memory: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._longest_pause = longest_pause
        self._memory = memory
        self._clock = clock
        self._looked: float | None = None
        #: When sleeps were noticed, and their lengths.
        self._sleeps: collections.deque[tuple[float, float]] = (
            collections.deque()
        )

    def allowance(self, silence: float) -> float:
        """Return the seconds of silence that do not count against others.

        Call it at each look.

        :param silence: seconds since the watcher itself was heard
        """
        now = self._clock()
        pause = 0.0 if self._looked is None else now - self._looked
        pause = max(pause, silence)
        self._looked = now
        while self._sleeps and now - self._sleeps[0][0] >= self._memory:
            self._sleeps.popleft()
        if pause > self._longest_pause:
            self._sleeps.append((now, pause))
        return max((length for _, length in self._sleeps), default=0.0)
