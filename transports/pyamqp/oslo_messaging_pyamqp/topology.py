# SPDX-License-Identifier: Apache-2.0
"""The exchanges and queues of oslo.messaging's RabbitMQ driver.

=============  ==========================  ====================  ============
messages       exchange                    queue                 routing key
=============  ==========================  ====================  ============
to a topic     control exchange (topic)    TOPIC                 TOPIC
to a server    control exchange (topic)    TOPIC.SERVER          TOPIC.SERVER
to all         TOPIC_fanout (fanout)       TOPIC_fanout_RANDOM   TOPIC
responses      default                     reply_RANDOM          queue's name
notifications  control exchange (topic)    TOPIC.PRIORITY,       TOPIC.PRIORITY
                                           or name of the pool
=============  ==========================  ====================  ============
"""

from __future__ import annotations

import dataclasses
import logging
import uuid
from typing import Any

import amqp

from oslo_messaging_pyamqp.broker_connection import BrokerChannel
from oslo_messaging_pyamqp.settings import Settings

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange; the name of the default exchange is empty."""

    name: str
    type: str
    durable: bool
    auto_delete: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Queue:
    """A queue, bound to an exchange.

    :ivar is_private: whether only this process knows its name
    """

    name: str
    exchange: Exchange
    routing_key: str
    durable: bool
    auto_delete: bool
    arguments: dict[str, Any]
    is_private: bool = False


DEFAULT = Exchange('', 'direct', durable=True, auto_delete=False)


def topic_exchange(settings: Settings, name: str) -> Exchange:
    """Return a control exchange."""
    return Exchange(name, 'topic', settings.durable, settings.auto_delete)


def fanout_exchange(settings: Settings, topic: str) -> Exchange:
    """Return the exchange that copies messages to all servers of a topic."""
    return Exchange(
        f'{topic}_fanout', 'fanout', settings.transient_durable, True
    )


def topic_queue(
    settings: Settings, exchange: str, topic: str, name: str = ''
) -> Queue:
    """Return the queue that the servers of a topic share.

    :param name: name of the queue, if it is not the topic
    """
    return Queue(
        name or topic,
        topic_exchange(settings, exchange),
        topic,
        settings.durable,
        settings.auto_delete,
        settings.topic_arguments,
    )


def directed_queue(
    settings: Settings, exchange: str, topic: str, server: str
) -> Queue:
    """Return the queue of one server of a topic."""
    return dataclasses.replace(
        topic_queue(settings, exchange, f'{topic}.{server}'),
        arguments=settings.directed_arguments,
    )


def fanout_queue(settings: Settings, topic: str) -> Queue:
    """Return a new queue for messages to all servers of a topic."""
    return Queue(
        f'{topic}_fanout_{uuid.uuid4().hex}',
        fanout_exchange(settings, topic),
        topic,
        settings.transient_durable,
        False,
        settings.transient_arguments,
        is_private=True,
    )


def reply_queue(settings: Settings) -> Queue:
    """Return a new queue for the responses to a process."""
    return Queue(
        f'reply_{uuid.uuid4().hex}',
        DEFAULT,
        '',
        settings.transient_durable,
        False,
        settings.transient_arguments,
        is_private=True,
    )


def declare_exchange(channel: BrokerChannel, exchange: Exchange) -> None:
    """Create an exchange unless it exists, with any properties but the type.

    Services that share a control exchange may be configured differently. An
    exchange of another type routes messages to other queues.

    :raises amqp.AMQPError: the broker rejects the declaration
    :raises OSError: the connection is lost
    """
    if not exchange.name:
        return
    try:
        channel.exchange_declare(
            exchange.name,
            exchange.type,
            durable=exchange.durable,
            auto_delete=exchange.auto_delete,
        )
    except amqp.PreconditionFailed as error:
        if not _exists(error):
            raise
        LOG.info('Using an existing exchange: %s', error.reply_text)


def declare_queue(channel: BrokerChannel, queue: Queue) -> None:
    """Create a queue unless it exists, and bind it to its exchange.

    The driver uses an existing queue with other properties, too.

    :raises amqp.AMQPError: the broker rejects the declaration
    :raises OSError: the connection is lost
    """
    declare_exchange(channel, queue.exchange)
    try:
        _create_queue(channel, queue)
    except amqp.PreconditionFailed as error:
        if not _exists(error):
            raise
        LOG.warning('Using an existing queue: %s', error.reply_text)
    except amqp.NotFound as error:
        # A classic queue on a node of a cluster that is down.
        LOG.warning('Replacing a queue: %s', error.reply_text)
        channel.queue_delete(queue.name)
        _create_queue(channel, queue)
    if queue.exchange.name:
        channel.queue_bind(
            queue.name, queue.exchange.name, routing_key=queue.routing_key
        )


def _create_queue(channel: BrokerChannel, queue: Queue) -> None:
    channel.declare_queue(
        queue.name, queue.durable, queue.auto_delete, queue.arguments
    )


def _exists(error: amqp.PreconditionFailed) -> bool:
    """Tell whether a declaration was rejected because of other properties.

    Other reasons are a limit of the virtual host, an invalid argument, and an
    exchange of another type.
    """
    text = str(error.reply_text)
    return 'inequivalent arg' in text and "arg 'type'" not in text
