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
import random
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

import oslo_messaging
from oslo_versionedobjects import exception as ovo_exception

from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc import fleet_types
from vobjects.rpc.fleet import (
    BEATS_PER_PERIOD,
    LEASE_PERIODS,
    Member,
    State,
    View,
)
from vobjects.rpc.ledger import Ledger

LOG = logging.getLogger(__name__)

#: Maximum number of engines to try by name after the first attempt fails.
NAMED_ATTEMPTS = 3

#: Seconds for which one reading of the ledger's clock is used.
CLOCK_INTERVAL = 10.0

#: Seconds between reads of the ledger during the join barrier.
BARRIER_INTERVAL = 0.1


class Membership:
    """The membership of one process in the fleet.

    :param me: the member that this process reports
    :param ledger: the ledger to report to
    :param period: heartbeat period in seconds
    :param pinned: upper limit of the cap, from the configuration
    :param announce: called after this process changed the ledger
    :param on_view: called with each new view before others see it, in the
        thread of the heartbeat or of a refresh; it must return quickly
    """

    def __init__(
        self,
        me: Member,
        ledger: Ledger,
        *,
        period: float,
        pinned: Manifest | None = None,
        announce: Callable[[], None] = lambda: None,
        on_view: Callable[[View], None] = lambda view: None,
    ) -> None:
        self.member = me
        self.period = period
        self._ledger = ledger
        self._pinned = pinned
        self._announce = announce
        self._on_view = on_view
        self._refreshing = threading.Lock()
        self._view: View | None = None
        self._renewed = float('-inf')
        self._failed: tuple[float, str] | None = None
        self._clock: tuple[float, float] | None = None
        self._success = threading.Condition()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._beat, name='fleet-heartbeat', daemon=True
        )

    @property
    def view(self) -> View | None:
        """The newest known view, of any age; None before the first."""
        return self._view

    @property
    def age(self) -> float:
        """Seconds since the view was last renewed."""
        return time.monotonic() - self._renewed

    def current(self) -> View:
        """Return a view with a valid lease, and renew it if necessary.

        While the ledger does not answer, callers wait up to a period for the
        next heartbeat to succeed instead of sending their own report.

        :raises vobjects.exceptions.NoLivePeer: the ledger does not answer
        """
        if self._view is not None and self.age < self.period * LEASE_PERIODS:
            return self._view
        failed = self._failed
        if failed is not None and self._thread.is_alive():
            with self._success:
                if not self._success.wait_for(
                    lambda: self._failed is None, self.period
                ):
                    raise exceptions.NoLivePeer(failed[1])
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

        :raises vobjects.exceptions.NoLivePeer: the ledger does not answer
        """
        view = self._view
        if view is not None and self.age < self.period * LEASE_PERIODS:
            return view
        return dataclasses.replace(self._ledger.get(), pinned=self._pinned)

    def refresh(self, not_before: float | None = None) -> View:
        """Report to the ledger now, and return the new view.

        Concurrent callers share one report.

        :param not_before: a monotonic time; a report that began after it is
            reused instead of sending a new one
        :raises vobjects.exceptions.NoLivePeer: the ledger does not answer
        """
        asked = time.monotonic() if not_before is None else not_before
        with self._refreshing:
            if self._view is not None and self._renewed >= asked:
                return self._view
            if self._failed is not None and self._failed[0] >= asked:
                raise exceptions.NoLivePeer(self._failed[1])
            began = time.monotonic()
            try:
                view = self._ledger.report(self.member)
            except (exceptions.FleetError, exceptions.Unreachable) as error:
                # Share the failure: otherwise the threads that wait for this
                # lock would each wait for the ledger, one after the other.
                self._failed = (began, error.message)
                raise
            view = dataclasses.replace(view, pinned=self._pinned)
            previous = self._view
            is_new = previous is None or previous.generation != view.generation
            if is_new:
                # Before other threads see the view: what follows from it,
                # such as the highest microversion, must not lag behind it.
                self._on_view(view)
            self._view = view
            if view.now is not None:
                # The ledger read its clock between these two times.
                self._clock = view.now - began, view.now - time.monotonic()
            # The lease starts before the report was sent: the response may
            # have been in transit for long.
            self._renewed = began
            self.member = dataclasses.replace(
                self.member, seen=view.generation
            )
            if self._failed is not None:
                with self._success:
                    self._failed = None
                    self._success.notify_all()
        if is_new:
            # Report the new generation at once: a process may be waiting for
            # it at the join barrier.
            self._wake.set()
        return view

    def start(self) -> None:
        """Start the heartbeat thread."""
        self._thread.start()

    def wake(self) -> None:
        """Handle a notice that the ledger changed."""
        self._wake.set()

    def join(self, wait: Callable[[float], Any] | None = None) -> None:
        """Pass the join barrier and change the state to ``up``.

        Call it after :meth:`start` and before you consume messages.

        :param wait: sleeps for a number of seconds; a true result aborts
        :raises vobjects.exceptions.NoLivePeer: the ledger does not answer
        """
        wait = wait or self._stopping.wait
        view = self.refresh()
        self._announce()
        if self._lowers_cap(view):
            self._pass_barrier(view, wait)
        if not self._stopping.is_set():
            self._become('up')

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

    def _become(self, state: State) -> None:
        self.member = dataclasses.replace(self.member, state=state)
        self.refresh()
        self._announce()

    def _lowers_cap(self, view: View) -> bool:
        others = tuple(m for m in view.members if m.id != self.member.id)
        without = dataclasses.replace(view, members=others)
        before = without.cap(self.member.topic)
        return bool(before) and before != view.cap(self.member.topic)

    def _pass_barrier(
        self, joined: View, wait: Callable[[float], Any]
    ) -> None:
        """Wait until no process can send above the new cap."""
        began = time.monotonic()
        lease = self.period * LEASE_PERIODS
        view = joined
        while time.monotonic() - began < lease:
            behind = [
                member
                for member in view.members
                if member.id != self.member.id
                and member.seen < joined.generation
            ]
            if not behind:
                break
            LOG.info(
                'Waiting for %s to learn that %s joins',
                ', '.join(member.label for member in behind),
                self.member.label,
            )
            if wait(BARRIER_INTERVAL):
                return
            view = self.refresh()

    def _beat(self) -> None:
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
                    LOG.info('The fleet is in reach again')
                failing = False
            self._wake.wait(self.period / BEATS_PER_PERIOD)


class LedgerClient(Protocol):
    """The part of a client that a remote ledger uses."""

    topic: str

    def call_ledger(
        self, request: Any, timeout: float, server: str = ''
    ) -> Any:
        """Send a request that needs no view, and return the response.

        :param timeout: timeout in seconds
        :param server: id of the server; empty: any
        """


class RemoteLedger:
    """The ledger of a process without a database, kept by an engine.

    An engine that hangs must not cost this process its lease while others
    would answer. The timeout is therefore divided between several attempts:
    the first goes to any engine, each later one to a known engine by name.

    :param client: sends the requests
    :param timeout: total time to wait for engines, in seconds; about a lease
    """

    def __init__(self, client: LedgerClient, timeout: float) -> None:
        self._client = client
        self._timeout = timeout
        self._known: tuple[str, ...] = ()
        self._clock: float | None = None  # ledger minus local time
        self._clock_read = float('-inf')

    def report(self, member: Member) -> View:
        """See :class:`vobjects.rpc.ledger.Ledger`.

        The view contains the ledger's time if all engines can report it.
        """
        view = self._view(fleet_types.to_report(member))
        return dataclasses.replace(view, now=self._now(view))

    def leave(self, member_id: str) -> None:
        """See :class:`vobjects.rpc.ledger.Ledger`."""
        self._ask(fleet_types.FleetLeave(id=member_id))

    def hold(self, topic: str) -> View:
        """See :class:`vobjects.rpc.ledger.Ledger`."""
        return self._view(fleet_types.FleetHold(topic=topic))

    def finalize(self) -> View:
        """See :class:`vobjects.rpc.ledger.Ledger`."""
        return self._view(fleet_types.FleetFinalize())

    def get(self) -> View:
        """Return the ledger without reporting a heartbeat."""
        return self._view(fleet_types.FleetGet())

    def _now(self, view: View) -> float | None:
        if fleet_types.FleetTime.obj_name() not in view.cap(
            self._client.topic
        ):
            return None
        began = time.monotonic()
        if began - self._clock_read > CLOCK_INTERVAL:
            self._clock_read = began
            try:
                told = self._client.call_ledger(
                    fleet_types.FleetClock(),
                    self._timeout / (1 + NAMED_ATTEMPTS),
                ).now
            except (
                oslo_messaging.MessagingException,
                ovo_exception.UnsupportedObjectError,
                # From an older server that left the fleet just before.
                exceptions.UnsupportedType,
            ) as error:
                LOG.debug('No engine told the time: %s', error)
            else:
                self._clock = None if told is None else told - began
        if self._clock is None:
            return None
        return self._clock + time.monotonic()

    def _view(self, request: Any) -> View:
        view = fleet_types.to_view(self._ask(request))
        self._known = tuple(
            member.id
            for member in view.servers(self._client.topic)
            if member.state == 'up'
        )
        return view

    def _ask(self, request: Any) -> Any:
        known = self._known
        named = random.sample(known, min(len(known), NAMED_ATTEMPTS))
        tries = ['', *named]
        while True:
            server = tries.pop(0)
            try:
                return self._client.call_ledger(
                    request, self._timeout / (1 + len(named)), server
                )
            except oslo_messaging.MessagingException as error:
                if tries:
                    LOG.debug('Asking another engine: %s', error)
                    continue
                raise exceptions.NoLivePeer(
                    f'no engine answers ({type(error).__name__}: {error});'
                    ' start one, or check transport_url'
                ) from error
