# SPDX-License-Identifier: Apache-2.0
"""Keep one process in the ledger, and its view of the fleet current.

**Lease.** A sender uses a view for at most
:data:`vobjects.rpc.fleet.LEASE_PERIODS` periods. After that it renews the view
before it sends anything.

**Join barrier.** A server that would lower the cap first reports itself as
``joining``. It starts to consume when every other live process has seen the
generation that contains it, or when their leases have expired. While it
consumes, nothing is therefore sent above the new cap. It rejects messages that
were sent just before, and their senders send them again
(:mod:`vobjects.rpc.client`).
"""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import (
    BEATS_PER_PERIOD,
    LEASE_PERIODS,
    Member,
    State,
    View,
)
from vobjects.rpc.ledger import Ledger

LOG = logging.getLogger(__name__)

#: Seconds between reports during the join barrier.
BARRIER_INTERVAL = 0.1


class Membership:
    """The membership of one process in the fleet.

    :param member: the member that this process reports
    :param ledger: the ledger to report to
    :param period: heartbeat period in seconds
    :param pinned: upper limit of the cap, from the configuration
    :param announce: called after this process changed the ledger
    :param on_view: called with each new view before others see it, in the
        thread of the heartbeat or of a refresh; it must return quickly
    """

    def __init__(
        self,
        member: Member,
        ledger: Ledger,
        *,
        period: float,
        pinned: Manifest | None = None,
        announce: Callable[[], None] = lambda: None,
        on_view: Callable[[View], None] = lambda view: None,
    ) -> None:
        self.member = member
        self.period = period
        self._ledger = ledger
        self._pinned = pinned
        self._announce = announce
        self._on_view = on_view
        self._refreshing = threading.Lock()
        self._view: View | None = None
        self._renewed = float('-inf')
        self._failure: tuple[float, str] | None = None
        #: Latest and earliest ledger time minus local time, in seconds.
        self._clock: tuple[float, float] | None = None
        self._succeeded = threading.Condition()
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
        return time.monotonic() - self._renewed

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
            with self._succeeded:
                if not self._succeeded.wait_for(
                    lambda: self._failure is None, self.period
                ):
                    raise exceptions.NoLivePeer(failure[1])
                if self._view is not None:
                    return self._view
        return self.refresh(not_before=time.monotonic())

    def deadline(self, seconds: float) -> float | None:
        """Return the time a number of seconds from now, on the ledger's clock.

        The result may be late by up to the duration of a report, but never
        early.

        :returns: seconds since 1970; None: the ledger has not reported its
            time
        """
        if self._clock is None:
            return None
        return self._clock[0] + time.monotonic() + seconds

    def has_expired(self, deadline: float) -> bool:
        """Return whether a result of :meth:`deadline` has certainly passed."""
        if self._clock is None:
            return False
        return self._clock[1] + time.monotonic() > deadline

    def view_without_report(self) -> View:
        """Return a view with a valid lease, or read the ledger.

        This method sends no report: a caller inside a transaction must not
        wait for a report whose transaction waits for the caller's to end.

        :raises vobjects.exceptions.NoLivePeer: the ledger does not respond
        """
        view = self._leased_view()
        if view is not None:
            return view
        return dataclasses.replace(self._ledger.get(), pinned=self._pinned)

    def refresh(self, not_before: float | None = None) -> View:
        """Report to the ledger now, and return the new view.

        Concurrent callers share one report.

        :param not_before: a monotonic time; a report that began after it is
            reused instead of sending a new one
        :raises vobjects.exceptions.NoLivePeer: the ledger does not respond
        """
        if not_before is None:
            not_before = time.monotonic()
        with self._refreshing:
            if self._view is not None and self._renewed >= not_before:
                return self._view
            if self._failure is not None and self._failure[0] >= not_before:
                raise exceptions.NoLivePeer(self._failure[1])
            start = time.monotonic()
            try:
                view = self._ledger.report(self.member)
            except (exceptions.FleetError, exceptions.Unreachable) as error:
                # Share the failure: otherwise the threads that wait for this
                # lock would each wait for the ledger, one after the other.
                self._failure = (start, error.message)
                raise
            view = dataclasses.replace(view, pinned=self._pinned)
            previous = self._view
            is_new = previous is None or previous.generation != view.generation
            if is_new:
                # Update values that depend on the view, such as the highest
                # microversion, before other threads can see the view.
                self._on_view(view)
            self._view = view
            if view.now is not None:
                # The ledger read its clock between these two times.
                self._clock = view.now - start, view.now - time.monotonic()
            # The lease starts before the report was sent, because the
            # response may have been delayed.
            self._renewed = start
            self.member = dataclasses.replace(
                self.member, seen=view.generation
            )
            if self._failure is not None:
                with self._succeeded:
                    self._failure = None
                    self._succeeded.notify_all()
        if is_new:
            # Report the new generation at once: a process may be waiting for
            # it at the join barrier.
            self._wake.set()
        return view

    def start(self) -> None:
        """Start the heartbeat thread."""
        self._thread.start()

    def wake(self) -> None:
        """Send a heartbeat now, because the ledger changed."""
        self._wake.set()

    def join(self, wait: Callable[[float], Any] | None = None) -> None:
        """Pass the join barrier and change the state to ``up``.

        Call it after :meth:`start` and before you consume messages.

        :param wait: sleeps for a number of seconds; a true result aborts
        :raises vobjects.exceptions.NoLivePeer: the ledger does not respond
        """
        wait = wait or self._stopping.wait
        view = self.refresh()
        self._announce()
        if self._lowers_cap(view):
            self._wait_at_barrier(view, wait)
        if not self._stopping.is_set():
            self._set_state('up')

    def stop(self) -> None:
        """Stop the heartbeat and leave the ledger."""
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()
        try:
            self._ledger.leave(self.member.id)
        except (exceptions.FleetError, exceptions.Unreachable) as error:
            # The heartbeats end, so the other members will count it as dead.
            LOG.warning('Could not leave the fleet: %s', error.message)
        else:
            self._announce()

    def _set_state(self, state: State) -> None:
        self.member = dataclasses.replace(self.member, state=state)
        self.refresh()
        self._announce()

    def _lowers_cap(self, view: View) -> bool:
        others = tuple(m for m in view.members if m.id != self.member.id)
        cap = dataclasses.replace(view, members=others).cap(self.member.topic)
        return bool(cap) and cap != view.cap(self.member.topic)

    def _wait_at_barrier(
        self, joined: View, wait: Callable[[float], Any]
    ) -> None:
        """Wait until no process can send above the new cap."""
        start = time.monotonic()
        lease = self.period * LEASE_PERIODS
        view = joined
        while time.monotonic() - start < lease:
            unaware = [
                member
                for member in view.members
                if member.id != self.member.id
                and member.seen < joined.generation
            ]
            if not unaware:
                break
            LOG.info(
                'Waiting for %s to learn that %s joins',
                ', '.join(member.label for member in unaware),
                self.member.label,
            )
            if wait(BARRIER_INTERVAL):
                return
            view = self.refresh()

    def _send_heartbeats(self) -> None:
        failing = False
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
            self._wake.wait(self.period / BEATS_PER_PERIOD)
