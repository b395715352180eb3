# SPDX-License-Identifier: Apache-2.0
"""A server process: RPC server, membership and wakeups, assembled.

On start it reports itself, waits for the join barrier and consumes. On stop it
stops consuming, completes the requests in progress and leaves the fleet.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from oslo_config import cfg

from vobjects.objects.manifest import Manifest, local
from vobjects.rpc import conf as rpc_conf
from vobjects.rpc import routing, server, transport, wakeups
from vobjects.rpc.expiry import Expiry
from vobjects.rpc.fleet import Member, View
from vobjects.rpc.join_barrier import ServerMembership
from vobjects.rpc.ledger import LedgerEndpoint, LedgerStore
from vobjects.service import Service

LOG = logging.getLogger(__name__)


def signals(conf: cfg.ConfigOpts) -> Callable[[], None]:
    """Handle signals from now on; return a function that waits for the end.

    It returns at SIGTERM or SIGINT. At SIGHUP, it reads the options again that
    oslo.config can change, such as ``debug``. Call both in the main thread.
    """
    # Python writes each signal to the pipe, whatever thread receives it.
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)

    def wait() -> None:
        ends = (signal.SIGINT, signal.SIGTERM)
        while (number := os.read(reader, 1)[0]) not in ends:
            if number == signal.SIGHUP:
                try:
                    conf.mutate_config_files()
                except Exception as error:  # noqa: BLE001 - also of its hooks
                    LOG.error('Cannot read the options again: %s', error)

    return wait


class ServerProcess:
    """A server of one topic.

    :param conf: configuration with ``transport_url`` and the options of
        :mod:`vobjects.rpc.conf`
    :param service: the declaration of the service
    :param ledger: the ledger
    :param handlers: objects with handlers, see :mod:`vobjects.rpc.server`
    :param binary: kind of process, shown to operators; default: the topic
    :param host: name of this host; default: that of the machine
    :param release: release of this build, or the release that it emulates;
        default: the installed one
    :param manifest: versions that this process supports; default: those of
        this build
    :param context_from: rebuilds the caller's context from a dict
    :param prepare: see :class:`vobjects.rpc.server.Endpoint`
    :param find_response: see :class:`vobjects.rpc.server.Endpoint`
    :param listeners: kind of wakeup -> function to call
    :param on_view: called with each new view of the fleet
    :param on_expired: called with the members that this process removed from
        the ledger because they died
    :param observer: receives an event for each request
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        service: Service,
        *,
        ledger: LedgerStore,
        handlers: Iterable[object],
        binary: str = '',
        host: str = '',
        release: str = '',
        manifest: Manifest | None = None,
        context_from: Callable[[dict[str, Any]], Any] = dict,
        prepare: Callable[[Any], None] = lambda context: None,
        find_response: server.FindResponse = lambda call: None,
        listeners: Mapping[str, Callable[[], None]] | None = None,
        on_view: Callable[[View], None] = lambda view: None,
        on_expired: Callable[[list[Member]], None] = lambda members: None,
        observer: server.Observer | None = None,
    ) -> None:
        self._conf = conf
        rpc_conf.register(conf)
        service.load_types()
        manifest = manifest or local()
        self._transport = transport.open_transport(
            conf, service.exchange, tuple(service.error_modules)
        )
        self._fleet_wakeups = wakeups.WakeupSender(
            self._transport, (service.topic, service.client_topic)
        )
        self._work_wakeups = wakeups.WakeupSender(
            self._transport, (service.topic,)
        )
        member = Member(
            id=str(uuid.uuid4()),
            binary=binary or service.topic,
            host=host or socket.gethostname(),
            topic=service.topic,
            release=release or service.release,
            manifest=manifest,
        )
        self.membership = ServerMembership(
            member,
            ledger,
            period=conf.fleet.heartbeat_interval,
            pinned=rpc_conf.pinned_manifest(conf, service.name),
            quorum=conf.fleet.capable_servers,
            announce=self.announce_fleet,
            on_view=on_view,
            on_report=lambda report: self._expiry.note_report(report),
        )
        self._expiry: Expiry = Expiry(
            ledger,
            self.membership,
            announce=self.membership.announce,
            on_expired=on_expired,
        )
        endpoint = server.Endpoint(
            [*handlers, LedgerEndpoint(ledger, self.membership.announce)],
            manifest=manifest,
            context_from=context_from,
            prepare=prepare,
            find_manifest=self._find_manifest,
            observer=observer,
            find_response=find_response,
            has_expired=self.membership.has_expired,
            response_bytes=conf.fleet.response_memory,
        )
        wakeup_endpoint = wakeups.WakeupEndpoint(
            {wakeups.FLEET: self.membership.wake, **(listeners or {})}
        )
        self._is_addressed = routing.is_used()
        self._server = transport.build_server(
            self._transport,
            service.topic,
            manifest.digest,
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
        self._expiry.start()
        self.membership.join(consume=self._server.start)
        member = self.membership.member
        LOG.info('Serving %s as %s', member.topic, member.label)

    def run(self) -> None:
        """Serve until SIGTERM or SIGINT, see :func:`signals`.

        :raises vobjects.exceptions.NoLivePeer: the ledger does not respond
        """
        wait = signals(self._conf)
        self.start()
        wait()
        self.stop_consuming()
        self.stop()

    def drain(self) -> None:
        """Receive no new requests; wakeups still arrive, if the driver can.

        Before that, it waits for senders that would address only this server.
        """
        if self._is_addressed:
            self.membership.withdraw()
        self._server.drain()

    def stop_consuming(self) -> None:
        """Drain, complete the requests already received, and stop."""
        self.drain()
        self._server.stop()
        self._server.wait()

    def stop(self) -> None:
        """Leave the fleet; call :meth:`stop_consuming` first."""
        self._expiry.stop()
        self.membership.stop()
        self._transport.cleanup()

    def _find_manifest(self, digest: str) -> Manifest | None:
        view = self.membership.view
        for group in view.groups if view else ():
            if group.manifest.digest == digest:
                return group.manifest
        return None
