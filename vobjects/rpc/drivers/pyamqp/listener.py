# SPDX-License-Identifier: Apache-2.0
"""Consume messages for a server, on a separate connection.

A call is acknowledged when the broker has its response. If the server is
killed before that, the broker immediately redelivers the call to another one;
a handler recognizes a repeated call, see
:func:`vobjects.rpc.server.current_call`. A redelivered call is acknowledged
when it arrives: a call that crashes servers crashes two of them, and not all.
A cast is acknowledged when it arrives, as by oslo.messaging's own driver.
"""

from __future__ import annotations

import collections
import logging
import threading
from collections.abc import Callable
from typing import Any

import amqp
import oslo_messaging

from vobjects.rpc.drivers import oslo_api, remote_errors
from vobjects.rpc.drivers.pyamqp import message_format, topology
from vobjects.rpc.drivers.pyamqp.broker_connection import (
    BrokerChannel,
    BrokerConnection,
)
from vobjects.rpc.drivers.pyamqp.link import Link, OutageLog
from vobjects.rpc.drivers.pyamqp.message_format import Request
from vobjects.rpc.drivers.pyamqp.responses import OnEnd, ResponseSender
from vobjects.rpc.drivers.pyamqp.settings import Settings

LOG = logging.getLogger(__name__)

#: Ids of received messages to remember, to recognize repeated deliveries.
MAX_IDS = 4096

#: Maximum time to stop consuming, to acknowledge calls, and to delete a queue,
#: in seconds.
STOP_TIMEOUT = 6.0

OnIncoming = Callable[[list[Any]], None]


class Consumption:
    """Consumes from queues, on a separate connection.

    :param queues: the queues to create and to consume from; those with the
        same name are one queue with several bindings
    :param on_message: receives each message, and the channel it came from
    """

    def __init__(
        self,
        settings: Settings,
        outages: OutageLog,
        queues: list[topology.Queue],
        on_message: Callable[[BrokerChannel, amqp.Message], None],
    ) -> None:
        self._settings = settings
        self._queues = queues
        self._names = list(dict.fromkeys(queue.name for queue in queues))
        self._on_message = on_message
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

    def stop(self) -> None:
        """Stop consuming; messages that have arrived can be acknowledged."""
        self._is_consuming = False
        channel = self._channel
        if channel is None:
            return
        channel.timeout = STOP_TIMEOUT
        try:
            for name in self._names:
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
            lambda message: self._on_message(channel, message),
            consume_again,
            arguments=self._settings.consumer_arguments,
        )


