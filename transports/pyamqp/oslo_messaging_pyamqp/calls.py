# SPDX-License-Identifier: Apache-2.0
"""The calls of a process that wait for their responses."""

from __future__ import annotations

import logging
import queue
import threading
from typing import Any, NamedTuple

import oslo_messaging

from oslo_messaging_driverlib.deadline import Deadline
from oslo_messaging_driverlib.errors import AnswerLost
from oslo_messaging_pyamqp import message_format
from oslo_messaging_pyamqp.link import describe
from oslo_messaging_pyamqp.publisher import ChannelClosed, Uncertain

LOG = logging.getLogger(__name__)


class Outcome(NamedTuple):
    """The response of a server.

    :ivar result: the result of the method
    :ivar failure: description of the error that it raised; empty: none
    """

    result: Any = None
    failure: str = ''


class PendingCall:
    """A call and the messages that arrive for it.

    :ivar id: id of the call
    :ivar is_accepted: whether the broker has accepted the call
    """

    __slots__ = ('_arrived', 'id', 'is_accepted')

    def __init__(self) -> None:
        self.id = message_format.new_id()
        self.is_accepted = False
        self._arrived: queue.SimpleQueue[dict[str, Any] | Exception | None] = (
            queue.SimpleQueue()
        )

    def receive(self, response: dict[str, Any] | Exception) -> None:
        """Pass a response, or an error that ends the call."""
        self._arrived.put(response)

    def settle(self, error: Exception | None) -> None:
        """Handle the outcome of publishing the call."""
        if isinstance(error, Uncertain):
            error = _lost(error)
        if error is not None:
            self._arrived.put(error)
        self.is_accepted = error is None

    def wait(self, deadline: Deadline) -> Outcome:
        """Wait for the last response.

        An error of the server is not raised here, where an error of its class
        would tell of the broker.

        :raises oslo_messaging.MessagingTimeout: the timeout expired; its
            subclass AnswerLost: the connection was lost
        """
        result: Any = None
        while True:
            try:
                response = self._arrived.get(timeout=deadline.remaining())
            except (queue.Empty, TimeoutError):
                raise oslo_messaging.MessagingTimeout(
                    f'no response to message {self.id} within {deadline}'
                ) from None
            if isinstance(response, Exception):
                raise response
            assert response is not None
            if response.get('failure'):
                return Outcome(failure=response['failure'])
            if response.get('result') is not None:
                result = response['result']
            # Releases before 2016 send the result and the end separately.
            if response.get('ending', False):
                return Outcome(result)
            deadline.restart_monitor()


class PendingCalls:
    """All calls of a process that wait for their responses."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[str, PendingCall] = {}

    def begin(self) -> PendingCall:
        """Return a new call; :meth:`end` must follow."""
        call = PendingCall()
        with self._lock:
            self._calls[call.id] = call
        return call

    def end(self, call: PendingCall) -> None:
        """Forget a call; later responses to it are dropped."""
        with self._lock:
            self._calls.pop(call.id, None)

    def receive(self, response: dict[str, Any]) -> None:
        """Pass a response to its call."""
        call = self._calls.get(response.get('_msg_id', ''))
        if call is None:
            LOG.debug('No call waits for %s', response.get('_msg_id'))
        else:
            call.receive(response)

    def fail(self, error: Exception) -> None:
        """Tell every accepted call that its response may be lost."""
        with self._lock:
            calls = [each for each in self._calls.values() if each.is_accepted]
        for call in calls:
            call.receive(_lost(error))


def _lost(error: Exception) -> AnswerLost:
    what = (
        'RabbitMQ closed the channel'
        if isinstance(error, ChannelClosed)
        else 'the connection to RabbitMQ was lost'
    )
    return AnswerLost(f'{what} during the call: {describe(error)}')
