# SPDX-License-Identifier: Apache-2.0
"""Log the errors of applications whose reason the response does not have."""

from __future__ import annotations

import logging
import threading
import time

from vobjects.microversions import application_errors

LOG = logging.getLogger(__name__)

#: Seconds after which the reason of a 503 is logged again, if no request has
#: failed for it meanwhile.
OUTAGE_END = 60.0
_MAX_OUTAGES = 64


class ErrorLog:
    """The log of the errors of one application."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: Reason of each current outage -> monotonic seconds of its last
        #: error.
        self._outages: dict[str, float] = {}

    def add(self, error: Exception, status: int, request_id: str) -> None:
        """Log an error, unless the response has all about it.

        :param status: status of the response; the reason of a 503 is logged as
            a warning once, and at level DEBUG while it lasts
        """
        error = application_errors.ungroup(error)
        if status == application_errors.RetryLater.status:
            text = getattr(error, 'message', None)
            # A text may be empty; str() then is a remote traceback alone.
            reason = text if isinstance(text, str) else str(error)
            reason = f'{type(error).__name__}: {reason}'
            is_new = self._begins(reason, time.monotonic())
            LOG.log(logging.WARNING if is_new else logging.DEBUG, '%s', reason)
        elif not application_errors.is_expected(error):
            LOG.error('Request %s failed', request_id, exc_info=error)

    def _begins(self, reason: str, now: float) -> bool:
        """Record a reason; tell whether it had not occurred for a while."""
        with self._lock:
            since = now - OUTAGE_END
            is_new = self._outages.pop(reason, since) <= since
            self._outages[reason] = now
            if len(self._outages) > _MAX_OUTAGES:
                del self._outages[next(iter(self._outages))]
            return is_new
