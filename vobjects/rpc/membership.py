# SPDX-License-Identifier: Apache-2.0
"""Keep one process in the ledger, and its view of the fleet current.

**Lease.** A sender uses a view for at most
:data:`vobjects.rpc.fleet.LEASE_PERIODS` periods. After that it renews the view
before it sends anything.

**Heartbeats.** Their number per period varies at random, and so does the delay
after a wakeup, which grows with the fleet. In a large fleet, this delay would
be as long as the interval between two heartbeats. There, a change costs no
messages besides the next heartbeats of each process.
"""

from __future__ import annotations

import dataclasses
import logging
import random
import threading
import time
from collections.abc import Callable
from typing import Any

from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import (
    BEATS_PER_PERIOD,
    LEASE_PERIODS,
    QUORUM,
    Member,
    Report,
    View,
)
from vobjects.rpc.ledger import Ledger
from vobjects.rpc.ledger_clock import LedgerClock

LOG = logging.getLogger(__name__)

#: Seconds over which the fleet spreads its heartbeats after a wakeup, for each
#: process of the fleet; at most the interval between heartbeats.
SPREAD_PER_PROCESS = 0.002

#: Part of the interval between two heartbeats that varies.
JITTER = 0.2

#: Separate from the generator of the module `random`, whose state belongs to
#: the application: heartbeats must not change its numbers.
_RANDOM = random.Random()  # noqa: S311


