# SPDX-License-Identifier: Apache-2.0
"""Keeps one process in the ledger, and its view of the fleet fresh.

**Lease.** A sender uses a view for :data:`vobjects.rpc.fleet.LEASE_PERIODS`
periods at most; then it renews it before it sends anything more.

**Join barrier.** A server that would lower the cap first reports itself as
``joining`` and starts to consume only when every other live process has seen
the generation that contains it, or the lease of whoever has not is over. So
nothing is sent above the new cap while it consumes; what was sent just before
is refused by it and sent again by the caller (:mod:`vobjects.rpc.client`).
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

from vobjects import exceptions
from vobjects.manifest import Manifest
from vobjects.rpc import objects
from vobjects.rpc.fleet import (
    BEATS_PER_PERIOD,
    LEASE_PERIODS,
    Member,
    State,
    View,
)
from vobjects.rpc.ledger import Ledger

LOG = logging.getLogger(__name__)

#: Engines that are asked by name when the first to come did not answer.
NAMED_TRIES = 3

#: Seconds between looks at the ledger while the join barrier waits.
BARRIER_LOOK = 0.1


class Membership:
    """One process's place in the fleet.

    :param me: what this process reports of itself
    :param ledger: where it reports
    :param period: heartbeat period in seconds
    :param pinned: what this process may say at most, from configuration
    :param announce: called after the ledger changed by our doing
    :param on_view: called with each new view, in the heartbeat's thread or
        in that of whoever asked for a refresh; it must return soon
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
        self.me = me
        self.period = period
        self._ledger = ledger
        self._pinned = pinned
        self._announce = announce
        self._on_view = on_view
        self._refreshing = threading.Lock()
        self._view: View | None = None
        self._renewed = float('-inf')
        self._failed: tuple[float, str] | None = None
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._beat, name='fleet-heartbeat', daemon=True
        )

    @property
    def view(self) -> View | None:
        """The newest view there is, however old; None before the first."""
        return self._view

    @property
    def age(self) -> float:
        """Seconds since the view was last renewed."""
        return time.monotonic() - self._renewed

    def current(self) -> View:
        """Return a view whose lease holds, renewing it where necessary.

        :raises vobjects.exceptions.NoLivePeer: the ledger does not answer
        """
        if self._view is not None and self.age < self.period * LEASE_PERIODS:
            return self._view
        return self.refresh(not_before=time.monotonic())

    def known(self) -> View:
        """Return a view whose lease holds, or what the ledger says now.

        Nothing is reported: whoever is in the middle of a transaction must
        not wait for another one that waits for theirs to end.

        :raises vobjects.exceptions.NoLivePeer: the ledger does not answer
        """
        view = self._view
        if view is not None and self.age < self.period * LEASE_PERIODS:
            return view
        return dataclasses.replace(self._ledger.get(), pinned=self._pinned)

    def refresh(self, not_before: float | None = None) -> View:
        """Report to the ledger now, and return what it answers.

        Callers that wait for one another share one report.

        :param not_before: a monotonic time; a report that began after it
            serves as well as a new one
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
                view = self._ledger.report(self.me)
            except exceptions.FleetError as error:
                # Or everybody who waits for this lock would wait in turn.
                self._failed = (began, str(error))
                raise
            view = dataclasses.replace(view, pinned=self._pinned)
            previous, self._view = self._view, view
            # The lease counts from before the question: the answer may have
            # been on its way for long.
            self._renewed = began
            self.me = dataclasses.replace(self.me, seen=view.generation)
        if previous is None or previous.generation != view.generation:
            self._on_view(view)
            # Whoever waits at a join barrier should not wait for our beat.
            self._wake.set()
        return view

    def start(self) -> None:
        """Begin to beat, in a thread."""
        self._thread.start()

    def hear(self) -> None:
        """Act on a notice that the ledger changed."""
        self._wake.set()

    def join(self, wait: Callable[[float], Any] | None = None) -> None:
        """Become a server that consumes, behind the join barrier.

        Call it after :meth:`start` and before consuming.

        :param wait: sleeps for that many seconds; returns true to give up
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
        """Leave the ledger and stop to beat."""
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()
        try:
            self._ledger.leave(self.me.id)
        except exceptions.FleetError as error:
            # It will be noticed as dead instead.
            LOG.warning('Could not leave the fleet: %s', error)
        else:
            self._announce()

    def _become(self, state: State) -> None:
        self.me = dataclasses.replace(self.me, state=state)
        self.refresh()
        self._announce()

    def _lowers_cap(self, view: View) -> bool:
        others = tuple(m for m in view.members if m.id != self.me.id)
        without = dataclasses.replace(view, members=others)
        before = without.cap(self.me.topic)
        return bool(before) and before != view.cap(self.me.topic)

    def _pass_barrier(
        self, joined: View, wait: Callable[[float], Any]
    ) -> None:
        """Wait until nobody can be sending above the cap with us in it."""
        began = time.monotonic()
        lease = self.period * LEASE_PERIODS
        view = joined
        while time.monotonic() - began < lease:
            behind = [
                member
                for member in view.members
                if member.id != self.me.id and member.seen < joined.generation
            ]
            if not behind:
                break
            LOG.info(
                'Waiting for %s to learn that %s joins',
                ', '.join(member.label for member in behind),
                self.me.label,
            )
            if wait(BARRIER_LOOK):
                return
            view = self.refresh()

    def _beat(self) -> None:
        failing = False
        while not self._stopping.is_set():
            self._wake.clear()
            try:
                self.refresh()
            except exceptions.FleetError as error:
                if not failing:
                    LOG.warning('The fleet is out of reach: %s', error)
                failing = True
            except Exception:
                # A heartbeat that ends by surprise would have this process
                # taken for dead while it works.
                LOG.exception('The heartbeat failed')
                failing = True
            else:
                if failing:
                    LOG.info('The fleet is in reach again')
                failing = False
            self._wake.wait(self.period / BEATS_PER_PERIOD)


