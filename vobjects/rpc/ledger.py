# SPDX-License-Identifier: Apache-2.0
"""The ledger of live processes, and access to it over RPC.

::

    Ledger            a protocol of five methods
    LedgerStore       a Ledger that also removes dead members:
                      vobjects.rpc.sql.SqlLedger, or MemoryLedger for tests
    LedgerEndpoint    serves a ledger to processes without a database
    RemoteLedger      the ledger of such a process: it calls the endpoint
"""

from __future__ import annotations

import dataclasses
import logging
import random
import time
from collections.abc import Callable
from typing import Any, Protocol

import oslo_messaging
from oslo_versionedobjects import exception as ovo_exception

from vobjects import exceptions
from vobjects.rpc import fleet_types
from vobjects.rpc.fleet import Member, View
from vobjects.rpc.server import handles

LOG = logging.getLogger(__name__)

#: Number of engines to try by name after the first attempt fails.
NAMED_ATTEMPTS = 3

#: Seconds for which one reading of the ledger's clock is used.
CLOCK_INTERVAL = 10.0


class Ledger(Protocol):
    """A store for the live members. Every method may be repeated."""

    def report(self, member: Member) -> View:
        """Record a heartbeat and return the whole ledger.

        If the member is new, or its manifest, topic or state differs from the
        record, the generation increases in the same transaction. A view of
        that generation or a later one therefore contains the change.
        """

    def get(self) -> View:
        """Return the whole ledger without recording a heartbeat."""

    def leave(self, member_id: str) -> None:
        """Remove a member, and increase the generation if it was present."""

    def hold(self, topic: str) -> View:
        """Keep the cap of a topic from rising above its current value."""

    def finalize(self) -> View:
        """End a hold: the cap follows the live members again."""


class LedgerStore(Ledger, Protocol):
    """A store that server processes share, without an RPC in between."""

    def expire(self, older_than: float) -> list[Member]:
        """Remove the members that have not reported for too long.

        :param older_than: seconds, by the ledger's clock
        :returns: the members that this call removed. Of several concurrent
            calls, only one removes a member
        """


class LedgerEndpoint:
    """Handlers for the requests of :mod:`vobjects.rpc.fleet_types`.

    :param ledger: the ledger
    :param announce: called after a request other than a report changed the
        ledger
    """

    def __init__(self, ledger: Ledger, announce: Callable[[], None]) -> None:
        self._ledger = ledger
        self._announce = announce

    @handles(fleet_types.FleetReport)
    def report(self, context: Any, request: Any) -> fleet_types.FleetView:
        """Record the heartbeat of a process."""
        view = self._ledger.report(fleet_types.to_member(request))
        return fleet_types.to_resource(view)

    @handles(fleet_types.FleetLeave)
    def leave(self, context: Any, request: Any) -> None:
        """Remove a process from the ledger."""
        self._ledger.leave(request.id)
        self._announce()

    @handles(fleet_types.FleetGet)
    def get(self, context: Any, request: Any) -> fleet_types.FleetView:
        """Return the ledger."""
        return fleet_types.to_resource(self._ledger.get())

    @handles(fleet_types.FleetClock)
    def clock(self, context: Any, request: Any) -> fleet_types.FleetTime:
        """Return the time on the ledger's clock."""
        return fleet_types.FleetTime(now=self._ledger.get().now)

    @handles(fleet_types.FleetHold)
    def hold(self, context: Any, request: Any) -> fleet_types.FleetView:
        """Keep the cap of a topic at its current value."""
        view = self._ledger.hold(request.topic)
        self._announce()
        return fleet_types.to_resource(view)

    @handles(fleet_types.FleetFinalize)
    def finalize(self, context: Any, request: Any) -> fleet_types.FleetView:
        """End a hold."""
        view = self._ledger.finalize()
        self._announce()
        return fleet_types.to_resource(view)


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
    would respond. The timeout is therefore divided between several attempts:
    the first goes to any engine, each later one to a known engine by name.

    :param client: sends the requests
    :param timeout: total time to wait for engines, in seconds; about a lease
    """

    def __init__(self, client: LedgerClient, timeout: float) -> None:
        self._client = client
        self._timeout = timeout
        self._server_ids: tuple[str, ...] = ()
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
        self._call(fleet_types.FleetLeave(id=member_id))

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
        start = time.monotonic()
        if start - self._clock_read > CLOCK_INTERVAL:
            self._clock_read = start
            try:
                now = self._client.call_ledger(
                    fleet_types.FleetClock(),
                    self._timeout / (1 + NAMED_ATTEMPTS),
                ).now
            except (
                oslo_messaging.MessagingException,
                ovo_exception.UnsupportedObjectError,
                # From an older server that left the fleet just before.
                exceptions.UnsupportedType,
            ) as error:
                LOG.debug('No engine returned the time: %s', error)
            else:
                self._clock = None if now is None else now - start
        if self._clock is None:
            return None
        return self._clock + time.monotonic()

    def _view(self, request: Any) -> View:
        view = fleet_types.to_view(self._call(request))
        self._server_ids = tuple(
            member.id
            for member in view.servers(self._client.topic)
            if member.state == 'up'
        )
        return view

    def _call(self, request: Any) -> Any:
        known = self._server_ids
        named = random.sample(known, min(len(known), NAMED_ATTEMPTS))
        targets = ['', *named]
        while True:
            server = targets.pop(0)
            try:
                return self._client.call_ledger(
                    request, self._timeout / (1 + len(named)), server
                )
            except oslo_messaging.MessagingException as error:
                if targets:
                    LOG.debug('Trying another engine: %s', error)
                    continue
                raise exceptions.NoLivePeer(
                    f'no engine responds ({type(error).__name__}: {error});'
                    ' start one, or check transport_url'
                ) from error
