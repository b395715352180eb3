# SPDX-License-Identifier: Apache-2.0
"""The frames of published and delivered messages.

py-amqp encodes and decodes all other methods. For these, it would take three
times as long as this module, and it rejects properties that are not UTF-8.
Source: AMQP 0-9-1 specification, sections 4.2.3 to 4.2.6.
"""

from __future__ import annotations

import logging
import struct
from typing import NamedTuple

from amqp.serialization import dumps, loads

LOG = logging.getLogger(__name__)

METHOD, HEADER, BODY = 1, 2, 3
END = 0xCE
_END = bytes((END,))

#: Kind, channel and length of a frame.
PREFIX = struct.Struct('>BHI')

#: Class and number of a method.
DELIVER = b'\0\x3c\0\x3c'
ACK = b'\0\x3c\0\x50'
_PUBLISH = b'\0\x3c\0\x28'

#: Arguments of Basic.Ack, and some of Basic.Deliver: delivery tag and a bit.
TAG = struct.Struct('>QB')

#: Class, weight, size of the body, and flags that say which properties follow.
_CONTENT = struct.Struct('>HHQH')
_BASIC = 60

_CONTENT_TYPE, _CONTENT_ENCODING, _HEADERS = 0x8000, 0x4000, 0x2000
_DELIVERY_MODE, _PRIORITY = 0x1000, 0x0800
_EXPIRATION, _MESSAGE_ID = 0x0100, 0x0080

_NO_HEADERS = b'\0\0\0\0'


class Message(NamedTuple):
    """A message to publish, as returned by :func:`message`."""

    flags: int
    properties: bytes
    body: bytes


def message(
    body: bytes, compression: str, expiration: float | None, message_id: str
) -> Message:
    """Return a persistent message with a body in JSON.

    :param compression: name of the compression of the body; empty: none
    :param expiration: seconds after which the broker may drop the message
    :param message_id: id by which the broker returns it; empty: none
    :raises ValueError: the id is longer than 255 bytes
    :raises OverflowError: the expiration is infinite
    """
    flags = _CONTENT_TYPE | _CONTENT_ENCODING | _HEADERS
    flags |= _DELIVERY_MODE | _PRIORITY
    headers = _NO_HEADERS
    if compression:
        headers = dumps('F', ({'compression': compression},))
    properties = b'\x10application/json\x05utf-8' + headers + b'\2\0'
    if expiration is not None:
        flags |= _EXPIRATION
        properties += _short(str(int(expiration * 1000)))
    if message_id:
        flags |= _MESSAGE_ID
        properties += _short(message_id)
    return Message(flags, properties, body)


def publish(
    channel: int,
    frame_max: int,
    exchange: str,
    routing_key: str,
    mandatory: bool,
    content: Message,
) -> bytes:
    """Return the frames that publish a message.

    :param channel: number of the channel
    :param frame_max: maximum size of a frame, in bytes
    :param mandatory: whether the broker returns a message without a queue
    :raises ValueError: a name is longer than 255 bytes, or not Unicode
    """
    body = content.body
    method = b''.join(
        (
            _PUBLISH + b'\0\0',
            _short(exchange),
            _short(routing_key),
            b'\1' if mandatory else b'\0',
        )
    )
    header = _CONTENT.pack(_BASIC, 0, len(body), content.flags)
    parts = [
        _frame(METHOD, channel, method),
        _frame(HEADER, channel, header + content.properties),
    ]
    size = frame_max - PREFIX.size - 1
    for start in range(0, len(body), size):
        parts.append(_frame(BODY, channel, body[start : start + size]))
    return b''.join(parts)


def acknowledge(channel: int, tag: int) -> bytes:
    """Return the frame that acknowledges a delivery."""
    return _frame(METHOD, channel, ACK + TAG.pack(tag, 0))


class Delivered:
    """A message from the broker; its frames arrive one by one.

    :param method: payload of the frame of Basic.Deliver
    :ivar consumer: tag of the consumer
    :ivar tag: number of the delivery on its channel
    :ivar is_redelivered: whether the broker has delivered the message before
    :ivar body: the body, once it is complete
    :ivar compression: name of the compression of the body; empty: none
    """

    __slots__ = (
        '_chunks',
        '_missing',
        'body',
        'compression',
        'consumer',
        'is_redelivered',
        'tag',
    )

    def __init__(self, method: bytes) -> None:
        end = 5 + method[4]
        self.consumer = method[5:end].decode()
        self.tag, bits = TAG.unpack_from(method, end)
        self.is_redelivered = bool(bits & 1)
        self.body = b''
        self.compression = ''
        self._missing = 0
        self._chunks: list[bytes] = []

    def add_header(self, payload: bytes) -> bool:
        """Add the content header.

        :returns: whether the message is complete
        """
        _, _, self._missing, flags = _CONTENT.unpack_from(payload)
        try:
            self.compression = _compression(payload, flags)
        except Exception:  # noqa: BLE001 - py-amqp raises many types
            # An error would end this connection, and then that of each
            # other consumer.
            LOG.warning('Ignoring properties of a message that cannot be read')
        return not self._missing

    def add_body(self, payload: bytes) -> bool:
        """Add a part of the body.

        :returns: whether the message is complete
        """
        self._missing -= len(payload)
        if self._missing > 0:
            self._chunks.append(payload)
            return False
        self.body = b''.join((*self._chunks, payload))
        return True


def _compression(payload: bytes, flags: int) -> str:
    """Return the compression in a content header."""
    offset = _CONTENT.size
    for flag in (_CONTENT_TYPE, _CONTENT_ENCODING):
        if flags & flag:
            offset += 1 + payload[offset]
    if not flags & _HEADERS or payload[offset : offset + 4] == _NO_HEADERS:
        return ''
    (headers,), _ = loads('F', payload, offset)
    return str(headers.get('compression') or '')


def _frame(kind: int, channel: int, payload: bytes) -> bytes:
    return PREFIX.pack(kind, channel, len(payload)) + payload + _END


def _short(text: str) -> bytes:
    encoded = text.encode()
    return bytes((len(encoded),)) + encoded
