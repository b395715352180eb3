# SPDX-License-Identifier: Apache-2.0
"""Encode and decode frames that contain JSON.

::

    length of payload   4 bytes, big-endian
    kind                1 byte, see FrameKind
    number              8 bytes: the same in a message and its response
    payload             JSON in UTF-8, or empty
"""

from __future__ import annotations

import enum
import struct
from typing import Any, NamedTuple

from oslo_messaging_driverlib import encoding
from oslo_messaging_embedded import errors

HEADER = struct.Struct('>IBQ')

#: Maximum length of a payload in bytes. The length field allows 4 GiB, but no
#: message is that long.
MAX_PAYLOAD = 2**31 - 1


class FrameKind(enum.IntEnum):
    """The kind of a frame."""

    # from the sender
    CALL = 1  # [context, message, call monitor timeout or null]
    CAST = 2  # the same
    FANOUT = 3  # the same; without a response
    # from the server
    REPLY = 16  # the response
    FAILURE = 17  # oslo.messaging's description of an exception
    HEARTBEAT = 18  # the call is still in progress
    ACCEPTED = 19  # the cast is in the queue
    REJECTED = 20  # the message was not handled and will not be
    TOO_LARGE = 21  # [size, limit]; the last frame of the connection


_KINDS = {int(kind): kind for kind in FrameKind}


class Frame(NamedTuple):
    """A frame read from a socket."""

    kind: FrameKind
    number: int
    payload: bytes


encode = encoding.encode


def decode(payload: bytes) -> Any:
    """Decode a payload.

    :raises oslo_messaging_embedded.errors.MalformedFrame: it is not JSON
    """
    try:
        return encoding.decode(payload)
    except ValueError as error:
        raise errors.MalformedFrame(f'not JSON: {error}') from None


def pack(kind: FrameKind, number: int, payload: bytes, limit: int) -> bytes:
    """Build a frame.

    :param limit: maximum length of a payload, in bytes
    :raises oslo_messaging_embedded.errors.FrameTooLarge: the payload is longer
    """
    if len(payload) > limit:
        raise errors.FrameTooLarge(len(payload), limit)
    return HEADER.pack(len(payload), kind, number) + payload


class FrameReader:
    """Splits a stream of bytes into frames.

    :param limit: maximum length of a payload, in bytes
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """Add bytes to the stream, and return the frames they complete.

        :raises oslo_messaging_embedded.errors.FrameTooLarge: a payload is
            longer than the limit; the stream cannot be used any further
        :raises oslo_messaging_embedded.errors.MalformedFrame: a frame has an
            unknown kind; the stream cannot be used any further
        """
        buffer = self._buffer
        buffer += data
        frames = []
        while len(buffer) >= HEADER.size:
            length, code, number = HEADER.unpack_from(buffer)
            kind = _KINDS.get(code)
            if kind is None:
                raise errors.MalformedFrame(f'unknown kind {code} of a frame')
            if length > self._limit:
                raise errors.FrameTooLarge(length, self._limit)
            end = HEADER.size + length
            if len(buffer) < end:
                break
            frames.append(
                Frame(kind, number, bytes(buffer[HEADER.size : end]))
            )
            del buffer[:end]
        return frames
