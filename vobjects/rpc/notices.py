# SPDX-License-Identifier: Apache-2.0
"""Short notices to every process of a topic: "the fleet changed", "work".

A notice only says that something is worth a look; what is true is read from
the ledger or the database. One that is lost costs a period of waiting, so
nothing is ever tried twice for one.
"""

from __future__ import annotations

import contextlib
import contextvars
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import oslo_messaging

LOG = logging.getLogger(__name__)

FLEET = 'fleet'
WORK = 'work'

_NAMESPACE = 'vobjects.notices'

#: RabbitMQ forgets a fanout exchange with its last consumer, and the driver
#: calls it an error when nobody is left to hear. Here that is normal.
_DRIVER_LOG = logging.getLogger('oslo.messaging._drivers.impl_rabbit')

_sending: contextvars.ContextVar[bool] = contextvars.ContextVar(
    'vobjects_sending_notice', default=False
)


class Receiver:
    """The endpoint of an RPC server that hears notices.

    :param listeners: kind of notice -> what to call; it must return soon
    """

    target = oslo_messaging.Target(namespace=_NAMESPACE, version='1.0')

    def __init__(self, listeners: Mapping[str, Callable[[], None]]) -> None:
        self._listeners = dict(listeners)

    def notice(self, context: Any, kind: str) -> None:
        """Hear a notice; kinds this build does not know are nobody's."""
        listener = self._listeners.get(kind)
        if listener is not None:
            listener()


class Sender:
    """Tells every process that serves one of the topics.

    :param transport: an ``oslo_messaging.Transport``
    """

    def __init__(self, transport: Any, topics: tuple[str, ...]) -> None:
        self._clients = {
            topic: oslo_messaging.get_rpc_client(
                transport,
                oslo_messaging.Target(
                    topic=topic,
                    namespace=_NAMESPACE,
                    version='1.0',
                    fanout=True,
                ),
                retry=0,
            )
            for topic in topics
        }

    def send(self, kind: str) -> None:
        """Send a notice; a failure is logged, never raised."""
        for topic, client in self._clients.items():
            try:
                with _unheard_is_normal():
                    client.cast({}, 'notice', kind=kind)
            except oslo_messaging.MessagingException as error:
                LOG.info(
                    'Nobody of %s heard notice %r: %s', topic, kind, error
                )


@contextlib.contextmanager
def _unheard_is_normal() -> Iterator[None]:
    """Keep the driver from logging what :meth:`Sender.send` logs itself."""
    token = _sending.set(True)
    try:
        yield
    finally:
        _sending.reset(token)


def _is_of_interest(record: logging.LogRecord) -> bool:
    return not _sending.get()


_DRIVER_LOG.addFilter(_is_of_interest)
