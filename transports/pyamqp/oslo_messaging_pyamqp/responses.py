# SPDX-License-Identifier: Apache-2.0
"""Send responses to callers without blocking the threads that handle calls.

A response is sent again while its queue does not exist, because the caller may
declare the queue again after a restart of the broker, and while the connection
is lost. After a timeout it is dropped, and the broker delivers the call again,
unless its caller has left.
"""

from __future__ import annotations

import collections
import logging
import queue as queues
import threading
import time
from collections.abc import Callable

import oslo_messaging

from oslo_messaging_pyamqp import topology
from oslo_messaging_pyamqp.publisher import (
    MAX_REFUSALS,
    ChannelClosed,
    Publication,
    Publisher,
    Rejected,
)

LOG = logging.getLogger(__name__)

#: Seconds between attempts to send a response.
RETRY_INTERVAL = 0.25

#: Maximum number of responses that wait for another attempt.
MAX_WAITING = 1000

#: Number of missing queues to remember, and for how many seconds.
MISSING_QUEUES = 200
MISSING_TTL = 60.0

#: Maximum time to confirm a heartbeat, in seconds.
HEARTBEAT_TIMEOUT = 5.0

#: Seconds between log lines about dropped responses.
LOG_INTERVAL = 10.0


#: Receives whether a call is done.
OnEnd = Callable[[bool], None]


class _Response:
    """A response to send."""

    __slots__ = (
        'body',
        'deadline',
        'next_attempt',
        'on_end',
        'queue',
        'refusals',
    )

    def __init__(
        self,
        queue: str,
        body: bytes,
        on_end: OnEnd,
        deadline: float,
    ) -> None:
        self.queue = queue
        self.body = body
        self.on_end = on_end
        self.deadline = deadline
        self.next_attempt = 0.0
        self.refusals = 0


class ResponseSender:
    """Sends responses to the reply queues of callers.

    :param publisher: sends messages
    :param timeout: seconds after which a response is dropped
    """

    def __init__(self, publisher: Publisher, timeout: float) -> None:
        self._publisher = publisher
        self._timeout = timeout
        #: Missing queue -> time until which responses to it are dropped.
        self._missing: dict[str, float] = {}
        self._changed = threading.Condition()
        self._waiting: collections.deque[_Response] = collections.deque()
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._dropped = 0
        self._last_log = float('-inf')

    def send(self, queue: str, body: bytes, on_end: OnEnd) -> None:
        """Send a response.

        :param queue: the caller's reply queue
        :param body: the encoded response
        :param on_end: called once, in any thread: with True when the broker
            has the response or nobody can receive it, and with False when it
            is dropped for another reason
        """
        self._attempt(
            _Response(queue, body, on_end, time.monotonic() + self._timeout)
        )

    def send_heartbeat(self, queue: str, body: bytes) -> bool:
        """Send a heartbeat of a call once, and wait for its confirmation.

        :returns: False if the queue does not exist
        """
        outcome: queues.SimpleQueue[Exception | None] = queues.SimpleQueue()
        publication = Publication(
            topology.DEFAULT, queue, body, outcome.put, mandatory=True
        )
        if not self._publisher.try_publish(publication):
            return True
        try:
            error = outcome.get(timeout=HEARTBEAT_TIMEOUT)
        except queues.Empty:
            return True
        return not isinstance(error, oslo_messaging.MessageUndeliverable)

    def close(self) -> None:
        """Drop the responses that still wait."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _attempt(self, response: _Response) -> None:
        if self._missing.get(response.queue, 0.0) > time.monotonic():
            self._drop(response, is_done=True)
            return

        def settle(error: Exception | None) -> None:
            if error is None:
                response.on_end(True)
            else:
                self._retry(response, error)

        publication = Publication(
            topology.DEFAULT,
            response.queue,
            response.body,
            settle,
            mandatory=True,
        )
        try:
            is_sent = self._publisher.try_publish(publication)
        except Rejected as error:
            LOG.error('A response is lost: %s', error)
            self._drop(response, is_done=True)
            return
        if not is_sent:
            self._retry(response, ConnectionError('not connected'))

    def _retry(self, response: _Response, error: Exception) -> None:
        now = time.monotonic()
        is_missing = isinstance(error, oslo_messaging.MessageUndeliverable)
        if is_missing:
            # The call needs no other server: its caller has left, or has lost
            # its queue and asks again.
            response.on_end(True)
            response.on_end = _ignore
        if isinstance(error, ChannelClosed):
            response.refusals += 1
        if response.refusals >= MAX_REFUSALS:
            LOG.error('A response is lost: %s', error)
            self._drop(response, is_done=True)
            return
        if now >= response.deadline:
            if is_missing:
                self._remember_missing(response.queue)
            self._drop(response, is_done=is_missing)
            return
        response.next_attempt = now + RETRY_INTERVAL
        with self._changed:
            if not self._is_closed and len(self._waiting) < MAX_WAITING:
                self._waiting.append(response)
                self._changed.notify_all()
                if self._thread is None:
                    self._thread = threading.Thread(
                        target=self._run, name='responses', daemon=True
                    )
                    self._thread.start()
                return
        self._drop(response, is_done=False)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._waiting or self._is_closed
                )
                if self._is_closed:
                    waiting = list(self._waiting)
                    self._waiting.clear()
                    break
                response = self._waiting.popleft()
                pause = response.next_attempt - time.monotonic()
                if pause > 0:
                    self._changed.wait_for(lambda: self._is_closed, pause)
            self._attempt(response)
        for response in waiting:
            self._drop(response, is_done=False)

    def _remember_missing(self, queue: str) -> None:
        with self._changed:
            while len(self._missing) >= MISSING_QUEUES:
                del self._missing[next(iter(self._missing))]
            self._missing[queue] = time.monotonic() + MISSING_TTL

    def _drop(self, response: _Response, *, is_done: bool) -> None:
        with self._changed:
            self._dropped += 1
            now = time.monotonic()
            dropped = self._dropped
            is_due = now - self._last_log >= LOG_INTERVAL
            if is_due:
                self._dropped, self._last_log = 0, now
        if is_due:
            LOG.warning(
                'Dropped %s response(s), the last one for %s, because the'
                ' queue does not exist or the connection is lost',
                dropped,
                response.queue,
            )
        response.on_end(is_done)


def _ignore(is_done: bool) -> None:
    """Do nothing: the call is already acknowledged."""
