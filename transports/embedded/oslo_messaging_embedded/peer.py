# SPDX-License-Identifier: Apache-2.0
"""A connection on the receiver's side, and the messages from it.

The listener's thread reads; any thread may write. A socket that the listener's
selector watches is closed by the listener only, so that its file descriptor is
never reused while the selector still watches it.
"""

from __future__ import annotations

import contextlib
import logging
import select
import socket
import threading
from collections.abc import Callable
from typing import Any

from oslo_messaging_driverlib import base
from oslo_messaging_embedded import errors, framing
from oslo_messaging_embedded.framing import Frame, FrameKind

LOG = logging.getLogger(__name__)

CHUNK = 65536

#: Maximum time for a sender to read a part of its response, in seconds. A
#: sender has nothing else to do, so a longer delay means that it is suspended
#: or about to die.
WRITE_TIMEOUT = 30.0


class Peer:
    """A connection from a sender.

    :param accepted: the socket
    :param limit: maximum length of the payload of a frame, in bytes
    """

    def __init__(self, accepted: socket.socket, limit: int) -> None:
        accepted.setblocking(False)
        self.socket = accepted
        self.limit = limit
        self._reader = framing.FrameReader(limit)
        self._lock = threading.Lock()
        self._calls = 0
        self._closed = False
        self._closing = False

    def read(self) -> list[Frame] | None:
        """Return the frames received since the last call; None at the end.

        :raises oslo_messaging_embedded.errors.FrameTooLarge: the caller
            should report it and close the connection
        :raises oslo_messaging_embedded.errors.MalformedFrame: the caller
            should close the connection
        """
        try:
            data = self.socket.recv(CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            return None
        return self._reader.feed(data) if data else None

    def is_connected(self) -> bool:
        """Return whether the sender is still connected."""
        if self._closed:
            return False
        try:
            return bool(self.socket.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def write(self, data: bytes, timeout: float = 0) -> bool:
        """Send a frame.

        :param timeout: seconds to wait while the sender does not read
        :returns: whether it was sent; otherwise the connection is unusable
        """
        with self._lock:
            sent = not self._closed and _write(self.socket, data, timeout)
            if not sent:
                self._closed = True
                _shut_down(self.socket, socket.SHUT_RDWR)
        return sent

    def add_call(self) -> None:
        """Count a call that needs a response."""
        with self._lock:
            self._calls += 1

    def respond(self, data: bytes) -> bool:
        """Send the response to a call; see :meth:`write`."""
        sent = self.write(data, WRITE_TIMEOUT)
        with self._lock:
            self._calls -= 1
            if self._closing and not self._calls:
                self.socket.close()
        return sent

    def stop_reading(self) -> list[Frame]:
        """Stop reading: the sender's writes fail from now on.

        :returns: the frames written before
        """
        _shut_down(self.socket, socket.SHUT_RD)
        frames = []
        with contextlib.suppress(
            OSError, errors.FrameTooLarge, errors.MalformedFrame
        ):
            while data := self.socket.recv(CHUNK):
                frames += self._reader.feed(data)
        return frames

    def close_when_idle(self) -> None:
        """Close the connection after the last pending response.

        Call it only when no selector watches the socket any more.
        """
        with self._lock:
            self._closing = True
            if not self._calls:
                self.socket.close()

    def close(self) -> None:
        """Close the connection now, and drop later responses.

        Call it only when no selector watches the socket any more.
        """
        self._closed = True
        # This ends the wait of a thread that writes to the sender.
        _shut_down(self.socket, socket.SHUT_RDWR)
        with self._lock:
            self.socket.close()


class IncomingMessage(base.IncomingMessage):
    """A message, in the form that oslo.messaging's server expects.

    :param peer: the connection it came from
    :param frame: the frame as read
    :param on_start: called when a thread begins to handle the message
    :raises oslo_messaging_embedded.errors.MalformedFrame: it is not a message
    """

    def __init__(
        self, peer: Peer, frame: Frame, on_start: Callable[[], None]
    ) -> None:
        content = framing.decode(frame.payload)
        if not _is_message(content):
            raise errors.MalformedFrame(
                'the payload is not [context, message, timeout]'
            )
        context, message, monitor = content
        self.is_call = frame.kind is FrameKind.CALL
        super().__init__(
            context, message, f'{frame.number:x}', monitor, self.is_call
        )
        self.peer = peer
        self._number = frame.number
        self._on_start = on_start
        if self.is_call:
            peer.add_call()

    def acknowledge(self) -> None:
        """Make room for the next message: a thread handles this one."""
        self._on_start()

    def requeue(self) -> None:
        """Raise an error: the driver cannot requeue, see ``require_features``.

        :raises NotImplementedError: always
        """
        raise NotImplementedError('the embedded transport cannot requeue')

    def reject(self) -> None:
        """Reject a call that was not begun; another server gets it."""
        if self.needs_response:
            self.needs_response = False
            self._respond(self._pack(FrameKind.REJECTED))

    def _encode(self, result: Any, failure: str | None) -> bytes:
        if failure is None:
            return self._pack(FrameKind.REPLY, framing.encode(result))
        return self._pack(FrameKind.FAILURE, failure.encode())

    def _respond(self, response: bytes) -> None:
        if not self.peer.respond(response):
            LOG.debug(
                'The caller of %s has disconnected', self.message.get('method')
            )

    def _send_heartbeat(self) -> bool:
        return self.peer.write(self._pack(FrameKind.HEARTBEAT))

    def _pack(self, kind: FrameKind, payload: bytes = b'') -> bytes:
        return framing.pack(kind, self._number, payload, self.peer.limit)


def _is_message(content: Any) -> bool:
    return (
        isinstance(content, list)
        and len(content) == 3
        and isinstance(content[0], dict)
        and isinstance(content[1], dict)
        and isinstance(content[2], int | float | None)
    )


def _write(target: socket.socket, data: bytes, timeout: float) -> bool:
    unsent = memoryview(data)
    while unsent:
        try:
            unsent = unsent[target.send(unsent) :]
        except BlockingIOError:
            poll = select.poll()
            poll.register(target, select.POLLOUT)
            if not poll.poll(timeout * 1000):
                return False
        except OSError:
            return False
    return True


def _shut_down(target: socket.socket, how: int) -> None:
    with contextlib.suppress(OSError):
        target.shutdown(how)