class Membership:
    """The membership of one process in the fleet.

    :param member: the member that this process reports
    :param ledger: the ledger to report to
    :param period: heartbeat period in seconds
    :param pinned: upper limit of the cap, from the configuration
    :param quorum: see :class:`vobjects.rpc.fleet.View`
    :param announce: wakes the other processes of a small fleet after this one
        increased the generation
    :param on_view: called with each new view before others see it, in the
        thread of the heartbeat or of a refresh; it must return quickly
    :param on_report: called after each heartbeat; it must return quickly
    :param clock: returns monotonic seconds
    :param jitter: returns a random number from 0 to 1
    """

    def __init__(
        self,
        member: Member,
        ledger: Ledger,
        *,
        period: float,
        pinned: Manifest | None = None,
        quorum: int = QUORUM,
        announce: Callable[[], None] = lambda: None,
        on_view: Callable[[View], None] = lambda view: None,
        on_report: Callable[[Report], None] = lambda report: None,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = _RANDOM.random,
    ) -> None:
        self.member = member
        self.period = period
        self._ledger = ledger
        self._settings: dict[str, Any] = {'pinned': pinned, 'quorum': quorum}
        self._announce = announce
        self._on_view = on_view
        self._on_report = on_report
        self._monotonic = clock
        self._jitter = jitter
        #: Whether the generation increased and other processes don't know.
        self._is_unannounced = False
        #: Instant of the last report before which the ledger may have removed
        #: this process, because earlier ones did not arrive.
        self._last_absence = float('-inf')
        self._refreshing = threading.Lock()
        self._view: View | None = None
        self._renewed = float('-inf')
        self._failure: tuple[float, str] | None = None
        # Another process may have read the clock a lease ago, and its message
        # may have been on its way for as long.
        self._ledger_clock = LedgerClock(2 * LEASE_PERIODS * period, clock)
        #: Notified after each successful report.
        self._renewal = threading.Condition()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._send_heartbeats, name='fleet-heartbeat', daemon=True
        )

    @property
    def view(self) -> View | None:
        """The newest known view, of any age; None before the first."""
        return self._view

    @property
    def age(self) -> float:
        """Seconds since the view was last renewed."""
        return self._monotonic() - self._renewed

    def _leased_view(self) -> View | None:
        # Read the age first: refresh() sets the view before it.
        is_valid = self.age < self.period * LEASE_PERIODS
        return self._view if is_valid else None

    def current(self) -> View:
        """Return a view with a valid lease, and renew it if necessary.

        While the ledger does not respond, callers wait up to a period for the
        next heartbeat to succeed instead of sending their own report.

        :raises vobjects.exceptions.NoLivePeer: the ledger does not respond
        """
        view = self._leased_view()
        if view is not None:
            return view
        failure = self._failure
        if failure is not None and self._thread.is_alive():
            with self._renewal:
                if not self._renewal.wait_for(
                    lambda: self._failure is None, self.period
                ):
                    raise exceptions.NoLivePeer(failure[1])
            view = self._leased_view()
            if view is not None:
                return view
        return self.renew()

    def await_view(
        self, is_ready: Callable[[View], bool], timeout: float
    ) -> View:
        """Wait for a view that satisfies a condition.

        :param timeout: seconds
        :returns: the current view, which may not satisfy it
        :raises vobjects.exceptions.NoLivePeer: the ledger does not respond
        """
        with self._renewal:
            self._renewal.wait_for(
                lambda: (view := self._leased_view()) and is_ready(view),
                timeout,
            )
        return self.current()

    def known(self) -> View | None:
        """Return the view if its lease is valid; never wait for a server."""
        return self._leased_view()

    def deadline(self, seconds: float) -> float | None:
        """Return the time a number of seconds from now, on the ledger's clock.

        It is not early, even if that clock has just been set back, but may be
        late by the duration of a report, or by a recent step of that clock.

        :returns: seconds since 1970; None: the ledger has not reported its
            time
        """
        latest = self._ledger_clock.latest()
        return None if latest is None else latest + seconds

    def has_expired(self, deadline: float) -> bool:
        """Return whether a result of :meth:`deadline` has certainly passed.

        A recent step of the ledger's clock, in either direction, makes no
        deadline pass.
        """
        earliest = self._ledger_clock.earliest()
        return earliest is not None and earliest > deadline

    def view_without_report(self) -> View:
        """Return a view with a valid lease, or read the ledger.

        This method sends no report: a caller inside a transaction must not
        wait for a report whose transaction waits for the caller's to end.

        :raises vobjects.exceptions.NoLivePeer: the ledger does not respond
        """
        view = self._leased_view()
        if view is not None:
            return view
        return dataclasses.replace(self._ledger.get(), **self._settings)

    def renew(self) -> View:
        """Report to the ledger now, and return a view with a valid lease.

        :raises vobjects.exceptions.NoLivePeer: the ledger does not respond, or
            takes longer than a lease
        """
        self.refresh()
        view = self._leased_view()
        if view is None:
            raise exceptions.NoLivePeer(
                'the ledger takes longer than a lease to respond'
            )
        return view

    def refresh(self) -> View:
        """Report to the ledger now, and return the new view, of any age.

        Concurrent callers share one report.

        :raises vobjects.exceptions.NoLivePeer: the ledger does not respond
        """
        not_before = self._monotonic()
        with self._refreshing:
            if self._view is not None and self._renewed > not_before:
                return self._view
            if self._failure is not None and self._failure[0] > not_before:
                raise exceptions.NoLivePeer(self._failure[1])
            start = self._monotonic()
            try:
                report = self._ledger.report(self.member, self._view)
            except (exceptions.FleetError, exceptions.Unreachable) as error:
                # Share the failure: otherwise the threads that wait for this
                # lock would each wait for the ledger, one after the other.
                self._failure = (start, error.message)
                raise
            view = self._adopt(report)
            known = self._view
            is_new = known is None or view.revision != known.revision
            if is_new:
                # Update values that depend on the view, such as the highest
                # microversion, before other threads can see the view.
                self._on_view(view)
            self._view = view
            self._is_unannounced |= report.has_changed
            if report.now is not None:
                self._ledger_clock.note(report.now, start, self._monotonic())
            if known is not None and self.age >= self.period * LEASE_PERIODS:
                self._last_absence = start
            # The lease starts before the report was sent, because the
            # response may have been delayed.
            self._renewed = start
            self.member = dataclasses.replace(
                self.member, seen=view.generation
            )
            with self._renewal:
                self._failure = None
                self._renewal.notify_all()
        self._on_report(report)
        if is_new and not self.is_in_large_fleet:
            # Report the new generation soon: a process may be waiting for it
            # at the join barrier.
            self._wake.set()
        return view

    def heartbeat_pause(self) -> float:
        """Return the seconds until the next heartbeat, a random number."""
        return self._interval * (1 - JITTER * self._jitter())

    def wakeup_delay(self) -> float:
        """Return the seconds from a wakeup to its heartbeat, at random."""
        return self._spread() * self._jitter()

    def start(self) -> None:
        """Start the heartbeat thread."""
        self._thread.start()

    def wake(self) -> None:
        """Send a heartbeat now, because the ledger changed."""
        self._wake.set()

    def announce(self) -> None:
        """Wake the other processes, because the generation increased.

        Without a wakeup, each process learns of it within an interval. In a
        large fleet it would not learn of it sooner with one.
        """
        if not self.is_in_large_fleet:
            self._announce()

    def stop(self) -> None:
        """Stop the heartbeat and leave the ledger."""
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()
        try:
            self._is_unannounced |= self._ledger.leave(self.member.id)
        except (exceptions.FleetError, exceptions.Unreachable) as error:
            # The heartbeats end, so the other members will count it as dead.
            LOG.warning('Could not leave the fleet: %s', error.message)
        else:
            self._announce_changes()

    def _adopt(self, report: Report) -> View:
        """Return the view of a report, or the known one if it is valid."""
        if report.view is None:
            assert self._view is not None
            return self._view
        return dataclasses.replace(report.view, **self._settings)

    @property
    def _interval(self) -> float:
        return self.period / BEATS_PER_PERIOD

    @property
    def is_in_large_fleet(self) -> bool:
        """Whether changes wait for the next heartbeat of each process."""
        return self._spread() >= self._interval

    def _spread(self) -> float:
        """Return the seconds over which heartbeats after a wakeup spread."""
        count = 0 if self._view is None else self._view.count()
        return min(count * SPREAD_PER_PROCESS, self._interval)

    def _announce_changes(self) -> None:
        if self._is_unannounced:
            self.announce()
        self._is_unannounced = False

    def _send_heartbeats(self) -> None:
        failing: bool = False
        while not self._stopping.is_set():
            self._wake.clear()
            try:
                self.refresh()
            except (exceptions.FleetError, exceptions.Unreachable) as error:
                if not failing:
                    LOG.warning('The fleet is out of reach: %s', error.message)
                failing = True
            except Exception:
                # Without heartbeats, other members would consider this process
                # dead although it works.
                LOG.exception('The heartbeat failed')
                failing = True
            else:
                if failing:
                    LOG.info('The fleet is reachable again')
                failing = False
            if self._wake.wait(self.heartbeat_pause()):
                self._stopping.wait(self.wakeup_delay())
