# SPDX-License-Identifier: Apache-2.0
"""One connection as the receiver sees it, and a message from it.

The listener's thread reads; any thread may write. Only the listener closes
a socket that its selector watches, so that a file descriptor is never used
again behind the selector's back.
"""

from __future__ import annotations

import contextlib
import logging
import select
import socket
import threading
from collections.abc import Callable
from typing import Any

import oslo_messaging
from oslo_messaging._drivers import base, common

from vobjects.rpc.drivers import errors, framing
from vobjects.rpc.drivers.framing import Frame, Kind

LOG = logging.getLogger(__name__)

CHUNK = 65536

#: Seconds that a sender may take to read a part of its answer. It has
#: nothing else to do, so it has been stopped, or is about to die.
READS_WITHIN = 30.0


class Peer:
    """A connection from a sender.

    :param accepted: the socket
    :param limit: bytes that the payload of a frame may have
    """

    def __init__(self, accepted: socket.socket, limit: int) -> None:
        accepted.setblocking(False)
        self.socket = accepted
        self.limit = limit
        self._reader = framing.Reader(limit)
        self._lock = threading.Lock()
        self._calls = 0
        self._gone = False
        self._leaving = False

    def read(self) -> list[Frame] | None:
        """Return the frames that have come; None when there will be no more.

        :raises vobjects.rpc.drivers.errors.FrameTooLarge: to be refused
        :raises vobjects.rpc.drivers.errors.MalformedFrame: to be hung up on
        """
        try:
            data = self.socket.recv(CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            return None
        return self._reader.feed(data) if data else None

    def is_there(self) -> bool:
        """Tell whether the sender still waits."""
        if self._gone:
            return False
        try:
            return bool(self.socket.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def write(self, data: bytes, seconds: float = 0) -> bool:
        """Send a frame.

        :param seconds: to wait when the sender does not read
        :returns: whether it went out; if not, the connection is useless
        """
        with self._lock:
            done = not self._gone and _write(self.socket, data, seconds)
            if not done:
                self._gone = True
                _shut(self.socket, socket.SHUT_RDWR)
        return done

    def called(self) -> None:
        """Count a call that needs an answer."""
        with self._lock:
            self._calls += 1

    def answer(self, data: bytes) -> bool:
        """Send the answer to a call; see :meth:`write`."""
        done = self.write(data, READS_WITHIN)
        with self._lock:
            self._calls -= 1
            if self._leaving and not self._calls:
                self.socket.close()
        return done

    def rest(self) -> list[Frame]:
        """Read no more: the sender's writes fail from now on.

        :returns: what it wrote before
        """
        _shut(self.socket, socket.SHUT_RD)
        frames = []
        with contextlib.suppress(
            OSError, errors.FrameTooLarge, errors.MalformedFrame
        ):
            while data := self.socket.recv(CHUNK):
                frames += self._reader.feed(data)
        return frames

    def leave(self) -> None:
        """Close the connection when all calls are answered.

        To be called when no selector watches it any more.
        """
        with self._lock:
            self._leaving = True
            if not self._calls:
                self.socket.close()

    def hang_up(self) -> None:
        """Close the connection now; answers that come later are dropped.

        To be called when no selector watches it any more.
        """
        self._gone = True
        # A thread that waits for the sender to read gives up then.
        _shut(self.socket, socket.SHUT_RDWR)
        with self._lock:
            self.socket.close()


class Incoming(base.RpcIncomingMessage):  # type: ignore[misc]
    """A message as oslo.messaging's server wants it.

    :param frame: as it was read
    :param on_start: called when a thread begins with it
    :raises vobjects.rpc.drivers.errors.MalformedFrame: it is no message
    """

    def __init__(
        self, peer: Peer, frame: Frame, on_start: Callable[[], None]
    ) -> None:
        content = framing.decode(frame.payload)
        if not _is_message(content):
            raise errors.MalformedFrame('no context, message and timeout')
        context, message, monitor = content
        super().__init__(context, message, f'{frame.number:x}')
        self.client_timeout = monitor
        self.peer = peer
        self.is_call = frame.kind is Kind.CALL
        self._number = frame.number
        self._on_start = on_start
        self._answered = not self.is_call
        if self.is_call:
            peer.called()

    def acknowledge(self) -> None:
        """Make room for the next message: a thread has begun with this."""
        self._on_start()

    def requeue(self) -> None:
        """Refuse; see ``require_features``.

        :raises NotImplementedError: always
        """
        raise NotImplementedError('the embedded transport cannot requeue')

    def reject(self) -> None:
        """Give a call back that was not begun."""
        self._finish(Kind.REJECTED, b'')

    def reply(self, reply: Any = None, failure: Any = None) -> None:
        """Answer a call; nothing is sent for a cast.

        :param reply: JSON data
        :param failure: as of ``sys.exc_info()``
        """
        if self._answered:
            return
        kind = Kind.FAILURE if failure else Kind.REPLY
        try:
            if failure:
                payload = common.serialize_remote_exception(failure).encode()
            else:
                payload = framing.encode(reply)
            if len(payload) > self.peer.limit:
                raise errors.FrameTooLarge(len(payload), self.peer.limit)
        except Exception as error:
            # The caller should know at once, instead of wait in vain.
            LOG.exception(
                'The answer to %s cannot be sent', self.message.get('method')
            )
            kind, payload = Kind.FAILURE, _described(error)
        self._finish(kind, payload)

    def heartbeat(self) -> None:
        """Tell the caller that we are still at it.

        :raises oslo_messaging.MessageDeliveryFailure: it has gone; it makes
            the watchdog of oslo.messaging's dispatcher end
        """
        data = framing.pack(Kind.HEARTBEAT, self._number, b'', 0)
        if not self._answered and not self.peer.write(data):
            raise oslo_messaging.MessageDeliveryFailure('the caller has gone')

    def _finish(self, kind: Kind, payload: bytes) -> None:
        if self._answered:
            return
        self._answered = True
        data = framing.pack(kind, self._number, payload, self.peer.limit)
        if not self.peer.answer(data):
            LOG.debug(
                'The caller of %s did not wait', self.message.get('method')
            )


def _is_message(content: Any) -> bool:
    return (
        isinstance(content, list)
        and len(content) == 3
        and isinstance(content[0], dict)
        and isinstance(content[1], dict)
        and isinstance(content[2], int | float | None)
    )


def _described(error: Exception) -> bytes:
    """Return a failure that says why an answer could not be sent."""
    wrapped = errors.AnswerLost(f'the answer cannot be sent: {error}'[:1000])
    described: str = common.serialize_remote_exception(
        (type(wrapped), wrapped, None)
    )
    return described.encode()


def _write(to: socket.socket, data: bytes, seconds: float) -> bool:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[to.send(rest) :]
        except BlockingIOError:
            waiter = select.poll()
            waiter.register(to, select.POLLOUT)
            if not waiter.poll(seconds * 1000):
                return False
        except OSError:
            return False
    return True


def _shut(shut: socket.socket, how: int) -> None:
    with contextlib.suppress(OSError):
        shut.shutdown(how)
