# SPDX-License-Identifier: Apache-2.0
"""The ledger of live processes, and access to it over RPC.

::

    Ledger            a protocol: report, leave, read, hold
    LedgerStore       a Ledger that server processes share without RPC, as
                      vobjects_sql.ledger.SqlLedger
    LedgerEndpoint    serves a ledger to processes without a database
    RemoteLedger      the ledger of such a process: it calls the endpoint
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from typing import Any, Protocol

import oslo_messaging
from oslo_versionedobjects import exception as ovo_exception

from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc import fleet_types
from vobjects.rpc.fleet import QUORUM, Member, Report, Unaware, View
from vobjects.rpc.server import handles

LOG = logging.getLogger(__name__)

#: Maximum number of engines to try after the first attempt fails.
MORE_ATTEMPTS = 3


class Ledger(Protocol):
    """A store for the live members. Every method may be repeated."""

    def report(self, member: Member, known: View | None = None) -> Report:
        """Record a heartbeat, and return the view if it has changed.

        If the member is new, or its manifest, topic or state differs from the
        record, and fewer than ``EXACT_COUNT`` other members have its topic
        and manifest, and its state or ``up``, the generation increases in the
        same transaction. A view of that generation or a later one therefore
        contains the change. In a larger group, no cap can depend on it.

        :param known: the view that the process has
        """

    def get(self) -> View:
        """Return the view with exact counts, without a heartbeat."""

    def members(self, limit: int) -> list[Member]:
        """Return the members with the oldest heartbeats, oldest first."""

    def leave(self, member_id: str) -> bool:
        """Remove a member.

        :returns: whether the generation increased; see :meth:`report`
        """

    def hold(self, topic: str, owner: str = '', reason: str = '') -> View:
        """Keep the cap of a topic from rising above its current value.

        :param owner: name of the operator, for the other operators
        :param reason: why; a clause that can follow "because"
        """

    def finalize(self) -> View:
        """End a hold: the cap follows the live members again."""


class LedgerStore(Ledger, Protocol):
    """A store that server processes share, without an RPC in between."""

    def unaware(self, generation: int, member_id: str) -> Unaware:
        """Return the members that have not seen a generation.

        :param member_id: a member that does not count
        """

    def manifest(self, digest: str) -> Manifest | None:
        """Return the manifest with a digest, if a live member has it."""

    def now(self) -> float:
        """Return the time on the ledger's clock, in seconds since 1970."""

    def is_first(self, member_id: str) -> bool:
        """Return whether a member has the lowest id of its topic.

        Of the servers of a topic, at most one has. It can do what one process
        should do for all.
        """

    def expire(self, older_than: float, interval: float) -> list[Member]:
        """Remove the members that have not reported for too long.

        The generation increases as if they had left. If ages are measured by
        a clock that may be set, the store removes no member that only seems
        silent because of that, and not forever keeps those whose heartbeat is
        in the future.

        :param older_than: seconds, by the ledger's clock
        :param interval: do nothing if another call did it less than this
            number of seconds ago
        :returns: the members that this call removed. Of several concurrent
            calls, only one removes a member
        """


class LedgerEndpoint:
    """Handlers for the requests of :mod:`vobjects.rpc.fleet_types`.

    :param ledger: the ledger
    :param announce: called after a request other than a heartbeat increased
        the generation
    """

    def __init__(
        self, ledger: LedgerStore, announce: Callable[[], None]
    ) -> None:
        self._ledger = ledger
        self._announce = announce

    @handles(fleet_types.FleetHeartbeat)
    def heartbeat(self, context: Any, request: Any) -> fleet_types.FleetState:
        """Record the heartbeat of a process."""
        member = fleet_types.from_heartbeat(request, self._ledger.manifest)
        known = fleet_types.known_view(request)
        if member is None:
            return fleet_types.unchanged_state(
                known or View(0, ()), None, needs_manifest=True
            )
        report = self._ledger.report(member, known)
        if report.view is not None:
            return fleet_types.to_state(report.view, report.now)
        assert known is not None  # only then is the view omitted
        return fleet_types.unchanged_state(known, report.now)

    @handles(fleet_types.FleetStateGet)
    def state(self, context: Any, request: Any) -> fleet_types.FleetState:
        """Return the view."""
        return fleet_types.to_state(self._ledger.get(), self._ledger.now())

    @handles(fleet_types.FleetHoldSet)
    def set_hold(self, context: Any, request: Any) -> fleet_types.FleetState:
        """Begin or end a hold."""
        return self._held(
            self._ledger.finalize()
            if request.topic is None
            else self._ledger.hold(request.topic)
        )

    @handles(fleet_types.FleetHoldBegin)
    def begin_hold(self, context: Any, request: Any) -> fleet_types.FleetState:
        """Begin a hold, and record its origin."""
        return self._held(
            self._ledger.hold(request.topic, request.owner, request.reason)
        )

    def _held(self, view: View) -> fleet_types.FleetState:
        """Return the view after a hold has begun or ended."""
        self._announce()
        return fleet_types.to_state(view, self._ledger.now())

    @handles(fleet_types.FleetProcessList)
    def processes(
        self, context: Any, request: Any
    ) -> list[fleet_types.FleetProcess]:
        """Return the processes with the oldest heartbeats."""
        return [
            fleet_types.to_process(member)
            for member in self._ledger.members(request.limit)
        ]

    @handles(fleet_types.FleetManifestGet)
    def manifest(
        self, context: Any, request: Any
    ) -> fleet_types.FleetManifest:
        """Return a manifest by its digest."""
        manifest = self._ledger.manifest(request.digest)
        return fleet_types.FleetManifest(
            versions=None if manifest is None else dict(manifest)
        )

    @handles(fleet_types.FleetLeave)
    def leave(self, context: Any, request: Any) -> None:
        """Remove a process from the ledger."""
        if self._ledger.leave(request.id):
            self._announce()


