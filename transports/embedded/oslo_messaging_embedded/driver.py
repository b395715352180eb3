# SPDX-License-Identifier: Apache-2.0
"""The oslo.messaging driver for ``embedded:///an/absolute/directory``.

Processes of one user on one host call each other through Unix domain sockets
below the directory, without a broker. It differs from a broker as follows:

- A message is held by its sender or by one server. Without a server, a call
  waits until its timeout, and a cast raises MessageDeliveryFailure after
  ``delivery_timeout``, even if its own timeout is longer.
- If a server dies during a call, the caller gets an error immediately.
- Notifications are not supported: nothing could store them while their
  receivers are down.
"""

from __future__ import annotations

import os
import weakref
from typing import Any, NoReturn

import oslo_messaging
from oslo_config import cfg

from oslo_messaging_driverlib import base, oslo_api, remote_errors
from oslo_messaging_driverlib.base import OutgoingMessage
from oslo_messaging_driverlib.deadline import Deadline, Seconds
from oslo_messaging_driverlib.errors import AnswerLost
from oslo_messaging_embedded import (
    directory,
    errors,
    framing,
    listener,
    routing,
)
from oslo_messaging_embedded.directory import Address
from oslo_messaging_embedded.framing import FrameKind

GROUP = cfg.OptGroup(
    'embedded_messaging', title='The transport without a broker'
)
OPTS = [
    cfg.IntOpt(
        'queue_size',
        default=256,
        min=1,
        help='Maximum number of messages that wait for a thread of a server.'
        ' While the queue is full, senders wait.',
    ),
    cfg.IntOpt(
        'max_frame_size',
        default=64 * 1024 * 1024,
        min=1024,
        max=framing.MAX_PAYLOAD,
        help='Maximum size of a message or response as JSON, in bytes. Set'
        ' the same value for all processes.',
    ),
    cfg.Opt(
        'delivery_timeout',
        Seconds(min=0.0),
        default=5.0,
        help='Seconds within which a cast (a message without a response) must'
        ' reach a server. After that, the sender gets a delivery error.',
    ),
    cfg.Opt(
        'poll_interval',
        Seconds(min=0.01, max=3600.0),
        default=0.25,
        help='Maximum number of seconds between searches for a server while'
        ' none is running. The first searches follow each other faster.',
    ),
    cfg.IntOpt(
        'idle_connections',
        default=16,
        min=0,
        help='Maximum number of idle connections that a process keeps open to'
        ' each server. That many concurrent calls need no new connection.',
    ),
]


def list_opts() -> list[tuple[str, list[Any]]]:
    """Return the options for oslo-config-generator."""
    return [(GROUP.name, list(OPTS))]


class EmbeddedDriver(base.Driver):
    """One transport; oslo.messaging loads and calls it.

    :param conf: configuration, where the options of this module are
        registered; the query of the URL overrides them:
        ``embedded:///run/me?queue_size=10``
    :param url: a ``TransportURL``
    :param default_exchange: exchange of targets that name none
    :param allowed_remote_exmods: modules whose exceptions may be raised again
        at the caller
    :raises oslo_messaging.InvalidTransportURL: the URL names no directory
    :raises oslo_messaging_embedded.errors.UnsafeDirectory: other users have
        access to the directory
    """

    has_broker = False

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
        self._options = oslo_api.ConfigOptsProxy(conf, url, GROUP.name)[
            GROUP.name
        ]
        self._limit = self._options.max_frame_size
        self._directory = directory.Directory(directory_from_url(url))
        self._router = routing.Router(
            self._directory,
            self._limit,
            self._options.idle_connections,
            self._options.poll_interval,
        )
        self._listeners: weakref.WeakSet[listener.Listener] = weakref.WeakSet()

    def _call(self, outgoing: OutgoingMessage) -> Any:
        deadline = Deadline(outgoing.timeout, outgoing.monitor)
        frame = self._send(FrameKind.CALL, outgoing, deadline)
        if frame.kind is FrameKind.FAILURE:
            raise remote_errors.rebuild(
                frame.payload.decode(), self._allowed_remote_exmods
            )
        try:
            return framing.decode(frame.payload)
        except errors.MalformedFrame as error:
            raise AnswerLost(
                f'the response from {self._address(outgoing.target)} cannot be'
                f' read: {error}'
            ) from None

    def _cast(self, outgoing: OutgoingMessage) -> None:
        limit = self._options.delivery_timeout
        if outgoing.target.fanout:
            self._router.fanout(
                self._address(outgoing.target), _encode(outgoing), limit
            )
            return
        timeout = outgoing.timeout
        deadline = Deadline(limit if timeout is None else min(timeout, limit))
        self._send(FrameKind.CAST, outgoing, deadline)

    def _send(
        self, kind: FrameKind, outgoing: OutgoingMessage, deadline: Deadline
    ) -> framing.Frame:
        return self._router.send(
            kind,
            self._address(outgoing.target),
            _encode(outgoing),
            deadline,
            outgoing.retry,
        )

    def send_notification(
        self,
        target: Any,
        ctxt: Any,
        message: dict[str, Any],
        version: float,
        retry: int | None = None,
    ) -> NoReturn:
        """Raise an error: notifications are not supported.

        :raises NotImplementedError: always
        """
        _no_notifications()

    def listen(
        self, target: Any, batch_size: int, batch_timeout: float | None
    ) -> listener.Listener:
        """Listen as ``target.server`` on ``target.topic``.

        :param batch_size: not used; servers request batches of one message
        :param batch_timeout: not used
        """
        new_listener = listener.Listener(
            self._directory,
            self._address(target),
            self._limit,
            self._options.queue_size,
        )
        self._listeners.add(new_listener)
        return new_listener

    def listen_for_notifications(
        self,
        targets_and_priorities: Any,
        pool: str | None,
        batch_size: int,
        batch_timeout: float | None,
    ) -> NoReturn:
        """Raise an error: notifications are not supported.

        :raises NotImplementedError: always
        """
        _no_notifications()

    def cleanup(self) -> None:
        """Close all connections and listeners."""
        self._router.close()
        for each in list(self._listeners):
            each.cleanup()

    def reset_in_child(self) -> None:
        """Close everything inherited from the parent in a child process."""
        self._router.close_in_child()
        for each in self._listeners:
            each.close_in_child()

    def _address(self, target: Any) -> Address:
        return Address(self._exchange(target), target.topic, target.server)


def directory_from_url(url: Any) -> str:
    """Return the directory that a URL names.

    :param url: a ``TransportURL``
    :raises oslo_messaging.InvalidTransportURL: it names no directory
    """
    if url.hosts or not url.virtual_host:
        raise oslo_messaging.InvalidTransportURL(
            str(url),
            'the URL names no directory; write embedded:///an/absolute/path,'
            ' with three slashes',
        )
    return os.path.normpath(f'/{url.virtual_host}')


def _encode(outgoing: OutgoingMessage) -> bytes:
    return framing.encode(
        [dict(outgoing.context), outgoing.content, outgoing.monitor]
    )


def _no_notifications() -> NoReturn:
    raise NotImplementedError(
        'the embedded transport has no notifications, because nothing could'
        ' store them for receivers that are down; set'
        ' [oslo_messaging_notifications] driver to log or noop, or'
        ' transport_url to a broker'
    )
