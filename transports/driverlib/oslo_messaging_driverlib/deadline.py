# SPDX-License-Identifier: Apache-2.0
"""The deadline of a message: its timeout and its call monitor timeout.

:func:`seconds` checks timeouts of callers, and :class:`Seconds` those of the
configuration.
"""

from __future__ import annotations

import math
import threading
import time
from typing import Any

from oslo_config import types

#: Longest timeout in seconds, 20 days: poll(2) counts milliseconds in 31 bits.
LONGEST = 20 * 86400.0


def seconds(value: Any, name: str) -> float | None:
    """Check a timeout, and limit it to :data:`LONGEST`.

    :param name: name of the argument, for the error
    :returns: seconds; None: unlimited
    :raises ValueError: it is neither None nor a number from 0
    """
    return None if value is None else limited(value, name)


def limited(value: Any, name: str) -> float:
    """Do the same as :func:`seconds`, but reject None.

    :raises ValueError: it is not a number from 0
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not value >= 0  # NaN is not
    ):
        raise ValueError(
            f'{name} is {repr(value)[:40]}; it must be a number of seconds'
            ' from 0'
        )
    return min(value, LONGEST)


class Seconds(types.Float):
    """The type of an option in seconds, which is a finite number."""

    def __init__(self, min: float, max: float = LONGEST) -> None:  # noqa: A002 - oslo's names
        super().__init__(min, max)

    def __call__(self, value: Any) -> float:
        """Convert the text of an option.

        :raises ValueError: it is no number, or outside the limits
        """
        number: float | None = super().__call__(value)
        if number is None or math.isnan(number):
            raise ValueError('Should be a number')
        return number


class Deadline:
    """The deadline of a message.

    :param timeout: total time in seconds; None: unlimited
    :param monitor: maximum time without a heartbeat, in seconds
    """

    def __init__(
        self, timeout: float | None, monitor: float | None = None
    ) -> None:
        self.timeout = timeout
        self.monitor = monitor
        now = time.monotonic()
        self._end = None if timeout is None else now + timeout
        self._monitor_end = now + monitor if monitor else None

    def remaining(self) -> float | None:
        """Return the remaining seconds; None: unlimited.

        :raises TimeoutError: no time remains
        """
        ends = [
            end for end in (self._end, self._monitor_end) if end is not None
        ]
        if not ends:
            return None
        remaining = min(ends) - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        return remaining

    def restart_monitor(self) -> None:
        """Restart the time without a heartbeat."""
        if self.monitor:
            self._monitor_end = time.monotonic() + self.monitor

    def __str__(self) -> str:
        if self._monitor_end is not None and (
            self._end is None or self._monitor_end < self._end
        ):
            return f'{self.monitor:g} s without a heartbeat'
        return f'{self.timeout:g} s'


class Holding:
    """Holds a lock for the duration of a ``with`` statement.

    :param timeout: seconds to wait for the lock; None: unlimited
    """

    __slots__ = ('_lock', '_timeout')

    def __init__(self, lock: threading.Lock, timeout: float | None) -> None:
        self._lock = lock
        self._timeout = -1 if timeout is None else timeout

    def __enter__(self) -> None:
        """Acquire the lock.

        :raises TimeoutError: the timeout expired
        """
        if not self._lock.acquire(timeout=self._timeout):
            raise TimeoutError

    def __exit__(self, *error: object) -> None:
        self._lock.release()
