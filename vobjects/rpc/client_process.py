# SPDX-License-Identifier: Apache-2.0
"""A client process: calls the servers of a topic and has no ledger.

It reports to the ledger through the servers, receives wakeups on its own
topic, and knows the highest microversion that all servers support.
"""

from __future__ import annotations

import collections
import logging
import socket
import threading
import uuid
from collections.abc import Callable, Iterable
from typing import Any, Self

import oslo_messaging
from oslo_config import cfg

from vobjects import exceptions, objects
from vobjects.controllers.frameworks import is_early, version_of
from vobjects.objects import manifest
from vobjects.objects.codec import json_text
from vobjects.rpc import conf as rpc_conf
from vobjects.rpc import transport, wakeups
from vobjects.rpc.client import MAX_CALLS, Client
from vobjects.rpc.fleet import LEASE_PERIODS, Member, View, to_json
from vobjects.rpc.ledger import RemoteLedger
from vobjects.rpc.membership import Membership
from vobjects.service import Service
from vobjects.versions import Maximum

LOG = logging.getLogger(__name__)

#: Maximum number of processes that :meth:`ClientProcess.fleet_data` lists.
LISTED_MEMBERS = 100

#: Maximum seconds to wait for a driver that still connects to a broker.
_STOP_TIMEOUT = 5.0


