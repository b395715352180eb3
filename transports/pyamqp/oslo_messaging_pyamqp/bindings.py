# SPDX-License-Identifier: Apache-2.0
"""Keep queues bound to their exchanges.

If an exchange is deleted, the broker deletes its bindings and tells no
consumer. A message to all servers then reaches none, even if its sender
creates the exchange again, so each binding is repeated at intervals.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

import amqp

from oslo_messaging_pyamqp import topology
from oslo_messaging_pyamqp.broker_connection import BrokerConnection
from oslo_messaging_pyamqp.link import describe

LOG = logging.getLogger(__name__)

#: Seconds between repetitions of the bindings.
INTERVAL = 10.0


class Bindings:
    """Bindings of the queues from which a connection consumes.

    :param connection: repeats the bindings on a channel of its own, because
        the broker closes the channel of a binding that it rejects
    :param bound: returns the queues that have bindings at the moment
    """

    def __init__(
        self,
        connection: BrokerConnection,
        bound: Callable[[], Sequence[topology.Queue]],
    ) -> None:
        self._connection = connection
        self._bound = bound
        self._channel = connection.channel()
        self._next_time = time.monotonic() + INTERVAL

    def keep(self) -> None:
        """Begin to repeat the bindings."""
        self._channel.on_error = self._declare
        self._connection.on_tick = self._repeat

    def _repeat(self) -> None:
        if time.monotonic() < self._next_time:
            return
        self._next_time = time.monotonic() + INTERVAL
        for queue in self._bound():
            self._channel.queue_bind(
                queue.name,
                queue.exchange.name,
                routing_key=queue.routing_key,
                nowait=True,
            )

    def _declare(self, error: amqp.ChannelError) -> None:
        """Create the exchanges, the queues and their bindings again."""
        LOG.warning('A binding is lost: %s', describe(error))
        # Not on the channel of the bindings, which could not report an error.
        setup = self._connection.channel()
        try:
            for queue in self._bound():
                topology.declare_queue(setup, queue)
        except amqp.ChannelError as reason:
            LOG.warning('Cannot bind again: %s', describe(reason))
        setup.close()
