# SPDX-License-Identifier: Apache-2.0
"""Has RabbitMQ keep a call until it is answered.

oslo.messaging (17.4) acknowledges a call when it arrives, so that the calls
of a server that is killed are lost, and their callers wait for the timeout.
Here a call is acknowledged when its answer has been sent: the broker gives
what a lost server had to another one, at once. A call that comes twice is
known by its id, see :func:`vobjects.rpc.server.current_call`.

A call that has come back is acknowledged at once: one that kills servers
kills two of them, and not all.
"""

from __future__ import annotations

import functools
import logging
import threading
from typing import Any

from oslo_messaging.rpc import server

LOG = logging.getLogger(__name__)

#: Seconds that an acknowledgement may take when a server stops: longer than
#: the thread that sends it sleeps between looks for something to do.
ACKNOWLEDGED_WITHIN = 6.0


class Server(server.RPCServer):  # type: ignore[misc]
    """An RPC server; with a driver other than RabbitMQ's, as it always is."""

    def _create_listener(self) -> Any:
        adapter = super()._create_listener()
        listener = getattr(adapter, '_poll_style_listener', None)
        connection = getattr(listener, 'conn', None)
        for consumer in getattr(connection, '_consumers', ()):
            consumer.callback = functools.partial(_receive, listener)
        return adapter

    def _process_incoming(self, incoming: list[Any]) -> None:
        try:
            super()._process_incoming(incoming)
        finally:
            for one in incoming:
                if isinstance(one.message, _Held):
                    self._release(one.message)

    def _release(self, message: _Held) -> None:
        listener = self.listener._poll_style_listener
        listener._message_operations_handler.do(message.release)
        if listener._shutdown.is_set():
            # The connection is closed when all threads of ours are done.
            message.released.wait(ACKNOWLEDGED_WITHIN)


class _Held(dict[str, Any]):
    """A message that is not acknowledged before :meth:`release`.

    :param message: a ``RabbitMessage``
    """

    def __init__(self, message: Any) -> None:
        super().__init__(message)
        self._message = message
        self.released = threading.Event()

    def acknowledge(self) -> None:
        """Do nothing yet."""

    def release(self) -> None:
        """Acknowledge it; only in the thread that reads."""
        try:
            self._message.acknowledge()
        except Exception as error:  # noqa: BLE001 - whatever a connection says
            # It is gone, and the message with it, to another server.
            LOG.info('Could not acknowledge a call: %s', error)
        finally:
            self.released.set()


def _receive(listener: Any, message: Any) -> None:
    """Take a message; the driver calls this in the thread that reads.

    :param listener: a ``RpcAMQPListener``
    """
    if message.get('_unique_id') in listener.msg_id_cache.prev_msgids:
        # Of a connection that was lost: it is, or was, answered here.
        message.acknowledge()
    elif message.get('_msg_id') and not _has_come_back(message):
        listener(_Held(message))
    else:
        listener(message)


def _has_come_back(message: Any) -> bool:
    return bool(message._raw_message.delivery_info.get('redelivered'))
