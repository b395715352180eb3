# SPDX-License-Identifier: Apache-2.0
"""Whether this process has been awake, so that it may take others for dead.

A process that slept (its machine was busy, or suspended; nobody could write
to the database) finds everybody silent when it wakes: they could not be
heard. It gives them time to be, before it believes the silence. So a slow
machine makes deaths be noticed late, and nobody be buried alive.
"""

from __future__ import annotations

import time
from collections.abc import Callable


class Vigil:
    """One watcher's wakefulness.

    :param longest_pause: seconds between two looks, and between two of the
        watcher's own heartbeats, that are no sleep
    :param grace: seconds for others to be heard after a sleep
    :param clock: returns monotonic seconds
    """

    def __init__(
        self,
        longest_pause: float,
        grace: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._longest_pause = longest_pause
        self._grace = grace
        self._clock = clock
        self._looked: float | None = None
        self._woke = float('-inf')

    def look(self, silence: float) -> bool:
        """Tell whether the silence of others may be believed now.

        Call it at each look.

        :param silence: seconds since the watcher itself was heard
        """
        now = self._clock()
        before = now if self._looked is None else self._looked
        self._looked = now
        if max(now - before, silence) > self._longest_pause:
            self._woke = now
        return now - self._woke >= self._grace
