# SPDX-License-Identifier: Apache-2.0
"""Consume messages from queues, on a separate connection."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable

import amqp

from oslo_messaging_pyamqp import frames, message_format, topology
from oslo_messaging_pyamqp.bindings import Bindings
from oslo_messaging_pyamqp.broker_connection import (
    BrokerChannel,
    BrokerConnection,
)
from oslo_messaging_pyamqp.link import Link, OutageLog
from oslo_messaging_pyamqp.message_format import Request
from oslo_messaging_pyamqp.settings import Settings

LOG = logging.getLogger(__name__)

#: Maximum time to stop consuming, and to delete a queue, in seconds.
STOP_TIMEOUT = 6.0


@dataclasses.dataclass(slots=True)
class Delivery:
    """The delivery of a message, which the broker wants to be acknowledged.

    Only the first of :meth:`acknowledge` and :meth:`reject` has an effect.

    :ivar channel: the channel it came from
    :ivar tag: its number on the channel
    :ivar is_redelivered: whether the broker has delivered the message before
    """

    channel: BrokerChannel
    tag: int
    is_redelivered: bool
    _is_settled: bool = False

    def acknowledge(self) -> None:
        """Acknowledge the message; any thread may do so."""
        self._settle(self.channel.acknowledge)

    def reject(self, *, requeue: bool) -> None:
        """Reject the message.

        :param requeue: whether the broker delivers it again
        """
        self._settle(self.channel.basic_reject, requeue)

    def _settle(self, method: Callable[..., None], *options: bool) -> None:
        # The broker closes the channel after a second acknowledgement.
        if self._is_settled:
            return
        self._is_settled = True
        try:
            method(self.tag, *options)
        except (OSError, amqp.AMQPError) as error:
            # The broker redelivers the message.
            LOG.debug('Could not acknowledge a message: %s', error)


OnRequest = Callable[[Request, Delivery], None]


class Consumption:
    """Consumes from queues, on a separate connection.

    :param queues: the queues to create and to consume from; those with the
        same name are one queue with several bindings
    :param on_request: receives each message and its source
    """

    def __init__(
        self,
        settings: Settings,
        outages: OutageLog,
        queues: list[topology.Queue],
        on_request: OnRequest,
    ) -> None:
        self._settings = settings
        self._queues = queues
        self._names = list(dict.fromkeys(queue.name for queue in queues))
        self._on_request = on_request
        self._channel: BrokerChannel | None = None
        self._is_consuming = False
        self.link = Link(
            f'rabbitmq-{queues[0].name}',
            settings,
            outages,
            self._open,
            lambda error: None,
        )

    def start(self) -> None:
        """Start consuming."""
        self._is_consuming = True
        channel = self._channel
        try:
            for name in self._names:
                if channel is not None:
                    self._consume(channel, name)
        except (OSError, amqp.AMQPError) as error:
            LOG.debug('Consuming after the next connection: %s', error)
            self.link.abort()

    def drain(self) -> None:
        """Consume only from the queues that only this process knows."""
        shared = self._names
        self._names = [q.name for q in self._queues if q.is_private]
        self._cancel([name for name in shared if name not in self._names])

    def stop(self) -> None:
        """Stop consuming; messages that have arrived can be acknowledged."""
        self._is_consuming = False
        self._cancel(self._names)

    def _cancel(self, names: list[str]) -> None:
        channel = self._channel
        if channel is None:
            return
        channel.timeout = STOP_TIMEOUT
        try:
            for name in names:
                channel.basic_cancel(name)
        except (OSError, amqp.AMQPError) as error:
            LOG.info('Could not cancel consumption: %s', error)

    def close(self) -> None:
        """Delete the queues that only this process knows, and disconnect."""
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.timeout = STOP_TIMEOUT
        try:
            for queue in self._queues:
                if queue.is_private and channel is not None:
                    channel.queue_delete(queue.name)
        except (OSError, amqp.AMQPError) as error:
            LOG.info('Could not delete a queue: %s', error)
            self.link.abort()
        self.link.close()

    def _open(self, connection: BrokerConnection) -> None:
        channel = connection.channel()
        for queue in self._queues:
            topology.declare_queue(channel, queue)
        if self._settings.prefetch:
            channel.basic_qos(0, self._settings.prefetch, False)
        self._channel = channel
        if self._is_consuming:
            for name in self._names:
                self._consume(channel, name)
        Bindings(connection, self._bound).keep()

    def _bound(self) -> list[topology.Queue]:
        return [
            queue
            for queue in self._queues
            if queue.name in self._names and queue.exchange.name
        ]

    def _consume(self, channel: BrokerChannel, name: str) -> None:
        def consume_again() -> None:
            LOG.warning('RabbitMQ cancelled the consumer of %s', name)
            # A declaration that the broker rejects closes its channel, which
            # would end the other consumers.
            setup = channel.connection.channel()
            for queue in self._queues:
                if queue.name == name:
                    topology.declare_queue(setup, queue)
            setup.close()
            self._consume(channel, name)
            LOG.warning('Consuming from %s again', name)

        channel.consume(
            name,
            lambda message: self._receive(channel, message),
            consume_again,
            arguments=self._settings.consumer_arguments,
        )

    def _receive(
        self, channel: BrokerChannel, message: frames.Delivered
    ) -> None:
        delivery = Delivery(channel, message.tag, message.is_redelivered)
        if message.is_redelivered:
            if not self._is_consuming:
                return  # the broker redelivers the message to another server
            # Before decoding it: that may be what crashes servers.
            delivery.acknowledge()
        try:
            request = message_format.split_request(
                message_format.decode(message)
            )
        except Exception:
            LOG.exception('Dropped a message that cannot be read')
            delivery.reject(requeue=False)
        else:
            self._on_request(request, delivery)
