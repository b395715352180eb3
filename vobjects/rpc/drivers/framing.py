# SPDX-License-Identifier: Apache-2.0
"""Bytes on a socket: frames with JSON in them.

::

    length of payload   4 bytes, big-endian
    kind                1 byte, see Kind
    number              8 bytes: the same in a message and its answer
    payload             JSON in UTF-8, or nothing

Values arrive as through any other driver, which encodes them by
``oslo_serialization.jsonutils``: :mod:`vobjects.codec.text` says the same as
JSON does, only faster, and what it refuses goes to jsonutils.
"""

from __future__ import annotations

import enum
import json
import struct
from typing import Any, NamedTuple

from oslo_serialization import jsonutils

from vobjects.codec import text
from vobjects.rpc.drivers import errors

HEADER = struct.Struct('>IBQ')

#: The length field could say 4 GiB; a Python buffer of that is no message.
LARGEST = 2**31 - 1


class Kind(enum.IntEnum):
    """What a frame is."""

    # from the sender
    CALL = 1  # [context, message, call monitor timeout or null]
    CAST = 2  # the same
    FANOUT = 3  # the same; nothing comes back
    # from the server
    REPLY = 16  # the answer
    FAILURE = 17  # oslo.messaging's description of an exception
    HEARTBEAT = 18  # the call is still being worked on
    ACCEPTED = 19  # the cast is in the queue
    REJECTED = 20  # the message was not begun and will not be
    REFUSED = 21  # why it can be sent to no server; then the end


_KINDS = {int(kind): kind for kind in Kind}


class Frame(NamedTuple):
    """One frame as it was read."""

    kind: Kind
    number: int
    payload: bytes


# What jsonutils.dumps does, without building an encoder for every message.
_encoder = json.JSONEncoder(
    default=jsonutils.to_primitive, separators=(',', ':')
)


def encode(value: Any) -> bytes:
    """Return a value as JSON.

    :raises ValueError: a value refers to itself
    :raises TypeError: a key of a dict is neither text nor a number
    """
    try:
        return text.dumps(value)
    except TypeError:
        return _encoder.encode(value).encode()


def decode(payload: bytes) -> Any:
    """Return the value of a payload.

    :raises vobjects.rpc.drivers.errors.MalformedFrame: it is not JSON
    """
    try:
        return text.loads(payload)
    except ValueError as error:
        raise errors.MalformedFrame(f'no JSON: {error}') from None


def pack(kind: Kind, number: int, payload: bytes, limit: int) -> bytes:
    """Return a frame.

    :param limit: bytes that a payload may have
    :raises vobjects.rpc.drivers.errors.FrameTooLarge: it has more
    """
    if len(payload) > limit:
        raise errors.FrameTooLarge(len(payload), limit)
    return HEADER.pack(len(payload), kind, number) + payload


class Reader:
    """Cuts a stream of bytes into frames.

    :param limit: bytes that a payload may have
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that are complete with some more bytes.

        :raises vobjects.rpc.drivers.errors.FrameTooLarge: one would be
            longer than allowed; the stream is of no more use
        :raises vobjects.rpc.drivers.errors.MalformedFrame: likewise, one is
            of no known kind
        """
        buffer = self._buffer
        buffer += data
        frames = []
        while len(buffer) >= HEADER.size:
            length, code, number = HEADER.unpack_from(buffer)
            kind = _KINDS.get(code)
            if kind is None:
                raise errors.MalformedFrame(f'a frame of kind {code}')
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
