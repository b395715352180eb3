# SPDX-License-Identifier: Apache-2.0
"""A server process: RPC server, membership and wakeups, assembled.

On start it reports itself, waits for the join barrier and consumes. On stop it
stops consuming, completes the requests in progress and leaves the fleet.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from oslo_config import cfg

from vobjects.objects.manifest import Manifest
from vobjects.rpc import conf as rpc_conf
from vobjects.rpc import server, transport, wakeups
from vobjects.rpc.fleet import Member, View
from vobjects.rpc.ledger import Ledger, LedgerEndpoint
from vobjects.rpc.membership import Membership


class ServerProcess:
    """A server of one topic.

    :param conf: configuration with ``transport_url`` and the options of
        :mod:`vobjects.rpc.conf`
    :param exchange: control exchange of the service
    :param topic: topic to serve
    :param notified_topics: further topics to wake when the fleet changes
    :param binary: kind of process, shown to operators
    :param host: name of this host
    :param release: release of this build, or the release that it emulates
    :param manifest: versions that this process supports
    :param ledger: the ledger
    :param services: objects with handlers, see :mod:`vobjects.rpc.server`
    :param expected: see :class:`vobjects.rpc.server.Endpoint`
    :param context_from: rebuilds the caller's context from a dict
    :param prepare: see :class:`vobjects.rpc.server.Endpoint`
    :param find_response: see :class:`vobjects.rpc.server.Endpoint`
    :param error_modules: modules whose errors may be raised at the caller
    :param listeners: kind of wakeup -> function to call
    :param on_view: called with each new view of the fleet
    :param observer: receives an event for each request
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        *,
        exchange: str,
        topic: str,
        notified_topics: tuple[str, ...] = (),
        binary: str,
        host: str,
        release: str,
        manifest: Manifest,
        ledger: Ledger,
        services: Iterable[object],
        expected: tuple[type[Exception], ...] = (),
        context_from: Callable[[dict[str, Any]], Any] = dict,
        prepare: Callable[[Any], None] = lambda context: None,
        find_response: server.FindResponse = lambda call: None,
        error_modules: tuple[str, ...] = (),
        listeners: Mapping[str, Callable[[], None]] | None = None,
        on_view: Callable[[View], None] = lambda view: None,
        observer: server.Observer | None = None,
    ) -> None:
        rpc_conf.register(conf)
        self._transport = transport.open_transport(
            conf, exchange, error_modules
        )
        self._fleet_wakeups = wakeups.WakeupSender(
            self._transport, (topic, *notified_topics)
        )
        self._work_wakeups = wakeups.WakeupSender(self._transport, (topic,))
        member = Member(
            id=str(uuid.uuid4()),
            binary=binary,
            host=host,
            topic=topic,
            release=release,
            manifest=manifest,
        )
        self.membership = Membership(
            member,
            ledger,
            period=conf.fleet.heartbeat_interval,
            pinned=rpc_conf.pinned_manifest(conf),
            announce=self.announce_fleet,
            on_view=on_view,
        )
        endpoint = server.Endpoint(
            [*services, LedgerEndpoint(ledger, self.announce_fleet)],
            manifest=manifest,
            expected=expected,
            context_from=context_from,
            prepare=prepare,
            find_manifest=self._find_manifest,
            observer=observer,
            find_response=find_response,
            has_expired=self.membership.has_expired,
        )
        wakeup_endpoint = wakeups.WakeupEndpoint(
            {wakeups.FLEET: self.membership.wake, **(listeners or {})}
        )
        self._server = transport.build_server(
            self._transport,
            topic,
            member.id,
            [endpoint, wakeup_endpoint],
            conf.fleet.calls_at_once,
        )

    @property
    def id(self) -> str:
        """The id of this process in the ledger."""
        return self.membership.member.id

    def announce_fleet(self) -> None:
        """Wake every process, because the ledger changed."""
        self._fleet_wakeups.send(wakeups.FLEET)

    def announce_work(self) -> None:
        """Wake every server, because new work is available."""
        self._work_wakeups.send(wakeups.WORK)

    def start(self) -> None:
        """Report to the ledger, pass the join barrier, and consume.

        :raises vobjects.exceptions.NoLivePeer: the ledger does not respond
        """
        self.membership.refresh()
        self.membership.start()
        self.membership.join()
        self._server.start()

    def stop_consuming(self) -> None:
        """Stop consuming, and complete the requests already received."""
        transport.stop_server(self._server, self.announce_fleet)

    def stop(self) -> None:
        """Leave the fleet; call :meth:`stop_consuming` first."""
        self.membership.stop()
        self._transport.cleanup()

    def _find_manifest(self, digest: str) -> Manifest | None:
        view = self.membership.view
        for member in view.members if view else ():
            if member.manifest.digest == digest:
                return member.manifest
        return None
