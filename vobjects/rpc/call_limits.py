# SPDX-License-Identifier: Apache-2.0
"""Limit how many callers wait at the same time, and how long.

:class:`CallLimit` keeps threads free for requests that need no server.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import oslo_messaging

from vobjects import exceptions

#: Seconds without any finished call after which new callers get an error.
STALLED_AFTER = 2.0

#: Seconds between checks for progress.
_CHECK_INTERVAL = 0.25


class CallLimit:
    """Limits the number of callers that wait at the same time.

    Further callers wait for a slot as long as other calls finish. When no
    call has finished for :data:`STALLED_AFTER` seconds, they get an error at
    once.

    :param calls: maximum number of waiting callers
    """

    def __init__(self, calls: int) -> None:
        self._slots = threading.Semaphore(calls)
        self._progress = time.monotonic()

    @contextlib.contextmanager
    def slot(self, timeout: float) -> Iterator[None]:
        """Hold a slot while the block runs.

        :param timeout: seconds to wait for a slot
        :raises oslo_messaging.MessageDeliveryFailure: no slot became free
        """
        if self._slots.acquire(blocking=False):
            self._progress = time.monotonic()
        else:
            self._wait(timeout)
        try:
            yield
            self._progress = time.monotonic()
        except (oslo_messaging.MessagingException, exceptions.FleetError):
            raise  # no server responded, so this is no progress
        except BaseException:
            self._progress = time.monotonic()
            raise
        finally:
            self._slots.release()

    def _wait(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while not self._slots.acquire(timeout=_CHECK_INTERVAL):
            now = time.monotonic()
            if now > deadline or now - self._progress > STALLED_AFTER:
                raise oslo_messaging.MessageDeliveryFailure(
                    'too many calls wait for servers that do not respond'
                )
