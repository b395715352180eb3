# SPDX-License-Identifier: Apache-2.0
"""The sender's end of a connection, which carries one message at a time.

Because a connection is not shared, how it breaks says what became of the
message (unix(7) and the kernel's ``net/unix/af_unix.c``):

===============================  ===========================================
it breaks                        the server
===============================  ===========================================
while we write (EPIPE)           has not got all of it: not begun
by a reset (ECONNRESET)          went with bytes of it unread: not begun
at an orderly end of the stream  had read all of it: a call may have begun;
                                 a cast had not, or it were ACCEPTED
===============================  ===========================================
"""

from __future__ import annotations

import contextlib
import socket
import time

import oslo_messaging

from vobjects.rpc.drivers import directory, errors, framing
from vobjects.rpc.drivers.framing import Frame, Kind

CHUNK = 65536


class Patience:
    """How long a sender still waits.

    :param timeout: seconds altogether; None: for ever
    :param monitor: seconds without a sign of life
    """

    def __init__(
        self, timeout: float | None, monitor: float | None = None
    ) -> None:
        self.timeout = timeout
        self.monitor = monitor
        now = time.monotonic()
        self._end = None if timeout is None else now + timeout
        self._silence = now + monitor if monitor else None

    def left(self) -> float | None:
        """Return the seconds left; None: no end.

        :raises TimeoutError: none
        """
        ends = [end for end in (self._end, self._silence) if end is not None]
        if not ends:
            return None
        left = min(ends) - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def renew(self) -> None:
        """Count the silence from now."""
        if self.monitor:
            self._silence = time.monotonic() + self.monitor

    def __str__(self) -> str:
        if self._silence is not None and (
            self._end is None or self._silence < self._end
        ):
            return f'{self.monitor:g} s without a heartbeat'
        return f'{self.timeout:g} s'


class Connection:
    """A connection to one listener.

    :param connected: the socket
    :param limit: bytes that the payload of a frame may have
    """

    def __init__(self, connected: socket.socket, limit: int) -> None:
        self._socket = connected
        self._reader = framing.Reader(limit)
        self._frames: list[Frame] = []

    def send(self, data: bytes, patience: Patience) -> None:
        """Write a frame.

        :raises TimeoutError: it did not go out in time
        :raises vobjects.rpc.drivers.errors.NotTaken: the server has closed
        :raises vobjects.rpc.drivers.errors.FrameTooLarge: for the server
        """
        self._socket.settimeout(patience.left())
        try:
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            self._socket.setblocking(False)
            with contextlib.suppress(
                OSError, EOFError, errors.FrameTooLarge, errors.MalformedFrame
            ):
                self._read()
            for frame in self._frames:
                _check_refusal(frame)
            raise errors.NotTaken from None

    def receive(self, number: int, patience: Patience) -> Frame:
        """Return the next frame that answers a message.

        :param number: of the message
        :raises TimeoutError: nothing came in time
        :raises vobjects.rpc.drivers.errors.NotTaken: the server has closed,
            or will, and has not begun with the message
        :raises vobjects.rpc.drivers.errors.FrameTooLarge: for the server
        :raises vobjects.rpc.drivers.errors.MalformedFrame: what came is no
            answer, or too large for us
        :raises EOFError: the server has closed
        """
        while not self._frames:
            self._socket.settimeout(patience.left())
            try:
                self._read()
            except ConnectionResetError:
                raise errors.NotTaken from None
            except errors.FrameTooLarge as error:
                raise errors.MalformedFrame(str(error)) from None
        frame = self._frames.pop(0)
        _check_refusal(frame)
        if frame.number != number:
            raise errors.MalformedFrame(f'an answer to {frame.number}')
        if frame.kind is Kind.REJECTED:
            raise errors.NotTaken
        return frame

    def close(self) -> None:
        """Close the connection; the server drops what it has not begun."""
        self._socket.close()

    def _read(self) -> None:
        data = self._socket.recv(CHUNK)
        if not data:
            raise EOFError
        self._frames += self._reader.feed(data)


def _check_refusal(frame: Frame) -> None:
    if frame.kind is Kind.REFUSED:
        size, limit = framing.decode(frame.payload)
        raise errors.FrameTooLarge(size, limit)


def open_connection(path: str, limit: int, patience: Patience) -> Connection:
    """Connect to a listener.

    :raises vobjects.rpc.drivers.errors.NotTaken: nobody listens there, or
        too many wait there already
    :raises TimeoutError: there is no time left
    :raises oslo_messaging.MessageDeliveryFailure: what else the system says,
        no file descriptors for example
    """
    try:
        connected = directory.connect(path, patience.left())
    except BlockingIOError:
        raise errors.NotTaken from None
    except TimeoutError:
        raise
    except OSError as error:
        raise oslo_messaging.MessageDeliveryFailure(
            f'cannot connect to {path}: {error.strerror}'
        ) from None
    if connected is None:
        raise errors.NotTaken
    return Connection(connected, limit)
