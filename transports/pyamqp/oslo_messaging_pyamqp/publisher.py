# SPDX-License-Identifier: Apache-2.0
"""Publish messages, and learn from the broker what became of them.

All threads of a process publish on one connection, without waiting for each
other's confirmations. A :class:`Publication` is settled once:

======================  ====================================================
error                   state of the message
======================  ====================================================
none                    the broker has it
MessageUndeliverable    no queue has it, and the sender requires one
Nacked                  the broker has dropped it: a queue is full, or its
                        leader is down
Uncertain               the connection was lost before the confirmation
ChannelClosed           the broker has refused this message or another one
======================  ====================================================
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import amqp
import oslo_messaging

from oslo_messaging_driverlib.deadline import Deadline, Holding
from oslo_messaging_pyamqp import message_format, topology
from oslo_messaging_pyamqp.broker_connection import (
    METHOD_TIMEOUT,
    BrokerChannel,
    BrokerConnection,
)
from oslo_messaging_pyamqp.link import Link, describe
from oslo_messaging_pyamqp.settings import Settings

LOG = logging.getLogger(__name__)

#: Maximum number of messages without confirmation on a channel. Further
#: messages wait, so that a broker that confirms nothing fills no memory. Each
#: thread may exceed it by one.
MAX_UNCONFIRMED = 1000

#: Attempts to send a message at which the broker may close the channel. It
#: does so for a message that it refuses, and for all others on the channel.
MAX_REFUSALS = 3

#: Attempts to send a message that the broker drops, and seconds between them.
MAX_NACKS = 5
NACK_PAUSE = 0.5

#: Seconds between replacements of a channel whose messages are dropped.
REPLACE_INTERVAL = 1.0

#: Seconds until another attempt on a connection that was just lost.
PAUSE = 0.01


class Rejected(oslo_messaging.MessageDeliveryFailure):  # type: ignore[misc]
    """AMQP cannot express a message, or the broker did not accept it."""


class Nacked(Rejected):
    """The broker has dropped a message."""


class Uncertain(Exception):
    """The broker may or may not have a message."""


class ChannelClosed(Uncertain):
    """The broker has closed the channel, perhaps because of the message."""


class Publication:
    """A message to publish.

    :param exchange: its exchange
    :param routing_key: name of the queue, or its routing key
    :param body: the encoded message
    :param settle: called once with the outcome, in the reading thread; it must
        return quickly
    :param mandatory: whether a queue must receive the message
    :param expiration: seconds after which the broker may drop the message
    """

    __slots__ = (
        'body',
        'exchange',
        'expiration',
        'mandatory',
        'returned',
        'routing_key',
        'settle',
    )

    def __init__(
        self,
        exchange: topology.Exchange,
        routing_key: str,
        body: bytes,
        settle: Callable[[Exception | None], None],
        *,
        mandatory: bool = False,
        expiration: float | None = None,
    ) -> None:
        self.exchange = exchange
        self.routing_key = routing_key
        self.body = body
        self.settle = settle
        self.mandatory = mandatory
        self.expiration = expiration
        self.returned: Exception | None = None


class Lane:
    """A channel with confirmations.

    :param compression: kombu's name of a compression method; empty: none
    :param on_error: called when the broker has closed the channel
    :param on_nack: called in the reading thread before a message is settled
        that the broker has dropped
    """

    def __init__(
        self,
        compression: str,
        on_error: Callable[[], None],
        on_nack: Callable[[Lane], None],
    ) -> None:
        self._compression = compression
        self._on_error = on_error
        self._notify_nack = on_nack
        # Numbers follow the order of the messages on the channel.
        self._lock = threading.Lock()
        self._has_room = threading.Condition(self._lock)
        self._channel: BrokerChannel | None = None
        self._number = 0
        self._unsettled: dict[int, Publication] = {}

    def open(self, channel: BrokerChannel) -> None:
        """Use a channel; call it in the reading thread."""
        channel.confirm_select()
        channel.events['basic_ack'].add(self._on_ack)
        channel.events['basic_nack'].add(self._on_nack)
        channel.events['basic_return'].add(self._on_return)
        channel.on_closing = self._detach
        channel.on_error = lambda error: self._reopen(channel, error)
        with self._lock:
            self._channel, self._number = channel, 0

    @property
    def is_full(self) -> bool:
        """Whether too many messages wait for their confirmation."""
        return len(self._unsettled) >= MAX_UNCONFIRMED

    def wait_for_room(self, deadline: Deadline) -> None:
        """Wait until the broker has confirmed enough messages.

        :raises TimeoutError: the timeout expired
        """
        if not self.is_full:
            return
        with Holding(self._lock, deadline.remaining()):
            if not self._has_room.wait_for(
                lambda: not self.is_full, deadline.remaining()
            ):
                raise TimeoutError

    def publish(
        self, publication: Publication, timeout: float | None = None
    ) -> bool:
        """Publish a message.

        :param timeout: seconds to wait for other threads; None: unlimited
        :returns: whether it was sent; False: the channel is closed
        :raises Rejected: AMQP cannot express the message
        :raises TimeoutError: the timeout expired
        """
        publication.returned = None  # by an earlier attempt
        with Holding(self._lock, timeout):
            channel = self._channel
            if channel is None:
                return False
            number = self._number + 1
            self._unsettled[number] = publication
            try:
                message = message_format.build(
                    publication.body,
                    self._compression,
                    publication.expiration,
                    str(number) if publication.mandatory else '',
                )
                channel.publish(
                    message,
                    publication.exchange.name,
                    publication.routing_key,
                    publication.mandatory,
                )
            except OSError:
                # The broker ignores a message that it has not read completely.
                del self._unsettled[number]
                self._channel = None
                return False
            except Exception as error:
                # Nothing was sent, so the broker does not count the message.
                del self._unsettled[number]
                raise Rejected(
                    f'a message for {_destination(publication)} cannot be'
                    f' sent: {error}'
                ) from error
            self._number = number
        return True

    def close(
        self, error: Exception, outcome: type[Uncertain] = Uncertain
    ) -> None:
        """Settle all messages without confirmation as uncertain."""
        with self._lock:
            self._channel = None
            publications = list(self._unsettled.values())
            self._unsettled.clear()
            self._has_room.notify_all()
        for publication in publications:
            publication.settle(outcome(describe(error)))

    def open_other(self) -> BrokerChannel | None:
        """Open another channel of the connection, in the reading thread.

        :returns: None if the connection is lost
        """
        channel = self._channel
        connection = channel.connection if channel is not None else None
        return connection.channel() if connection is not None else None

    def close_if_settled(self) -> bool:
        """Close the channel unless a message waits for its confirmation.

        Call it in the reading thread.

        :returns: whether no message waits
        """
        with self._lock:
            if self._unsettled:
                return False
            channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()
        return True

    def _detach(self) -> None:
        with self._lock:
            self._channel = None

    def _reopen(self, channel: BrokerChannel, error: Exception) -> None:
        LOG.warning('RabbitMQ closed a channel: %s', error)
        self._on_error()
        self.close(error, ChannelClosed)
        channel.confirm_select()
        with self._lock:
            self._channel, self._number = channel, 0

    def _on_ack(self, number: int, multiple: bool) -> None:
        for publication in self._take(number, multiple):
            publication.settle(publication.returned)

    def _on_nack(self, number: int, multiple: bool) -> None:
        publications = self._take(number, multiple)
        self._notify_nack(self)
        for publication in publications:
            publication.settle(
                Nacked(
                    'RabbitMQ did not accept a message for'
                    f' {_destination(publication)}'
                )
            )

    def _on_return(
        self, error: Exception, exchange: str, routing_key: str, message: Any
    ) -> None:
        # The broker returns a message before it confirms it.
        publication = self._unsettled.get(
            int(message.properties.get('message_id') or 0)
        )
        if publication is not None:
            publication.returned = oslo_messaging.MessageUndeliverable(
                error, exchange, routing_key, message
            )

    def _take(self, number: int, multiple: bool) -> list[Publication]:
        with self._lock:
            if self.is_full:
                self._has_room.notify_all()
            if not multiple:
                publication = self._unsettled.pop(number, None)
                return [publication] if publication else []
            numbers = [each for each in self._unsettled if each <= number]
            return [self._unsettled.pop(each) for each in numbers]


def _destination(publication: Publication) -> str:
    name = publication.routing_key or publication.exchange.name
    return repr(name)


class Publisher:
    """Publishes messages on a link.

    :param settings: options of the driver
    :param link: the connection; its owner calls :meth:`open` and :meth:`close`
    """

    def __init__(self, settings: Settings, link: Link) -> None:
        self._settings = settings
        self._link = link
        # True: for exchanges that are deleted with their last queue, because
        # publishing to a deleted one closes the channel.
        self._lanes = {False: self._new_lane(), True: self._new_lane()}
        self._retired: list[Lane] = []
        self._next_replacement = 0.0
        self._setup_lock = threading.Lock()
        self._setup: BrokerChannel | None = None
        self._declared: set[topology.Exchange | str] = set()

    def open(self, connection: BrokerConnection) -> None:
        """Use a new connection; call it in the reading thread."""
        setup = connection.channel()
        setup.on_error = lambda error: LOG.warning('%s', error)
        for lane in self._lanes.values():
            lane.open(connection.channel())
        with self._setup_lock:
            self._setup = setup
            self._declared = {topology.DEFAULT}

    def close(self, error: Exception) -> None:
        """Settle all messages, because the connection is lost."""
        for lane in (*self._lanes.values(), *self._retired):
            lane.close(error)
        self._retired.clear()

    def try_publish(self, publication: Publication) -> bool:
        """Publish to a known exchange without waiting for the connection.

        :returns: whether it was sent
        """
        self._link.start()
        lane = self._lanes[False]
        return (
            self._link.is_ready
            and not lane.is_full
            and lane.publish(publication)
        )

    def publish(
        self,
        publication: Publication,
        deadline: Deadline,
        retry: int | None = None,
        queue: topology.Queue | None = None,
    ) -> None:
        """Publish a message as soon as the broker is connected.

        :param retry: see :meth:`Link.wait`
        :param queue: a queue to create, so that the message is kept without a
            consumer
        :raises oslo_messaging.MessageDeliveryFailure: too many attempts, or
            the broker rejects the exchange
        :raises TimeoutError: the timeout expired
        """
        exchange, routing_key = publication.exchange, publication.routing_key
        while True:
            if not self._link.is_ready:
                self._link.wait(deadline, retry)
            lane = self._lanes[exchange.auto_delete]
            lane.wait_for_room(deadline)
            timeout = deadline.remaining()
            try:
                if exchange not in self._declared:
                    self._declare(exchange, timeout)
                if queue is not None and queue.name not in self._declared:
                    self._declare(queue, timeout)
                if lane.publish(publication, timeout):
                    return
            except amqp.ChannelError as error:
                raise oslo_messaging.MessageDeliveryFailure(
                    f'RabbitMQ rejects {exchange.name or routing_key}:'
                    f' {describe(error)}'
                ) from error
            except (OSError, amqp.AMQPError) as error:
                LOG.debug('Publishing again: %s', error)
            # The link does not know yet that the connection is lost.
            time.sleep(PAUSE)

    def bind(
        self,
        exchange: topology.Exchange,
        routing_key: str,
        timeout: float | None,
    ) -> bool:
        """Bind a server's queue again that an exchange has returned.

        If the exchange is deleted and created again, it has no bindings, but
        the queues and their consumers remain. Their names are the routing
        keys.

        :returns: False: there is no such queue, or it cannot be bound
        :raises TimeoutError: the timeout expired
        """
        with Holding(self._setup_lock, timeout):
            setup = self._setup
            if setup is None:
                return False
            setup.timeout = min(timeout or METHOD_TIMEOUT, METHOD_TIMEOUT)
            try:
                topology.declare_exchange(setup, exchange)
                setup.queue_bind(
                    routing_key, exchange.name, routing_key=routing_key
                )
            except (OSError, amqp.AMQPError) as error:
                LOG.debug('Cannot bind %s: %s', routing_key, error)
                return False
        LOG.warning(
            'The exchange %s had lost the binding of %s',
            exchange.name,
            routing_key,
        )
        return True

    def _declare(
        self,
        what: topology.Exchange | topology.Queue,
        timeout: float | None,
    ) -> None:
        with Holding(self._setup_lock, timeout):
            setup = self._setup
            if setup is None:
                raise ConnectionError('not connected')
            setup.timeout = min(timeout or METHOD_TIMEOUT, METHOD_TIMEOUT)
            if isinstance(what, topology.Queue):
                topology.declare_queue(setup, what)
                self._declared.add(what.name)
                return
            topology.declare_exchange(setup, what)
            if not what.auto_delete:
                self._declared.add(what)

    def _new_lane(self) -> Lane:
        return Lane(
            self._settings.compression, self._forget_exchanges, self._replace
        )

    def _replace(self, lane: Lane) -> None:
        """Send further messages on another channel.

        If the leader of a quorum queue is down when a channel sends to the
        queue for the first time, RabbitMQ drops all messages on that channel
        until the node of the leader is back.
        """
        now = time.monotonic()
        if now < self._next_replacement or lane in self._retired:
            return
        self._next_replacement = now + REPLACE_INTERVAL
        channel = lane.open_other()
        if channel is None:
            return
        replacement = self._new_lane()
        replacement.open(channel)
        for key, current in self._lanes.items():
            if current is lane:
                self._lanes[key] = replacement
        self._retired = [
            each for each in self._retired if not each.close_if_settled()
        ]
        self._retired.append(lane)

    def _forget_exchanges(self) -> None:
        self._declared = {topology.DEFAULT}
