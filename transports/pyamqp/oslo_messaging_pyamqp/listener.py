# SPDX-License-Identifier: Apache-2.0
"""Consume messages for a server, on a separate connection.

A call is acknowledged when the broker has its response. If the server is
killed before that, the broker immediately redelivers the call to another one,
so a handler must recognize a repeated call. A redelivered message is
acknowledged before it is decoded: a message that crashes servers crashes two
of them, and not all. A cast is acknowledged when it arrives, as by
oslo.messaging's own driver.
"""

from __future__ import annotations

import collections
import logging
import threading
from collections.abc import Callable
from typing import Any

from oslo_messaging_driverlib import base, oslo_api
from oslo_messaging_pyamqp import message_format, topology
from oslo_messaging_pyamqp.consumption import (
    STOP_TIMEOUT,
    Consumption,
    Delivery,
)
from oslo_messaging_pyamqp.link import OutageLog
from oslo_messaging_pyamqp.message_format import Request
from oslo_messaging_pyamqp.responses import OnEnd, ResponseSender
from oslo_messaging_pyamqp.settings import Settings

LOG = logging.getLogger(__name__)

#: Ids of received messages to remember, to recognize repeated deliveries.
MAX_IDS = 4096

OnIncoming = Callable[[list[Any]], None]


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

    def drain(self) -> None:
        """Receive only messages to all servers of the topic from now on."""
        self.consumption.drain()

    def stop(self) -> None:
        """Stop consuming; calls in progress continue."""
        self.consumption.stop()
        super().stop()

    def cleanup(self) -> None:
        """Acknowledge the handled calls and disconnect."""
        with self._changed:
            self._changed.wait_for(lambda: not self._pending, STOP_TIMEOUT)
        self.consumption.close()

    def _receive(self, request: Request, delivery: Delivery) -> None:
        callback = self.on_incoming_callback
        if callback is None:
            return  # stopped: the broker redelivers the message
        if request.unique_id in self._known_ids:
            LOG.debug('Received message %s again', request.unique_id)
            delivery.acknowledge()
            return
        on_end: OnEnd = _ignore
        if request.call_id and not delivery.is_redelivered:
            on_end = self._late_acknowledgement(delivery, request.unique_id)
        else:
            delivery.acknowledge()
        callback([IncomingMessage(request, self._responses, on_end)])
        # Not before: the broker redelivers the message if one of them fails.
        self._remember(request.unique_id)

    def _late_acknowledgement(
        self, delivery: Delivery, unique_id: str | None
    ) -> OnEnd:
        with self._changed:
            self._pending += 1

        def on_end(is_done: bool) -> None:
            if is_done:
                delivery.acknowledge()
            else:
                self._known_ids.pop(unique_id, None)
                delivery.reject(requeue=True)
            with self._changed:
                self._pending -= 1
                if not self._pending:
                    self._changed.notify_all()

        return on_end

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


class IncomingMessage(base.IncomingMessage):
    """A message, in the form that oslo.messaging's server expects.

    :param on_end: called when a call needs no other server, or needs one
    """

    def __init__(
        self,
        request: Request,
        responses: ResponseSender,
        on_end: OnEnd,
    ) -> None:
        super().__init__(
            request.context,
            request.content,
            request.call_id,
            request.monitor,
            request.call_id is not None,
        )
        self._reply_queue = request.reply_queue
        self._responses = responses
        self._on_end = on_end

    def acknowledge(self) -> None:
        """Do nothing: the response acknowledges a call."""

    def requeue(self) -> None:
        """Do nothing, like oslo.messaging's own driver."""

    def _encode(self, result: Any, failure: str | None) -> bytes:
        return message_format.encode_response(self.msg_id, result, failure)

    def _respond(self, response: bytes) -> None:
        self._responses.send(self._reply_queue, response, self._on_end)

    def _send_heartbeat(self) -> bool:
        return self._responses.send_heartbeat(
            self._reply_queue,
            message_format.encode_response(
                self.msg_id, None, None, ending=False
            ),
        )


def _ignore(is_done: bool) -> None:
    """Do nothing: the message is already acknowledged."""
