# SPDX-License-Identifier: Apache-2.0
"""Limit what oslo.messaging logs while RabbitMQ is out of reach.

The driver logs each attempt of each connection. :class:`OutageFilter` passes
one line per reason, and one line when a connection is restored.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

#: The driver's logger.
DRIVER = 'oslo.messaging._drivers.impl_rabbit'

#: Seconds without a failed attempt after which a failure is a new outage. The
#: driver does not always log that a connection is restored.
QUIET = 30.0

# Parts of the driver's messages (18.3).
_FAILURES = (' is unreachable: ', 'Connection failed: ')
_RECOVERY = 'Reconnected to AMQP server'


class OutageFilter(logging.Filter):
    """Drops the driver's repeated messages about an outage.

    :param clock: returns monotonic seconds
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        #: Reasons logged during this outage; empty without an outage.
        self._reasons: set[str] = set()
        self._last_failure = float('-inf')

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether to log a record of the driver."""
        message = record.getMessage()
        with self._lock:
            now = self._clock()
            if now - self._last_failure > QUIET:
                self._reasons.clear()
            for failure in _FAILURES:
                _, is_failure, reason = message.partition(failure)
                if is_failure:
                    self._last_failure = now
                    return self._is_new(reason)
            has_outage = bool(self._reasons)
            if _RECOVERY in message:
                self._reasons.clear()
                return has_outage
            return not has_outage

    def _is_new(self, text: str) -> bool:
        # The interval before the next attempt follows the reason.
        reason = text.rpartition('. Trying again')[0]
        reason = reason or text.rpartition(' (retrying')[0] or text
        is_new = reason not in self._reasons
        self._reasons.add(reason)
        return is_new


_FILTER = OutageFilter()


def install() -> None:
    """Filter the driver's log; repeated calls are harmless."""
    logging.getLogger(DRIVER).addFilter(_FILTER)
