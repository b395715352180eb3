# SPDX-License-Identifier: Apache-2.0
"""Remove dead members from the ledger.

Every server process can do this, so that a killed process neither keeps the
cap low nor delays joining processes. The first process whose heartbeat shows
that a sweep is due does it for the whole fleet.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from vobjects import exceptions
from vobjects.rpc.fleet import (
    BEATS_PER_PERIOD,
    DEAD_AFTER_PERIODS,
    Member,
    Report,
)
from vobjects.rpc.ledger import LedgerStore
from vobjects.rpc.membership import Membership
from vobjects.rpc.suspend_detector import SuspendDetector

LOG = logging.getLogger(__name__)


#: Periods between two sweeps. With the interval between heartbeats, this is
#: less than the difference between the detection of a death and its cause.
SWEEP_PERIODS = 0.25


class Expiry:
    """Remove the members that no longer send heartbeats.

    :param ledger: the ledger
    :param membership: the membership of this process
    :param announce: called after a sweep removed members
    :param on_expired: called with the members that a sweep removed, in the
        thread of the sweeps
    :param clock: returns monotonic seconds
    """

    def __init__(
        self,
        ledger: LedgerStore,
        membership: Membership,
        *,
        announce: Callable[[], None] = lambda: None,
        on_expired: Callable[[list[Member]], None] = lambda members: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ledger = ledger
        self._membership = membership
        self._announce = announce
        self._on_expired = on_expired
        period = membership.period
        self._dead_after = period * DEAD_AFTER_PERIODS
        self._sweep_interval = period * SWEEP_PERIODS
        self._interval = period / BEATS_PER_PERIOD
        self._clock = clock
        #: Time of the first report of this process.
        self._reported: float | None = None
        self._suspend_detector = SuspendDetector(
            longest_pause=period, memory=period, clock=clock
        )
        self._is_due = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._loop, name='fleet-expiry', daemon=True
        )

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current sweep."""
        self._stopping.set()
        self._is_due.set()
        if self._thread.is_alive():
            self._thread.join()

    def note_report(self, report: Report) -> None:
        """Start a sweep if the last one was too long ago.

        :param report: the result of the last heartbeat of this process
        """
        if self._reported is None:
            self._reported = self._clock()
        elapsed = report.since_sweep
        # Negative: the ledger's clock was set back.
        if elapsed is None or not 0 <= elapsed < self._sweep_interval:
            self._is_due.set()

    def sweep(self) -> list[Member]:
        """Remove the dead members once.

        A process that has just started leaves this to others: while it was
        away, something may have kept all members from reporting.

        :returns: the members that this call removed
        :raises vobjects.exceptions.Unreachable: the ledger does not respond
        """
        is_due = self._is_due.is_set()
        self._is_due.clear()
        # Each time, because it measures the time between two calls.
        allowed = self._dead_after + self._suspend_detector.allowed_silence(
            self._membership.age
        )
        if (
            not is_due
            or self._reported is None
            or self._clock() - self._reported < self._dead_after
        ):
            return []
        dead = self._ledger.expire(allowed, self._sweep_interval)
        for member in dead:
            LOG.warning('%s died: no heartbeat', member.label)
        if dead:
            self._announce()
            self._on_expired(dead)
        return dead

    def _loop(self) -> None:
        while not self._stopping.is_set():
            self._is_due.wait(self._interval)
            try:
                self.sweep()
            except (exceptions.FleetError, exceptions.Unreachable) as error:
                # The heartbeat logs it.
                LOG.debug('Could not look for dead members: %s', error)
            except Exception:
                LOG.exception('Could not look for dead members')
