# SPDX-License-Identifier: Apache-2.0
"""The messages of oslo.messaging's RabbitMQ driver, version 2.0.

The body is JSON: ``{"oslo.version": "2.0", "oslo.message": TEXT}``, and the
text is the JSON of the message:

==============  =========================================================
key             value
==============  =========================================================
``_unique_id``  id of the message, the same for each delivery
``_context_*``  the caller's context, a key for each of its items
``_msg_id``     id of a call, and of the responses to it
``_reply_q``    queue for the responses to a call
``_timeout``    a call's maximum time between heartbeats, in seconds
other keys      the message itself; or in a response:
``result``      result of the call
``failure``     description of an exception; null: success
``ending``      whether this is the last response; others are heartbeats
==============  =========================================================
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from kombu import compression

from oslo_messaging_driverlib import encoding
from oslo_messaging_pyamqp import decompression, frames

_VERSION = 'oslo.version'
_TEXT = 'oslo.message'
_PREFIX = b'{"oslo.version":"2.0","oslo.message":'
_CONTEXT = '_context_'

#: Longest name in AMQP, in bytes.
MAX_NAME = 255


class Request(NamedTuple):
    """A message to a server.

    :ivar call_id: id of a call; None: not a call
    :ivar reply_queue: queue for the response to a call
    :ivar monitor: maximum time between heartbeats, in seconds
    """

    unique_id: str | None
    context: dict[str, Any]
    content: dict[str, Any]
    call_id: str | None
    reply_queue: str
    monitor: float | None


def new_id() -> str:
    """Return a random id, like ``uuid.uuid4().hex``."""
    return os.urandom(16).hex()


def encode_request(
    context: Mapping[str, Any], content: Mapping[str, Any], **call: Any
) -> bytes:
    """Encode a message to a server.

    :param context: the caller's context
    :param content: the message
    :param call: the keys ``_msg_id``, ``_reply_q`` and ``_timeout`` of a call
    """
    return _encode(
        {
            **content,
            **_context_keys(context),
            **call,
            '_unique_id': new_id(),
        }
    )


def encode_bare_request(
    context: Mapping[str, Any], content: Mapping[str, Any]
) -> bytes:
    """Encode a message without the envelope, as version 1.0."""
    return encoding.encode(
        {**content, **_context_keys(context), '_unique_id': new_id()}
    )


def encode_response(
    call_id: str, result: Any, failure: str | None, ending: bool = True
) -> bytes:
    """Encode a response to a call."""
    return _encode(
        {
            'result': result,
            'failure': failure,
            'ending': ending,
            '_msg_id': call_id,
            '_unique_id': new_id(),
        }
    )


def decode(message: frames.Delivered) -> dict[str, Any]:
    """Decode a message from the broker.

    :raises ValueError: it is not a message in this format
    """
    body = message.body
    if message.compression:
        body = decompression.decompress(body, message.compression)
    content = encoding.decode(body)
    if isinstance(content, dict) and _TEXT in content and _VERSION in content:
        version, text = str(content[_VERSION]), content[_TEXT]
        if version.partition('.')[0] != '2' or not isinstance(text, str):
            raise ValueError(f'the envelope has the unknown version {version}')
        content = encoding.decode(text.encode())
    if not isinstance(content, dict):
        raise ValueError('the message is not a JSON object')
    return content


def split_request(content: dict[str, Any]) -> Request:
    """Return the parts of a message to a server.

    :param content: the result of :func:`decode`; this function changes it
    :raises ValueError: an id or the name of the reply queue is not valid
    """
    for key in ('_unique_id', '_msg_id', '_reply_q'):
        value = content.get(key)
        if value is not None and not (
            isinstance(value, str) and len(value.encode()) <= MAX_NAME
        ):
            raise ValueError(f'{key} must be a text of {MAX_NAME} bytes')
    size = len(_CONTEXT)
    context = {
        key[size:]: content.pop(key)
        for key in [key for key in content if key.startswith(_CONTEXT)]
    }
    return Request(
        content.pop('_unique_id', None),
        context,
        content,
        content.pop('_msg_id', None),
        content.pop('_reply_q', None) or '',
        content.pop('_timeout', None),
    )


def build(
    body: bytes, method: str, expiration: float | None, message_id: str = ''
) -> frames.Message:
    """Return a message for the broker.

    :param body: the encoded message
    :param method: kombu's name of a compression method; empty: none
    :param expiration: seconds after which the broker may drop the message
    :param message_id: id by which the broker returns it
    """
    compressed_by = ''
    if method:
        body, compressed_by = compression.compress(body, method)  # type: ignore[no-untyped-call]
    return frames.message(body, compressed_by, expiration, message_id)


def _encode(content: dict[str, Any]) -> bytes:
    text = encoding.encode(content).decode()
    return _PREFIX + encoding.encode(text) + b'}'


def _context_keys(context: Mapping[str, Any]) -> dict[str, Any]:
    return {f'{_CONTEXT}{key}': value for key, value in context.items()}
