# SPDX-License-Identifier: Apache-2.0
"""A process that calls the servers of a topic, and keeps no ledger itself.

It reports to the ledger through the servers, hears notices on a topic of its
own, and knows the highest microversion that all servers can serve.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from oslo_config import cfg

from vobjects import exceptions, manifest
from vobjects.microversions.policy import Maximum
from vobjects.rpc import conf as rpc_conf
from vobjects.rpc import notices, transport
from vobjects.rpc.client import Client
from vobjects.rpc.fleet import LEASE_PERIODS, Member, View, as_data
from vobjects.rpc.membership import Membership, RemoteLedger
from vobjects.versions import Version


class Caller:
    """Calls one topic.

    :param conf: with ``transport_url`` and :mod:`vobjects.rpc.conf`'s options
    :param exchange: the control exchange of the service
    :param calls: the topic of the servers
    :param topic: its own, for notices
    :param binary: the kind of process, for people
    :param host: where it runs
    :param release: of the build
    :param newest: the highest microversion that this build knows
    :param error_modules: modules of errors that servers raise here
    :param on_view: called with each new view of the fleet
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        *,
        exchange: str,
        calls: str,
        topic: str,
        binary: str,
        host: str,
        release: str,
        newest: Version,
        error_modules: tuple[str, ...] = (),
        on_view: Callable[[View], None] = lambda view: None,
    ) -> None:
        rpc_conf.register(conf)
        self._calls = calls
        self._newest = newest
        self._maximum: Maximum | None = None
        self._on_view = on_view
        self._transport = transport.open_transport(
            conf, exchange, error_modules
        )
        period = conf.fleet.heartbeat_interval
        self.client = Client(
            self._transport,
            calls,
            view=lambda: self.membership.current(),
            refresh=lambda: self.membership.refresh(),
            timeout=conf.fleet.call_timeout,
        )
        self.ledger = RemoteLedger(self.client, period * LEASE_PERIODS)
        self.membership = Membership(
            Member(
                id=str(uuid.uuid4()),
                binary=binary,
                host=host,
                topic=topic,
                release=release,
                manifest=manifest.own(),
                # It serves nobody, so it has no barrier to pass.
                state='up',
            ),
            self.ledger,
            period=period,
            pinned=rpc_conf.pin(conf),
            on_view=self._learn,
        )
        receiver = notices.Receiver({notices.FLEET: self.membership.hear})
        self._server = transport.build_server(
            self._transport,
            topic,
            self.membership.me.id,
            [receiver],
            conf.fleet.calls_at_once,
        )

    def maximum(self) -> Maximum:
        """Return the highest microversion that all live servers can serve.

        While no server lives, what the last ones could.

        :raises vobjects.exceptions.NoLivePeer: none has ever been seen
        """
        if self._maximum is None:
            self.membership.current()
        if self._maximum is None:
            raise exceptions.NoLivePeer(f'no server of {self._calls!r} lives')
        return self._maximum

    def servers(self) -> int:
        """Return how many servers live, by a view whose lease holds.

        :raises vobjects.exceptions.NoLivePeer: none answers
        """
        return len(self.membership.current().servers(self._calls))

    def fleet_data(self) -> dict[str, Any]:
        """Return what this process knows of the fleet, as JSON data.

        :raises vobjects.exceptions.NoLivePeer: no server answers
        """
        view = self.membership.current()
        return as_data(view, self._calls, self._newest)

    def start(self) -> None:
        """Listen for notices and report, in the background."""
        self._server.start()
        self.membership.start()

    def stop(self) -> None:
        """Leave the fleet and close everything."""
        self._server.stop()
        self._server.wait()
        self.membership.stop()
        self._transport.cleanup()

    def _learn(self, view: View) -> None:
        if view.cap(self._calls):
            self._maximum = view.maximum(self._calls, self._newest)
        self._on_view(view)


def connect(
    conf: cfg.ConfigOpts,
    exchange: str,
    calls: str,
    error_modules: tuple[str, ...] = (),
) -> tuple[RemoteLedger, Callable[[], Any]]:
    """Return the ledger for a command that looks at it and ends.

    :returns: the ledger, and a function that closes the connection
    """
    rpc_conf.register(conf)
    opened = transport.open_transport(conf, exchange, error_modules)

    def unknown() -> View:
        raise exceptions.NoLivePeer('this process keeps no view')

    client = Client(
        opened,
        calls,
        view=unknown,
        refresh=unknown,
        timeout=conf.fleet.call_timeout,
    )
    timeout = conf.fleet.heartbeat_interval * LEASE_PERIODS
    return RemoteLedger(client, timeout), opened.cleanup
