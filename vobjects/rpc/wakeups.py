# SPDX-License-Identifier: Apache-2.0
"""Wake the processes of a topic: "the fleet changed" or "there is work".

A wakeup only asks its receivers to check the ledger or the database, which
hold the state. A lost wakeup delays that check by one period, so wakeups are
never retried.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import oslo_messaging

LOG = logging.getLogger(__name__)

FLEET = 'fleet'
WORK = 'work'

#: A kind that all receivers ignore.
CONNECTED = 'connected'

_NAMESPACE = 'vobjects.notices'


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

    def send(self, kind: str) -> None:
        """Send a wakeup; failures are logged, not raised."""
        for topic, client in self._clients.items():
            try:
                client.cast({}, 'notice', kind=kind)
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
    client.cast({}, 'notice', kind=CONNECTED)


def _target(topic: str) -> Any:
    return oslo_messaging.Target(
        topic=topic, namespace=_NAMESPACE, version='1.0', fanout=True
    )