class LedgerClient(Protocol):
    """The part of a client that a remote ledger uses."""

    topic: str

    def call_ledger(self, request: Any, timeout: float) -> Any:
        """Send a request that needs no view to the next server in turn.

        :param timeout: timeout in seconds
        """


class RemoteLedger:
    """The ledger of a process without a database, kept by an engine.

    An engine that hangs must not cost this process its lease while others
    would respond. The timeout is therefore divided between several attempts,
    each with the next engine in turn.

    :param client: sends the requests
    :param timeout: total time to wait for engines, in seconds; about a lease
    :param quorum: see :class:`vobjects.rpc.fleet.View`
    """

    def __init__(
        self, client: LedgerClient, timeout: float, quorum: int = QUORUM
    ) -> None:
        self._client = client
        self._timeout = timeout
        self._quorum = quorum
        self._attempts = 1
        #: Digest -> manifest, for the groups of the last view.
        self._manifests: dict[str, Manifest] = {}

    def report(self, member: Member, known: View | None = None) -> Report:
        """See :class:`vobjects.rpc.ledger.Ledger`."""

        def call(*, with_manifest: bool) -> Any:
            return self._call(
                fleet_types.to_heartbeat(
                    member, known, with_manifest=with_manifest
                )
            )

        state = call(with_manifest=known is None)
        if state.needs_manifest:
            state = call(with_manifest=True)
        view = fleet_types.from_state(state, self._find_manifest)
        if view is not None:
            self._keep(view)
        return Report(view, state.now)

    def leave(self, member_id: str) -> bool:
        """See :class:`vobjects.rpc.ledger.Ledger`.

        The engine announces the change.

        :returns: False
        """
        self._call(fleet_types.FleetLeave(id=member_id))
        return False

    def hold(self, topic: str, owner: str = '', reason: str = '') -> View:
        """See :class:`vobjects.rpc.ledger.Ledger`.

        An engine of a release that does not record the origin ignores it.
        """
        request = fleet_types.FleetHoldBegin(
            topic=topic, owner=owner, reason=reason
        )
        try:
            return self._view(request)
        except ovo_exception.UnsupportedObjectError:
            return self._view(fleet_types.FleetHoldSet(topic=topic))

    def finalize(self) -> View:
        """See :class:`vobjects.rpc.ledger.Ledger`."""
        return self._view(fleet_types.FleetHoldSet(topic=None))

    def get(self) -> View:
        """Return the view without reporting a heartbeat."""
        return self._view(fleet_types.FleetStateGet())

    def members(self, limit: int) -> list[Member]:
        """See :class:`vobjects.rpc.ledger.Ledger`."""
        processes = self._call(fleet_types.FleetProcessList(limit=limit))
        return [
            fleet_types.from_process(process, manifest)
            for process in processes
            if (manifest := self._find_manifest(process.digest)) is not None
        ]

    def _view(self, request: Any) -> View:
        view = fleet_types.from_state(self._call(request), self._find_manifest)
        assert view is not None
        self._keep(view)
        return dataclasses.replace(view, quorum=self._quorum)

    def _find_manifest(self, digest: str) -> Manifest | None:
        manifest = self._manifests.get(digest)
        if manifest is None:
            versions = self._call(
                fleet_types.FleetManifestGet(digest=digest)
            ).versions
            if versions is not None:
                manifest = Manifest.parse(
                    dict(versions), f'the manifest {digest}'
                )
                self._manifests[digest] = manifest
        return manifest

    def _keep(self, view: View) -> None:
        """Remember the manifests of a view, and the number of servers."""
        self._manifests = {
            group.manifest.digest: group.manifest for group in view.groups
        }
        servers = sum(
            group.count
            for group in view.servers(self._client.topic)
            if group.state == 'up'
        )
        self._attempts = 1 + min(servers, MORE_ATTEMPTS)

    def _call(self, request: Any) -> Any:
        left, timeout = self._attempts, self._timeout / self._attempts
        while True:
            left -= 1
            try:
                return self._client.call_ledger(request, timeout)
            except oslo_messaging.MessagingException as error:
                if left:
                    LOG.debug('Trying another engine: %s', error)
                    continue
                raise exceptions.NoLivePeer(
                    f'no engine responds ({type(error).__name__}: {error});'
                    ' start one, or check transport_url'
                ) from error
