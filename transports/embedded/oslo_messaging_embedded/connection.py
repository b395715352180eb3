# SPDX-License-Identifier: Apache-2.0
"""The sender's end of a connection, which carries one message at a time.

A connection is not shared, so the way it breaks shows what happened to the
message (unix(7) and the kernel's ``net/unix/af_unix.c``):

===============================  ===========================================
failure                          state of the message
===============================  ===========================================
error while writing (EPIPE)      the server did not read all of it and has
                                 not handled it
reset (ECONNRESET)               the server left without reading all of it
                                 and has not handled it
regular end of the stream        the server read all of it: a call may have
                                 been handled; a cast was not, or an ACCEPTED
                                 frame would have arrived
===============================  ===========================================
"""

from __future__ import annotations

import contextlib
import socket

from oslo_messaging_driverlib.deadline import Deadline
from oslo_messaging_embedded import errors, framing
from oslo_messaging_embedded.framing import Frame, FrameKind

CHUNK = 65536


class Connection:
    """A connection to one listener.

    :param connected: the socket
    :param limit: maximum length of the payload of a frame, in bytes
    """

    def __init__(self, connected: socket.socket, limit: int) -> None:
        self._socket = connected
        self._reader = framing.FrameReader(limit)
        self._frames: list[Frame] = []

    def send(self, data: bytes, deadline: Deadline) -> None:
        """Write a frame.

        :raises TimeoutError: the timeout expired
        :raises oslo_messaging_embedded.errors.NotHandled: the server has
            closed the connection
        :raises oslo_messaging_embedded.errors.FrameTooLarge: the server
            rejected the length of the frame
        """
        self._socket.settimeout(deadline.remaining())
        try:
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            self._socket.setblocking(False)
            with contextlib.suppress(
                OSError, EOFError, errors.FrameTooLarge, errors.MalformedFrame
            ):
                self._read()
            for frame in self._frames:
                _check_size(frame)
            raise errors.NotHandled from None

    def receive(self, number: int, deadline: Deadline) -> Frame:
        """Return the next frame that responds to a message.

        :param number: number of the message
        :raises TimeoutError: the timeout expired
        :raises oslo_messaging_embedded.errors.NotHandled: the server has not
            handled the message and will not: it rejected it or has closed
        :raises oslo_messaging_embedded.errors.FrameTooLarge: the server
            rejected the length of the message
        :raises oslo_messaging_embedded.errors.MalformedFrame: the received
            frame is not a valid response, or too long
        :raises EOFError: the server has closed the connection
        """
        while not self._frames:
            self._socket.settimeout(deadline.remaining())
            try:
                self._read()
            except ConnectionResetError:
                raise errors.NotHandled from None
            except errors.FrameTooLarge as error:
                raise errors.MalformedFrame(str(error)) from None
        frame = self._frames.pop(0)
        _check_size(frame)
        if frame.number != number:
            raise errors.MalformedFrame(f'a response to {frame.number}')
        if frame.kind is FrameKind.REJECTED:
            raise errors.NotHandled
        return frame

    def close(self) -> None:
        """Close the connection; the server drops calls it has not begun."""
        self._socket.close()

    def _read(self) -> None:
        data = self._socket.recv(CHUNK)
        if not data:
            raise EOFError
        self._frames += self._reader.feed(data)


def _check_size(frame: Frame) -> None:
    if frame.kind is FrameKind.TOO_LARGE:
        size, limit = framing.decode(frame.payload)
        raise errors.FrameTooLarge(size, limit)
