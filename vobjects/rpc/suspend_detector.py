# SPDX-License-Identifier: Apache-2.0
"""Delay failure detection after this process was suspended.

A process may be suspended, starved of CPU time, or unable to write to the
database. When it resumes, all members seem to have been silent, because their
heartbeats could not arrive. For a while, this module therefore tolerates as
much silence of others as the process itself was suspended. On a slow machine,
dead processes are detected later, and live ones are not declared dead.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Callable


class SuspendDetector:
    """Detect the suspensions of one process.

    :param longest_pause: maximum seconds, between two calls of
        :meth:`allowed_silence` or two heartbeats of this process, that do not
        count as a suspension
    :param memory: seconds after a suspension for which it is taken into
        account
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
        self._last_call: float | None = None
        #: Times at which suspensions were detected, and their lengths.
        self._suspensions: collections.deque[tuple[float, float]] = (
            collections.deque()
        )

    def allowed_silence(self, silence: float) -> float:
        """Return the seconds of silence that do not count against others.

        Call it before each check of the members.

        :param silence: seconds since this process's last heartbeat
        """
        now = self._clock()
        pause = 0.0 if self._last_call is None else now - self._last_call
        pause = max(pause, silence)
        self._last_call = now
        while (
            self._suspensions and now - self._suspensions[0][0] >= self._memory
        ):
            self._suspensions.popleft()
        if pause > self._longest_pause:
            self._suspensions.append((now, pause))
        return max((length for _, length in self._suspensions), default=0.0)
