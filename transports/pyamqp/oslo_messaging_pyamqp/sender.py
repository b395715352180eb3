# SPDX-License-Identifier: Apache-2.0
"""The connection of a process for messages to servers and for responses."""

from __future__ import annotations

import logging
import threading

import amqp
import oslo_messaging

from oslo_messaging_driverlib.deadline import Deadline, Holding
from oslo_messaging_pyamqp import frames, message_format, topology
from oslo_messaging_pyamqp.broker_connection import (
    METHOD_TIMEOUT,
    BrokerChannel,
    BrokerConnection,
)
from oslo_messaging_pyamqp.calls import PendingCalls
from oslo_messaging_pyamqp.link import (
    REJECTIONS,
    Link,
    OutageLog,
    describe,
)
from oslo_messaging_pyamqp.publisher import Publisher
from oslo_messaging_pyamqp.responses import ResponseSender
from oslo_messaging_pyamqp.settings import Settings

LOG = logging.getLogger(__name__)


class Sender:
    """Publishes messages and receives responses to calls, on one connection.

    :ivar publisher: publishes messages
    :ivar calls: the calls that wait
    :ivar responses: sends responses to the calls of other processes
    """

    def __init__(self, settings: Settings, outages: OutageLog) -> None:
        self._link = Link(
            'rabbitmq-sender', settings, outages, self._open, self._lost
        )
        self.publisher = Publisher(settings, self._link)
        self.calls = PendingCalls()
        self.responses = ResponseSender(
            self.publisher, settings.missing_queue_timeout
        )
        self._reply_queue = topology.reply_queue(settings)
        self._lock = threading.Lock()
        self._has_calls = False
        self._channel: BrokerChannel | None = None
        self._subscribed: BrokerChannel | None = None

    def start(self) -> None:
        """Start connecting, so that the first message need not wait."""
        self._link.start()

    def reply_queue(self, deadline: Deadline, retry: int | None) -> str:
        """Return the queue for responses; the first call creates it.

        :param retry: see :meth:`Link.wait`
        :raises oslo_messaging.MessageDeliveryFailure: too many attempts to
            connect, or the broker rejects the queue
        :raises TimeoutError: the timeout expired
        """
        while self._subscribed is None:
            self._link.wait(deadline, retry)
            timeout = deadline.remaining()
            with Holding(self._lock, timeout):
                self._has_calls = True
                channel = self._channel
                try:
                    if channel is not None and self._subscribed is not channel:
                        channel.timeout = min(
                            timeout or METHOD_TIMEOUT, METHOD_TIMEOUT
                        )
                        self._subscribe(channel)
                except REJECTIONS as error:
                    raise oslo_messaging.MessageDeliveryFailure(
                        f'RabbitMQ rejects the reply queue: {describe(error)}'
                    ) from error
                except (OSError, amqp.AMQPError) as error:
                    LOG.debug('Creating the reply queue again: %s', error)
                    deadline.remaining()
                    self._link.abort()
        return self._reply_queue.name

    def problem(self) -> str:
        """Return why messages cannot be sent, as the end of a sentence."""
        problem = self._link.problem()
        return f': {problem}' if problem else ''

    def close(self) -> None:
        """Drop unsent responses and disconnect."""
        self.responses.close()
        self._link.close()

    def close_in_child(self) -> None:
        """Release the parent's connection in a child process."""
        self._link.close_in_child()

    def _open(self, connection: BrokerConnection) -> None:
        self.publisher.open(connection)
        channel = connection.channel()
        if self._has_calls:
            self._subscribe(channel)
        self._channel = channel

    def _lost(self, error: Exception) -> None:
        self._channel = self._subscribed = None
        self.publisher.close(error)
        self.calls.fail(error)

    def _subscribe(self, channel: BrokerChannel) -> None:
        def subscribe_again() -> None:
            error = ConnectionError('RabbitMQ has deleted the reply queue')
            self.calls.fail(error)
            self._subscribe(channel)

        topology.declare_queue(channel, self._reply_queue)
        # Without acknowledgements: after the loss of the connection, the
        # callers have got an error and no longer wait for the responses.
        channel.consume(
            self._reply_queue.name, self._receive, subscribe_again, no_ack=True
        )
        self._subscribed = channel

    def _receive(self, message: frames.Delivered) -> None:
        try:
            self.calls.receive(message_format.decode(message))
        except Exception:
            LOG.exception('Dropped a response that cannot be read')
