# SPDX-License-Identifier: Apache-2.0
"""The oslo.messaging driver for RabbitMQ.

oslo.messaging loads it for ``pyamqp://USER:PASSWORD@HOST:PORT/VHOST``;
It speaks the
protocol of oslo.messaging's own driver, so that processes with either driver
can share a broker. It differs as follows:

- A process sends on one connection, and each server receives on one. Threads
  wait for responses, and no thread polls.
- A call is acknowledged when the broker has its response, see
  :mod:`~oslo_messaging_pyamqp.listener`.
- A caller gets :class:`~oslo_messaging_driverlib.errors.AnswerLost`, a kind of
  timeout, as soon as the connection is lost on which its response was
  expected. The timeout of a call includes the time to connect.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
import weakref
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

import oslo_messaging
from oslo_config import cfg

from oslo_messaging_driverlib import base, oslo_api, remote_errors
from oslo_messaging_driverlib.base import OutgoingMessage
from oslo_messaging_driverlib.deadline import Deadline, seconds
from oslo_messaging_pyamqp import (
    errors,
    listener,
    message_format,
    notifications,
    sender,
    settings,
    topology,
)
from oslo_messaging_pyamqp.calls import Outcome
from oslo_messaging_pyamqp.consumption import Consumption
from oslo_messaging_pyamqp.link import OutageLog
from oslo_messaging_pyamqp.publisher import (
    MAX_NACKS,
    MAX_REFUSALS,
    NACK_PAUSE,
    ChannelClosed,
    Nacked,
    Publication,
    Uncertain,
)

#: Seconds for the broker to confirm a message whose sender limits the number
#: of attempts, for each attempt.
CONFIRM_TIMEOUT = 5.0


class PyAmqpDriver(base.Driver):
    """One transport; oslo.messaging loads and calls it.

    :param conf: configuration, where the options are registered; the query of
        the URL overrides them:
        ``pyamqp://guest:guest@localhost/?rabbit_quorum_queue=true``
    :param url: a ``TransportURL``
    :param default_exchange: exchange of targets that name none
    :param allowed_remote_exmods: modules whose exceptions may be raised again
        at the caller
    :raises oslo_messaging_pyamqp.errors.BadOption: an option is not supported
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        url: Any,
        default_exchange: str | None = None,
        allowed_remote_exmods: list[str] | None = None,
    ) -> None:
        super().__init__(conf, url, default_exchange, allowed_remote_exmods)
        self._settings = settings.Settings.load(conf, url)
        self.prefetch_size = self._settings.prefetch
        self._start()

    def _start(self) -> None:
        self._outages = OutageLog()
        self._sender = sender.Sender(self._settings, self._outages)
        self._consumptions: weakref.WeakSet[Consumption] = weakref.WeakSet()

    def require_features(self, requeue: bool = True) -> None:
        """Do nothing: this driver has all features."""

    def _call(self, outgoing: OutgoingMessage) -> Any:
        deadline = Deadline(outgoing.timeout, outgoing.monitor)
        exchange, routing_key = self._destination(outgoing.target)
        try:
            reply_queue = self._sender.reply_queue(deadline, outgoing.retry)
            call = self._sender.calls.begin()
            try:
                publication = Publication(
                    exchange,
                    routing_key,
                    message_format.encode_request(
                        outgoing.context,
                        outgoing.content,
                        _msg_id=call.id,
                        _reply_q=reply_queue,
                        _timeout=outgoing.monitor,
                    ),
                    call.settle,
                    mandatory=exchange.type == 'topic' or outgoing.mandatory,
                    expiration=outgoing.timeout,
                )

                def attempt() -> Outcome:
                    self._sender.publisher.publish(
                        publication, deadline, outgoing.retry
                    )
                    return call.wait(deadline)

                outcome: Outcome = self._until_routed(
                    lambda: _until_accepted(attempt, deadline, outgoing.retry),
                    exchange,
                    routing_key,
                    deadline,
                )
            finally:
                self._sender.calls.end(call)
        except oslo_messaging.MessageUndeliverable:
            if outgoing.mandatory:
                raise
            raise errors.NoQueue(
                f'no queue of RabbitMQ receives messages to {routing_key}; no'
                ' server has listened there'
            ) from None
        except TimeoutError:
            raise oslo_messaging.MessagingTimeout(
                f'RabbitMQ did not accept the call within {deadline}'
                f'{self._sender.problem()}'
            ) from None
        if outcome.failure:
            raise remote_errors.rebuild(
                outcome.failure, self._allowed_remote_exmods
            )
        return outcome.result

    def _cast(self, outgoing: OutgoingMessage) -> None:
        self._deliver(
            *self._destination(outgoing.target),
            message_format.encode_request(outgoing.context, outgoing.content),
            outgoing.retry,
            outgoing.timeout,
            outgoing.mandatory,
        )

    def send_notification(
        self,
        target: Any,
        ctxt: Any,
        message: dict[str, Any],
        version: float,
        retry: int | None = None,
    ) -> None:
        """Send a notification; a queue stores it for later consumers.

        :param target: the destination
        :param ctxt: the context, a mapping or an object with ``to_dict()``
        :param message: JSON data
        :param version: 2.0 puts the message into an envelope
        :param retry: see :meth:`~oslo_messaging_driverlib.base.Driver.send`
        :raises oslo_messaging.MessageDeliveryFailure: it was not delivered
        """
        encode = (
            message_format.encode_request
            if version == 2.0
            else message_format.encode_bare_request
        )
        exchange = self._topic_exchange(target)
        self._deliver(
            exchange,
            target.topic,
            encode(base.context_of(ctxt), message),
            retry,
            queue=topology.topic_queue(
                self._settings, exchange.name, target.topic
            ),
        )

    def listen(
        self, target: Any, batch_size: int, batch_timeout: float | None
    ) -> listener.Listener:
        """Listen as ``target.server`` on ``target.topic``.

        This method returns when the queues exist. Without a connection, it
        waits.

        :param batch_size: not used; servers request batches of one message
        :param batch_timeout: not used
        :raises oslo_messaging.MessageDeliveryFailure: the broker rejects a
            queue, or :meth:`cleanup` was called meanwhile
        """
        exchange = self._topic_exchange(target).name
        new_listener = listener.Listener(
            self._settings,
            self._outages,
            [
                topology.topic_queue(self._settings, exchange, target.topic),
                topology.directed_queue(
                    self._settings, exchange, target.topic, target.server
                ),
                topology.fanout_queue(self._settings, target.topic),
            ],
            self._sender.responses,
        )
        self._sender.start()
        self._open(new_listener.consumption)
        return new_listener

    def listen_for_notifications(
        self,
        targets_and_priorities: Any,
        pool: str | None,
        batch_size: int,
        batch_timeout: float | None,
    ) -> Any:
        """Listen for notifications.

        :param targets_and_priorities: pairs of a target and a priority
        :param pool: name of a queue that several listeners share; None: they
            share a queue for each topic and priority
        :param batch_size: maximum number of notifications in a batch
        :param batch_timeout: seconds to wait for a batch to be complete
        """
        prefetch = self._settings.prefetch or notifications.PREFETCH
        new_listener = notifications.NotificationListener(
            dataclasses.replace(
                self._settings, prefetch=max(prefetch, batch_size)
            ),
            self._outages,
            [
                topology.topic_queue(
                    self._settings,
                    self._topic_exchange(target).name,
                    f'{target.topic}.{priority}',
                    pool or '',
                )
                for target, priority in targets_and_priorities
            ],
        )
        new_listener.consumption.start()
        self._open(new_listener.consumption)
        return oslo_api.PollStyleListenerAdapter(
            new_listener, batch_size, seconds(batch_timeout, 'batch_timeout')
        )

    def cleanup(self) -> None:
        """Close all connections."""
        for consumption in list(self._consumptions):
            consumption.close()
        self._sender.close()

    def reset_in_child(self) -> None:
        """Release the parent's connections; the child opens its own."""
        self._sender.close_in_child()
        for consumption in list(self._consumptions):
            consumption.link.close_in_child()
        self._start()

    def _open(self, consumption: Consumption) -> None:
        self._consumptions.add(consumption)
        try:
            consumption.link.wait(Deadline(None))
        except oslo_messaging.MessageDeliveryFailure:
            consumption.close()
            raise

    def _until_routed(
        self,
        attempt: Callable[[], Any],
        exchange: topology.Exchange,
        routing_key: str,
        deadline: Deadline,
    ) -> Any:
        """Repeat an attempt if its queue had lost its binding.

        :raises oslo_messaging.MessageUndeliverable: there is no queue
        :raises Exception: any other error of the attempt
        """
        try:
            return attempt()
        except oslo_messaging.MessageUndeliverable:
            if exchange.type != 'topic' or not self._sender.publisher.bind(
                exchange, routing_key, deadline.remaining()
            ):
                raise
        return attempt()

    def _topic_exchange(self, target: Any) -> topology.Exchange:
        return topology.topic_exchange(self._settings, self._exchange(target))

    def _destination(self, target: Any) -> tuple[topology.Exchange, str]:
        """Return the exchange and the routing key for a target."""
        topic = target.topic
        if target.fanout:
            return topology.fanout_exchange(self._settings, topic), ''
        key = f'{topic}.{target.server}' if target.server else topic
        return self._topic_exchange(target), key

    def _deliver(
        self,
        exchange: topology.Exchange,
        routing_key: str,
        body: bytes,
        retry: int | None,
        timeout: float | None = None,
        mandatory: bool = False,
        queue: topology.Queue | None = None,
    ) -> None:
        """Publish a message and wait for its confirmation.

        If the connection is lost meanwhile, the message is published again,
        with the same id.

        :raises oslo_messaging.MessageDeliveryFailure: too many attempts
        """
        deadline = Deadline(timeout)
        if retry is not None and retry >= 0:
            limit = CONFIRM_TIMEOUT * (retry + 1)
            deadline = Deadline(
                limit if timeout is None else min(timeout, limit)
            )

        is_mandatory = mandatory or (exchange.type == 'topic' and not queue)

        def attempt() -> None:
            outcome: SimpleQueue[Exception | None] = SimpleQueue()
            publication = Publication(
                exchange,
                routing_key,
                body,
                outcome.put,
                mandatory=is_mandatory,
                expiration=timeout,
            )
            self._sender.publisher.publish(publication, deadline, retry, queue)
            error = outcome.get(timeout=deadline.remaining())
            if error is not None:
                raise error

        refusals = 0
        try:
            while True:
                try:
                    self._until_routed(
                        lambda: _until_accepted(attempt, deadline, retry),
                        exchange,
                        routing_key,
                        deadline,
                    )
                    return
                except oslo_messaging.MessageUndeliverable:
                    if mandatory:
                        raise
                    return  # as the broker drops a message without a queue
                except Uncertain as error:
                    refusals += isinstance(error, ChannelClosed)
                    if refusals >= MAX_REFUSALS:
                        raise oslo_messaging.MessageDeliveryFailure(
                            f'RabbitMQ has closed the channel: {error}'
                        ) from None
                    if retry == 0:
                        raise oslo_messaging.MessageDeliveryFailure(
                            f'the connection to RabbitMQ was lost: {error}'
                        ) from None
        except (Empty, TimeoutError):
            raise oslo_messaging.MessageDeliveryFailure(
                f'RabbitMQ did not confirm the message within {deadline}'
                f'{self._sender.problem()}'
            ) from None


def _until_accepted(
    attempt: Callable[[], Any], deadline: Deadline, retry: int | None
) -> Any:
    """Repeat an attempt to send a message that the broker drops.

    The pauses give it time to elect the leader of a queue, and the consumers
    of a full queue time to read.

    :raises Nacked: the broker has dropped the message too often
    :raises Exception: any other error of the attempt
    """
    for number in itertools.count(1):
        try:
            return attempt()
        except Nacked:
            if number == MAX_NACKS or retry == 0:
                raise
        remaining = deadline.remaining()
        time.sleep(
            NACK_PAUSE if remaining is None else min(NACK_PAUSE, remaining)
        )
    return None  # not reached