class Listener(oslo_api.Listener):  # type: ignore[misc]
    """Receives the messages for a server.

    :param queues: the queues to create and to consume from
    :param responses: sends the responses to calls
    """

    def __init__(
        self,
        settings: Settings,
        outages: OutageLog,
        queues: list[topology.Queue],
        responses: ResponseSender,
    ) -> None:
        super().__init__(1, None, settings.prefetch)
        self._responses = responses
        self._known_ids: collections.OrderedDict[str | None, None] = (
            collections.OrderedDict()
        )
        self._changed = threading.Condition()
        #: Number of calls to acknowledge.
        self._pending = 0
        self.consumption = Consumption(
            settings, outages, queues, self._receive
        )

    def start(self, on_incoming_callback: OnIncoming) -> None:
        """Pass on messages.

        :param on_incoming_callback: receives each message, in a list of length
            one
        """
        super().start(on_incoming_callback)
        self.consumption.start()

    def stop(self) -> None:
        """Stop consuming; calls in progress continue."""
        self.consumption.stop()
        super().stop()

    def cleanup(self) -> None:
        """Acknowledge the handled calls and disconnect."""
        with self._changed:
            self._changed.wait_for(lambda: not self._pending, STOP_TIMEOUT)
        self.consumption.close()

    def _receive(self, channel: BrokerChannel, message: amqp.Message) -> None:
        callback = self.on_incoming_callback
        if callback is None:
            return  # stopped: the broker redelivers the message
        tag = message.delivery_info['delivery_tag']
        try:
            request = message_format.split_request(
                message_format.decode(message)
            )
        except Exception:
            LOG.exception('Dropped a message that cannot be read')
            channel.basic_reject(tag, requeue=False)
            return
        if request.unique_id in self._known_ids:
            LOG.debug('Received message %s again', request.unique_id)
            channel.basic_ack(tag)
            return
        acknowledge: OnEnd = _ignore
        if request.call_id and not message.delivery_info['redelivered']:
            acknowledge = self._late_acknowledgement(
                channel, tag, request.unique_id
            )
        else:
            channel.basic_ack(tag)
        callback([IncomingMessage(request, self._responses, acknowledge)])
        # Not before: the broker redelivers the message if one of them fails.
        self._remember(request.unique_id)

    def _late_acknowledgement(
        self, channel: BrokerChannel, tag: int, unique_id: str | None
    ) -> OnEnd:
        with self._changed:
            self._pending += 1

        def acknowledge(is_done: bool) -> None:
            try:
                if is_done:
                    channel.basic_ack(tag)
                else:
                    self._known_ids.pop(unique_id, None)
                    channel.basic_reject(tag, requeue=True)
            except (OSError, amqp.AMQPError) as error:
                # The broker redelivers the call.
                LOG.debug('Could not acknowledge a call: %s', error)
            finally:
                with self._changed:
                    self._pending -= 1
                    if not self._pending:
                        self._changed.notify_all()

        return acknowledge

    def _remember(self, unique_id: str | None) -> None:
        """Remember a message, to recognize a further delivery.

        A message is redelivered if the connection was lost before its
        acknowledgement, although this process handles it or has handled it.
        """
        if unique_id is None:
            return
        self._known_ids[unique_id] = None
        if len(self._known_ids) > MAX_IDS:
            self._known_ids.popitem(last=False)


class IncomingMessage(oslo_api.RpcIncomingMessage):  # type: ignore[misc]
    """A message, in the form that oslo.messaging's server expects.

    :param acknowledge: acknowledges a call
    """

    def __init__(
        self,
        request: Request,
        responses: ResponseSender,
        acknowledge: OnEnd,
    ) -> None:
        super().__init__(request.context, request.content, request.call_id)
        self.client_timeout = request.monitor
        self._call_id = request.call_id
        self._reply_queue = request.reply_queue
        self._responses = responses
        self._acknowledge = acknowledge

    def acknowledge(self) -> None:
        """Do nothing: the response acknowledges a call."""

    def requeue(self) -> None:
        """Do nothing, like oslo.messaging's own driver."""

    def reply(self, reply: Any = None, failure: Any = None) -> None:
        """Send the response to a call; casts have none.

        :param reply: JSON data
        :param failure: an error as returned by ``sys.exc_info()``
        """
        if self._call_id is None:
            return
        try:
            text = remote_errors.describe(failure) if failure else None
            body = message_format.encode_response(self._call_id, reply, text)
        except Exception as error:  # noqa: BLE001 - the caller gets it
            text = remote_errors.describe_unsendable(
                error, self.message.get('method')
            )
            body = message_format.encode_response(self._call_id, None, text)
        self._responses.send(self._reply_queue, body, self._acknowledge)

    def heartbeat(self) -> None:
        """Inform the caller that the call is still in progress.

        :raises oslo_messaging.MessageDeliveryFailure: the caller has left
        """
        if self._call_id is None:
            return
        body = message_format.encode_response(
            self._call_id, None, None, ending=False
        )
        if not self._responses.send_heartbeat(self._reply_queue, body):
            raise oslo_messaging.MessageDeliveryFailure(
                'the queue of the caller does not exist'
            )


def _ignore(is_done: bool) -> None:
    """Do nothing: the message is already acknowledged."""
