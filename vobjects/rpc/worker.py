# SPDX-License-Identifier: Apache-2.0
"""A process that serves requests: server, membership and notices, assembled.

Starting, it reports itself, waits behind the join barrier, then consumes.
Stopping, it stops to consume, finishes what it has begun, then leaves.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from oslo_config import cfg

from vobjects.manifest import Manifest
from vobjects.rpc import conf as rpc_conf
from vobjects.rpc import notices, server, transport
from vobjects.rpc.fleet import Member, View
from vobjects.rpc.keeper import Keeper
from vobjects.rpc.ledger import Ledger
from vobjects.rpc.membership import Membership


class Worker:
    """Serves one topic.

    :param conf: with ``transport_url`` and :mod:`vobjects.rpc.conf`'s options
    :param exchange: the control exchange of the service
    :param topic: what to serve
    :param told: topics of processes that must hear of changes besides
    :param binary: the kind of process, for people
    :param host: where it runs
    :param release: of the build that it is, or stands in for
    :param speaks: what it understands
    :param kept: the ledger
    :param services: objects with handlers, see :mod:`vobjects.rpc.server`
    :param expected: error classes that are answers
    :param context_from: rebuilds a caller's context
    :param prepare: see :class:`vobjects.rpc.server.Endpoint`
    :param recall: see :class:`vobjects.rpc.server.Endpoint`
    :param error_modules: modules of errors that may come back from calls
    :param listeners: kind of notice -> what to call
    :param on_view: called with each new view of the fleet
    :param observer: told of each request
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        *,
        exchange: str,
        topic: str,
        told: tuple[str, ...] = (),
        binary: str,
        host: str,
        release: str,
        speaks: Manifest,
        kept: Ledger,
        services: Iterable[object],
        expected: tuple[type[Exception], ...] = (),
        context_from: Callable[[dict[str, Any]], Any] = dict,
        prepare: Callable[[Any], None] = lambda context: None,
        recall: server.Recall = lambda call: None,
        error_modules: tuple[str, ...] = (),
        listeners: Mapping[str, Callable[[], None]] | None = None,
        on_view: Callable[[View], None] = lambda view: None,
        observer: server.Observer | None = None,
    ) -> None:
        rpc_conf.register(conf)
        self._transport = transport.open_transport(
            conf, exchange, error_modules
        )
        self._notices = notices.Sender(self._transport, (topic, *told))
        self._workers = notices.Sender(self._transport, (topic,))
        me = Member(
            id=str(uuid.uuid4()),
            binary=binary,
            host=host,
            topic=topic,
            release=release,
            manifest=speaks,
        )
        self.membership = Membership(
            me,
            kept,
            period=conf.fleet.heartbeat_interval,
            pinned=rpc_conf.pin(conf),
            announce=self.announce_fleet,
            on_view=on_view,
        )
        endpoint = server.Endpoint(
            [*services, Keeper(kept, self.announce_fleet)],
            speaks=speaks,
            expected=expected,
            context_from=context_from,
            prepare=prepare,
            known_reader=self._known_reader,
            observer=observer,
            recall=recall,
        )
        receiver = notices.Receiver(
            {notices.FLEET: self.membership.hear, **(listeners or {})}
        )
        self._server = transport.build_server(
            self._transport,
            topic,
            me.id,
            [endpoint, receiver],
            conf.fleet.calls_at_once,
        )

    @property
    def id(self) -> str:
        """What the ledger calls this process."""
        return self.membership.me.id

    def announce_fleet(self) -> None:
        """Tell every process that the ledger changed."""
        self._notices.send(notices.FLEET)

    def announce_work(self) -> None:
        """Tell every worker that there is something to do."""
        self._workers.send(notices.WORK)

    def start(self) -> None:
        """Report, wait until every sender knows, and consume.

        :raises vobjects.exceptions.NoLivePeer: the ledger is out of reach
        """
        self.membership.refresh()
        self.membership.start()
        self.membership.join()
        self._server.start()

    def stop_consuming(self) -> None:
        """Take no more requests, and finish those that were taken."""
        transport.stop_server(self._server, self.announce_fleet)

    def stop(self) -> None:
        """Leave the fleet; call :meth:`stop_consuming` before."""
        self.membership.stop()
        self._transport.cleanup()

    def _known_reader(self, digest: str) -> Manifest | None:
        view = self.membership.view
        for member in view.members if view else ():
            if member.manifest.digest == digest:
                return member.manifest
        return None
