# SPDX-License-Identifier: Apache-2.0
"""Wake the processes of a topic: "the fleet changed" or "there is work".

A wakeup only asks its receivers to check the ledger or the database, which
hold the state. A lost wakeup delays that check by one period, so wakeups are
never retried.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import oslo_messaging

from vobjects.rpc import call_limits, late_ack

LOG = logging.getLogger(__name__)

FLEET = 'fleet'
WORK = 'work'

#: A kind that all receivers ignore.
CONNECTED = 'connected'

#: Maximum duration of sending a wakeup, in seconds, and maximum number of
#: threads that may be blocked.
_SEND_TIMEOUT = 5.0
_SEND_THREADS = 4

_NAMESPACE = 'vobjects.notices'

#: RabbitMQ deletes a fanout exchange with its last consumer, and the driver
#: logs an error when it sends to one. For wakeups this is normal.
_DRIVER_LOG = logging.getLogger('oslo.messaging._drivers.impl_rabbit')

_sending: contextvars.ContextVar[bool] = contextvars.ContextVar(
    'vobjects_sending_wakeup', default=False
)


class WakeupEndpoint:
    """The endpoint of an RPC server that receives wakeups.

    :param listeners: kind of wakeup -> function to call; it must return
        quickly
    """

    target = oslo_messaging.Target(namespace=_NAMESPACE, version='1.0')

    def __init__(self, listeners: Mapping[str, Callable[[], None]]) -> None:
        self._listeners = dict(listeners)

    def notice(self, context: Any, kind: str) -> None:
        """Handle a wakeup; ignore kinds that this build does not know."""
        listener = self._listeners.get(kind)
        if listener is not None:
            listener()


class WakeupSender:
    """Wakes every process that serves one of the topics.

    :param transport: an ``oslo_messaging.Transport``
    :param topics: topics of the receivers
    """

    def __init__(self, transport: Any, topics: tuple[str, ...]) -> None:
        self._clients = {
            topic: oslo_messaging.get_rpc_client(
                transport, _target(topic), retry=0
            )
            for topic in topics
        }
        # The embedded driver limits the time itself.
        self._executor = (
            call_limits.TimeoutExecutor(_SEND_THREADS)
            if late_ack.on_rabbitmq(transport)
            else None
        )

    def send(self, kind: str) -> None:
        """Send a wakeup; failures are logged, not raised."""
        for topic, client in self._clients.items():
            cast = functools.partial(_cast, client, kind)
            try:
                if self._executor is None:
                    cast()
                else:
                    self._executor.run(cast, _SEND_TIMEOUT)
            except oslo_messaging.MessagingException as error:
                LOG.info(
                    'Cannot send wakeup %r to topic %s: %s', kind, topic, error
                )


def probe(transport: Any, topic: str, retry: int) -> None:
    """Send the servers of a topic a wakeup that they ignore.

    :param transport: an ``oslo_messaging.Transport``
    :param topic: topic of the servers
    :param retry: number of further attempts, each with the next host
    :raises Exception: any error of the driver when it cannot connect
    """
    client = oslo_messaging.get_rpc_client(
        transport, _target(topic), retry=retry
    )
    _cast(client, CONNECTED)


def _target(topic: str) -> Any:
    return oslo_messaging.Target(
        topic=topic, namespace=_NAMESPACE, version='1.0', fanout=True
    )


def _cast(client: Any, kind: str) -> None:
    with _without_driver_log():
        client.cast({}, 'notice', kind=kind)


@contextlib.contextmanager
def _without_driver_log() -> Iterator[None]:
    """Suppress log lines that :meth:`WakeupSender.send` would repeat."""
    token = _sending.set(True)
    try:
        yield
    finally:
        _sending.reset(token)


def _is_not_sending(record: logging.LogRecord) -> bool:
    return not _sending.get()


_DRIVER_LOG.addFilter(_is_not_sending)