class Asks(Protocol):
    """What a remote ledger needs of a client."""

    topic: str

    def ask(self, request: Any, timeout: float, server: str = '') -> Any:
        """Send a request that needs no view, and return the answer.

        :param server: which to ask; empty: any
        """


class RemoteLedger:
    """The ledger of a process that has no database: an engine keeps it.

    One that hangs must not cost us our lease while others would answer: so
    the time is shared by several tries, the later ones with a named engine
    each of those that we know.

    :param timeout: seconds to wait for engines; about a lease
    """

    def __init__(self, client: Asks, timeout: float) -> None:
        self._client = client
        self._timeout = timeout
        self._known: tuple[str, ...] = ()

    def report(self, member: Member) -> View:
        """See :class:`vobjects.rpc.ledger.Ledger`."""
        return self._view(objects.report_of(member))

    def leave(self, member_id: str) -> None:
        """See :class:`vobjects.rpc.ledger.Ledger`."""
        self._ask(objects.FleetLeave(id=member_id))

    def hold(self, topic: str) -> View:
        """See :class:`vobjects.rpc.ledger.Ledger`."""
        return self._view(objects.FleetHold(topic=topic))

    def finalize(self) -> View:
        """See :class:`vobjects.rpc.ledger.Ledger`."""
        return self._view(objects.FleetFinalize())

    def get(self) -> View:
        """Return the ledger without reporting anything."""
        return self._view(objects.FleetGet())

    def _view(self, request: Any) -> View:
        view = objects.view_of(self._ask(request))
        self._known = tuple(
            member.id
            for member in view.servers(self._client.topic)
            if member.state == 'up'
        )
        return view

    def _ask(self, request: Any) -> Any:
        known = self._known
        named = random.sample(known, min(len(known), NAMED_TRIES))
        tries = ['', *named]
        while True:
            server = tries.pop(0)
            try:
                return self._client.ask(
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