class ClientProcess:
    """A client of one topic, with its membership in the fleet.

    In a ``with`` statement, it starts and stops.

    :param conf: configuration with ``transport_url`` and the options of
        :mod:`vobjects.rpc.conf`
    :param service: the declaration of the service to call
    :param binary: kind of process, shown to operators; default: the topic of
        the service's clients
    :param host: name of this host; default: that of the machine
    :param release: release of this build; default: the installed one
    :param on_view: called with each new view of the fleet
    :param max_calls: maximum number of calls that wait at the same time
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        service: Service,
        *,
        binary: str = '',
        host: str = '',
        release: str = '',
        on_view: Callable[[View], None] = lambda view: None,
        max_calls: int = MAX_CALLS,
    ) -> None:
        rpc_conf.register(conf)
        service.load_types()
        self._server_topic = service.topic
        self._newest = service.maximum
        self._maximum: Maximum | None = None
        self._on_view = on_view
        self._transport = transport.open_transport(
            conf, service.exchange, tuple(service.error_modules)
        )
        self._has_broker = transport.has_broker(conf)
        period = conf.fleet.heartbeat_interval
        self.client = Client(
            self._transport,
            service.topic,
            get_view=lambda: self.membership.current(),
            refresh_view=lambda: self.membership.renew(),
            timeout=conf.fleet.call_timeout,
            ledger_deadline=lambda seconds: self.membership.deadline(seconds),
            max_calls=max_calls,
            await_view=lambda is_ready, timeout: self.membership.await_view(
                is_ready, timeout
            ),
        )
        quorum = conf.fleet.capable_servers
        self.ledger = RemoteLedger(self.client, period * LEASE_PERIODS, quorum)
        self.membership = Membership(
            Member(
                id=str(uuid.uuid4()),
                binary=binary or service.client_topic,
                host=host or socket.gethostname(),
                topic=service.client_topic,
                release=release or service.release,
                manifest=manifest.local(),
                # It serves no topic, so there is no join barrier to pass.
                state='up',
            ),
            self.ledger,
            period=period,
            pinned=rpc_conf.pinned_manifest(conf, service.name),
            quorum=quorum,
            on_view=self._update_maximum,
        )
        self._max_concurrent_calls = conf.fleet.calls_at_once
        self._topic = service.client_topic
        self._server: Any = None
        self._listen_thread = threading.Thread(
            target=self._listen_when_connected, name='wakeups', daemon=True
        )

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def forward(
        self,
        request: Any,
        context: Any,
        message: objects.Request,
        *,
        shows: Iterable[type[objects.Object]] | None = None,
    ) -> Any:
        """Send the message of an API request to a server.

        Neither the message nor the response exceeds the versions of the
        request's microversion.

        :param request: the HTTP request; see
            :func:`vobjects.controllers.frameworks.version_of`
        :param context: a dict, or an object with ``to_dict()``
        :param message: the request, as an object
        :param shows: types of the response; None: not known. They decide
            which servers can respond; see ``vobjects.rpc.routing``
        :returns: the response as JSON data: a resource as a dict, several as
            a list of dicts, and any other value as it is
        :raises Exception: see :meth:`vobjects.rpc.client.Client.call`. The
            ``Microversions`` middleware responds to all of them.
        """
        versions = manifest.at_microversion(
            version_of(request), early=is_early(request)
        )
        shown = None
        if shows is not None:
            shown = manifest.Manifest(
                collections.ChainMap(
                    *(manifest.within(cls, versions) for cls in shows)
                )
            )
        text = self.client.call_for_text(
            context, message, versions, shown=shown
        )
        return json_text.loads(text.body)

    def maximum(self) -> Maximum:
        """Return the highest microversion that all live servers support.

        While no server is alive, return the last known maximum.

        :raises vobjects.exceptions.NoLivePeer: no server has ever been seen
        """
        if self._maximum is None:
            self.membership.current()
        if self._maximum is None:
            raise exceptions.NoLivePeer(
                f'no server of {self._server_topic!r} is alive'
            )
        return self._maximum

    def server_count(self) -> int:
        """Return the number of live servers, from a view with a valid lease.

        Numbers of ``EXACT_COUNT`` or more may be outdated; see
        :class:`vobjects.rpc.fleet.Group`.

        :raises vobjects.exceptions.NoLivePeer: no server responds
        """
        return self.membership.current().count(self._server_topic)

    def known_server_count(self) -> int:
        """Return the number of live servers without waiting for one.

        It is 0 if the view has no valid lease, because no server responds.
        """
        view = self.membership.known()
        return 0 if view is None else view.count(self._server_topic)

    def fleet_data(self) -> dict[str, Any]:
        """Return the fleet as JSON data, from the ledger.

        It lists the processes with the oldest heartbeats.

        :raises vobjects.exceptions.NoLivePeer: no server responds
        """
        return to_json(
            self.ledger.get(),
            self._server_topic,
            self._newest,
            self.ledger.members(LISTED_MEMBERS),
        )

    def start(self) -> None:
        """Listen for wakeups and send heartbeats, in the background.

        This does not wait for a broker.
        """
        if self._has_broker:
            self._listen_thread.start()
        else:
            self._listen()
        self.membership.start()

    def stop(self) -> None:
        """Leave the fleet and close everything."""
        if self._server is not None:
            self._server.stop()
            self._server.wait()
        self.membership.stop()
        self._transport.cleanup()
        if self._listen_thread.ident is not None:
            self._listen_thread.join(_STOP_TIMEOUT)

    def _listen(self) -> None:
        endpoint = wakeups.WakeupEndpoint(
            {wakeups.FLEET: self.membership.wake}
        )
        server = transport.build_server(
            self._transport,
            self._topic,
            transport.SHARED_NAME,
            [endpoint],
            self._max_concurrent_calls,
        )
        server.start()
        self._server = server

    def _listen_when_connected(self) -> None:
        """Listen for wakeups as soon as the broker is reachable.

        Wakeups are optional: they only make this process react faster.
        """
        try:
            self._listen()
        except oslo_messaging.MessageDeliveryFailure as error:
            LOG.info('Does not listen for wakeups: %s', error)

    def _update_maximum(self, view: View) -> None:
        if view.cap(self._server_topic):
            self._maximum = view.maximum(self._server_topic, self._newest)
        self._on_view(view)


def connect_to_ledger(
    conf: cfg.ConfigOpts, service: Service
) -> tuple[RemoteLedger, Callable[[], Any]]:
    """Return a ledger client for a short-lived command.

    :param service: the declaration of the service
    :returns: the ledger, and a function that closes the connection
    :raises vobjects.exceptions.Unreachable: the message bus does not respond
    :raises vobjects.rpc.transport.BadTransport: ``transport_url`` is not
        usable
    """
    rpc_conf.register(conf)
    bus = transport.open_transport(
        conf, service.exchange, tuple(service.error_modules)
    )
    transport.check_connection(conf, bus, service.topic)

    def no_view() -> View:
        raise exceptions.NoLivePeer('this process has no view of the fleet')

    client = Client(
        bus,
        service.topic,
        get_view=no_view,
        refresh_view=no_view,
        timeout=conf.fleet.call_timeout,
    )
    timeout = conf.fleet.heartbeat_interval * LEASE_PERIODS
    ledger = RemoteLedger(client, timeout, conf.fleet.capable_servers)
    return ledger, bus.cleanup
