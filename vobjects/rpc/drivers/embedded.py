# SPDX-License-Identifier: Apache-2.0
"""The driver ``embedded:///an/absolute/directory`` of oslo.messaging.

Processes of one user on one host call each other through Unix domain
sockets below the directory; there is no broker. The differences to one:

- a message lives in its sender or in one server, nowhere else: without a
  server a call waits until its timeout, and a cast raises
  MessageDeliveryFailure after ``delivery_timeout``;
- the death of a server that has a call is told to the caller at once;
- there are no notifications: they have to be kept for who is not there.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from typing import Any, NoReturn

import oslo_messaging
from oslo_config import cfg
from oslo_messaging._drivers import base, common

from vobjects.rpc.drivers import directory, errors, framing, listener, routing
from vobjects.rpc.drivers.connection import Patience
from vobjects.rpc.drivers.directory import Address
from vobjects.rpc.drivers.framing import Kind

GROUP = cfg.OptGroup(
    'embedded_messaging', title='The transport without a broker'
)
OPTS = [
    cfg.IntOpt(
        'queue_size',
        default=256,
        min=1,
        help='Messages that a server keeps waiting for a thread. When there'
        ' are as many, senders have to wait.',
    ),
    cfg.IntOpt(
        'max_frame_size',
        default=64 * 1024 * 1024,
        min=1024,
        max=framing.LARGEST,
        help='Bytes that a message or an answer may have as JSON. Set the'
        ' same value for all processes.',
    ),
    cfg.FloatOpt(
        'delivery_timeout',
        default=5.0,
        min=0.0,
        help='Seconds that a message nobody answers (a cast) may take to'
        ' reach a server. After that its sender is told that it was not'
        ' delivered.',
    ),
    cfg.FloatOpt(
        'poll_interval',
        default=0.25,
        min=0.01,
        help='Seconds between two looks for a server while there is none,'
        ' at most; the first looks follow each other faster.',
    ),
    cfg.IntOpt(
        'idle_connections',
        default=16,
        min=0,
        help='Connections that a process keeps open to each server. As many'
        ' calls at a time do not need a new one.',
    ),
]


def list_opts() -> list[tuple[str, list[Any]]]:
    """Return the options for oslo-config-generator."""
    return [(GROUP.name, list(OPTS))]


# BaseDriver and its companions are declared private, and nothing checks for
# them. They are the base all the same: a method that a later release calls
# comes with its default, and an abstract one that we lack is an error when a
# transport is opened, not in the middle of a call.
class EmbeddedDriver(base.BaseDriver):  # type: ignore[misc]
    """One transport; loaded and called by oslo.messaging.

    :param conf: gets the options of this module; the query of the URL
        overrides them: ``embedded:///run/me?queue_size=10``
    :param url: a ``TransportURL``
    :param default_exchange: of targets without one
    :param allowed_remote_exmods: modules whose exceptions may come back
    :raises oslo_messaging.InvalidTransportURL: it names no directory
    :raises vobjects.rpc.drivers.errors.UnsafeDirectory: others have access
        to the directory
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        url: Any,
        default_exchange: str | None = None,
        allowed_remote_exmods: list[str] | None = None,
    ) -> None:
        super().__init__(conf, url, default_exchange, allowed_remote_exmods)
        conf.register_group(GROUP)
        conf.register_opts(OPTS, GROUP)
        self._options = common.ConfigOptsProxy(conf, url, GROUP.name)[
            GROUP.name
        ]
        self._limit = self._options.max_frame_size
        self._directory = directory.Directory(root_of(url))
        self._router = routing.Router(
            self._directory,
            self._limit,
            self._options.idle_connections,
            self._options.poll_interval,
        )
        self._listeners: weakref.WeakSet[listener.Listener] = weakref.WeakSet()
        _drivers.add(self)

    def send(
        self,
        target: Any,
        ctxt: Any,
        message: dict[str, Any],
        wait_for_reply: bool | None = None,
        timeout: float | None = None,
        call_monitor_timeout: float | None = None,
        retry: int | None = None,
        transport_options: Any = None,
    ) -> Any:
        """Send a message.

        :param target: where to; ``fanout``: to every server of the topic
        :param ctxt: the context, a mapping or something with ``to_dict()``
        :param message: JSON data
        :param wait_for_reply: a call: return the answer
        :param timeout: seconds; None: for ever, or ``delivery_timeout``
        :param call_monitor_timeout: seconds that a call may go without a
            sign of life from the server
        :param retry: how often to look for a server again when none takes
            the message; None or -1: until the time is over
        :param transport_options: of other drivers; not used
        :raises oslo_messaging.MessagingTimeout: no answer in time, or, as
            AnswerLost, surely none to come
        :raises oslo_messaging.MessageDeliveryFailure: it was not delivered
        :raises Exception: what the server raised
        """
        address = self._address(target)
        context = ctxt if isinstance(ctxt, Mapping) else ctxt.to_dict()
        payload = framing.encode(
            [dict(context), message, call_monitor_timeout]
        )
        within = self._options.delivery_timeout
        if target.fanout:
            self._router.fanout(address, payload, within)
            return None
        if not wait_for_reply:
            patience = Patience(min(timeout or within, within))
            self._router.cast(address, payload, patience, retry)
            return None
        patience = Patience(timeout, call_monitor_timeout)
        answer = self._router.call(address, payload, patience, retry)
        if answer.kind is Kind.FAILURE:
            raise common.deserialize_remote_exception(
                answer.payload.decode(), self._allowed_remote_exmods
            )
        try:
            return framing.decode(answer.payload)
        except errors.MalformedFrame as error:
            raise errors.AnswerLost(
                f'the answer from {address} cannot be read: {error}'
            ) from None

    def send_notification(
        self,
        target: Any,
        ctxt: Any,
        message: dict[str, Any],
        version: float,
        retry: int | None = None,
    ) -> NoReturn:
        """Refuse.

        :raises NotImplementedError: always
        """
        _no_notifications()

    def listen(
        self, target: Any, batch_size: int, batch_timeout: float | None
    ) -> listener.Listener:
        """Listen as ``target.server`` on ``target.topic``.

        :param batch_size: one message at a time is what servers ask for
        :param batch_timeout: not used
        """
        made = listener.Listener(
            self._directory,
            self._address(target),
            self._limit,
            self._options.queue_size,
        )
        self._listeners.add(made)
        return made

    def listen_for_notifications(
        self,
        targets_and_priorities: Any,
        pool: str | None,
        batch_size: int,
        batch_timeout: float | None,
    ) -> NoReturn:
        """Refuse.

        :raises NotImplementedError: always
        """
        _no_notifications()

    def cleanup(self) -> None:
        """Close all connections and listeners."""
        self._router.close()
        for made in list(self._listeners):
            made.cleanup()

    def abandon(self) -> None:
        """Begin afresh in a child process; the parent's stays the parent's."""
        self._router.abandon()
        for made in self._listeners:
            made.abandon()

    def _address(self, target: Any) -> Address:
        exchange = target.exchange or self._default_exchange or ''
        return Address(exchange, target.topic, target.server)


def root_of(url: Any) -> str:
    """Return the directory that a URL names.

    :raises oslo_messaging.InvalidTransportURL: it names none
    """
    if url.hosts or not url.virtual_host:
        raise oslo_messaging.InvalidTransportURL(
            str(url),
            f'{url} names no directory; write embedded:///an/absolute/path,'
            ' with three slashes',
        )
    return os.path.normpath(f'/{url.virtual_host}')


def _no_notifications() -> NoReturn:
    raise NotImplementedError(
        'the embedded transport has no notifications: there is nothing that'
        ' would keep them for who does not listen; set'
        ' [oslo_messaging_notifications] driver to log or noop, or'
        ' transport_url to a broker'
    )


_drivers: weakref.WeakSet[EmbeddedDriver] = weakref.WeakSet()


def _after_fork() -> None:
    for driver in _drivers:
        driver.abandon()


os.register_at_fork(after_in_child=_after_fork)
