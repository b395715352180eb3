# SPDX-License-Identifier: Apache-2.0
"""Acknowledge RabbitMQ calls only after their response has been sent.

oslo.messaging (17.4) acknowledges a call when it arrives. If the server is
killed, its calls are lost, and their callers wait for the timeout. With this
module, the broker immediately redelivers the calls of a lost server to another
one. A handler recognizes a repeated call by its id, see
:func:`vobjects.rpc.server.current_call`.

A redelivered call is acknowledged when it arrives: a call that crashes servers
crashes two of them, and not all.

oslo.messaging waits for a reply queue that does not exist, in the thread that
handled the call. :class:`ReplyLimit` limits the number of threads that do so
for callers that have received no response yet.
"""

from __future__ import annotations

import functools
import logging
import threading
import time
from typing import Any

from oslo_messaging.rpc import server

LOG = logging.getLogger(__name__)

#: Option group of oslo.messaging's driver, which registers it.
OPTIONS = 'oslo_messaging_rabbit'

#: Maximum duration of an acknowledgement while a server stops, in seconds;
#: longer than the longest sleep of the thread that sends it.
ACK_TIMEOUT = 6.0

#: Maximum number of threads that wait for reply queues of new callers.
MAX_WAITING_THREADS = 8

#: Seconds to wait for one of these threads before the response is dropped.
DROP_TIMEOUT = 0.25

#: Seconds between log lines about dropped responses.
LOG_INTERVAL = 10.0

#: Maximum number of reply queues that are remembered.
MAX_QUEUES = 4096


def on_rabbitmq(transport: Any) -> bool:
    """Return whether a transport uses oslo.messaging's RabbitMQ driver."""
    return hasattr(transport.conf, OPTIONS)


class LateAckServer(server.RPCServer):  # type: ignore[misc]
    """An RPC server that acknowledges RabbitMQ calls after their response.

    With other drivers it behaves like its base class.

    :param missing_after: seconds for which oslo.messaging waits for a missing
        reply queue
    """

    def _create_listener(self) -> Any:
        adapter = super()._create_listener()
        listener = getattr(adapter, '_poll_style_listener', None)
        connection = getattr(listener, 'conn', None)
        for consumer in getattr(connection, '_consumers', ()):
            consumer.callback = functools.partial(_receive, listener)
        return adapter

    def __init__(
        self,
        transport: Any,
        target: Any,
        dispatcher: Any,
        missing_after: float = 0.0,
    ) -> None:
        super().__init__(transport, target, dispatcher)
        self._replies = ReplyLimit(missing_after)

    def _process_incoming(self, incoming: list[Any]) -> None:
        for message in incoming:
            queue = getattr(message, 'reply_q', None)
            if queue and not self._replies.is_known(queue):
                message.reply = functools.partial(
                    self._replies.send, queue, message.reply
                )
        try:
            super()._process_incoming(incoming)
        finally:
            for message in incoming:
                if isinstance(message.message, _UnacknowledgedMessage):
                    self._release(message.message)

    def _release(self, message: _UnacknowledgedMessage) -> None:
        listener = self.listener._poll_style_listener
        listener._message_operations_handler.do(message.release)
        if listener._shutdown.is_set():
            # The connection is closed once all handler threads have finished.
            message.released.wait(ACK_TIMEOUT)


class ReplyLimit:
    """Sends responses to callers that have received none yet.

    :param missing_after: a response that took at least this many seconds was
        abandoned, because its queue does not exist
    """

    def __init__(self, missing_after: float) -> None:
        self._missing_after = missing_after
        self._threads = threading.Semaphore(MAX_WAITING_THREADS)
        self._lock = threading.Lock()
        #: Reply queue -> whether it existed when it was first used.
        self._existed: dict[str, bool] = {}
        self._dropped = 0
        self._last_log = float('-inf')

    def is_known(self, queue: str) -> bool:
        """Return whether a reply queue existed when it was first used."""
        return self._existed.get(queue, False)

    def send(self, queue: str, reply: Any, *args: Any, **kwargs: Any) -> None:
        """Send a response, or drop it if too many threads wait for queues.

        :param queue: name of the reply queue
        :param reply: sends the response, and waits for the queue if necessary
        """
        if not self._threads.acquire(timeout=DROP_TIMEOUT):
            self._drop()
            return
        start = time.monotonic()
        try:
            reply(*args, **kwargs)
        finally:
            self._threads.release()
            existed = time.monotonic() - start < self._missing_after
            with self._lock:
                if len(self._existed) >= MAX_QUEUES:
                    del self._existed[next(iter(self._existed))]
                self._existed.setdefault(queue, existed)

    def _drop(self) -> None:
        with self._lock:
            self._dropped += 1
            now = time.monotonic()
            if now - self._last_log < LOG_INTERVAL:
                return
            dropped, self._dropped, self._last_log = self._dropped, 0, now
        LOG.warning(
            'Dropped %s response(s): too many reply queues do not exist',
            dropped,
        )


class _UnacknowledgedMessage(dict[str, Any]):
    """A message that :meth:`release` acknowledges, not the driver.

    :param message: a ``RabbitMessage``
    """

    def __init__(self, message: Any) -> None:
        super().__init__(message)
        self._message = message
        self.released = threading.Event()

    def acknowledge(self) -> None:
        """Do nothing; :meth:`release` acknowledges the message later."""

    def release(self) -> None:
        """Acknowledge the message; call this in the reading thread only."""
        try:
            self._message.acknowledge()
        except Exception as error:  # noqa: BLE001 - any connection error
            # The connection is lost, and the broker redelivers the message to
            # another server.
            LOG.info('Could not acknowledge a call: %s', error)
        finally:
            self.released.set()


def _receive(listener: Any, message: Any) -> None:
    """Receive a message; the driver calls this in the reading thread.

    :param listener: a ``RpcAMQPListener``
    :param message: a ``RabbitMessage``
    """
    if message.get('_unique_id') in listener.msg_id_cache.prev_msgids:
        # Redelivered after a lost connection: this process has handled it, or
        # is still handling it.
        message.acknowledge()
    elif message.get('_msg_id') and not _is_redelivered(message):
        listener(_UnacknowledgedMessage(message))
    else:
        listener(message)


def _is_redelivered(message: Any) -> bool:
    return bool(message._raw_message.delivery_info.get('redelivered'))
