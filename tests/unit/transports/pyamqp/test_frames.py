# SPDX-License-Identifier: Apache-2.0
"""Frames of messages, compared with those of py-amqp."""

from __future__ import annotations

import struct
import types
from typing import Any

import amqp
import pytest
from amqp import method_framing, spec
from amqp.serialization import dumps

from oslo_messaging_pyamqp import frames

CHANNEL = 3
FRAME_MAX = 4096


class Transport:
    """Collects what is written to it."""

    def __init__(self) -> None:
        self.written = b''

    def write(self, data: bytes) -> None:
        self.written += bytes(data)


def by_py_amqp(method: Any, arguments: bytes, content: Any = None) -> bytes:
    """Return the frames that py-amqp writes for a method."""
    transport = Transport()
    connection = types.SimpleNamespace(frame_max=FRAME_MAX, bytes_sent=0)
    write = method_framing.frame_writer(connection, transport)
    write(frames.METHOD, CHANNEL, method, arguments, content)
    return transport.written


def split(data: bytes) -> list[tuple[int, bytes]]:
    """Return the kinds and payloads of frames."""
    result = []
    while data:
        kind, channel, size = frames.PREFIX.unpack_from(data)
        end = frames.PREFIX.size + size
        assert (channel, data[end]) == (CHANNEL, frames.END)
        result.append((kind, data[frames.PREFIX.size : end]))
        data = data[end + 1 :]
    return result


def delivered(content: amqp.Message, redelivered: bool) -> frames.Delivered:
    """Return a message as it arrives in frames written by py-amqp."""
    arguments = dumps(
        'sLbss', ('consumer', 2**40, redelivered, 'exchange', 'key')
    )
    method, *others = split(by_py_amqp(spec.Basic.Deliver, arguments, content))
    message = frames.Delivered(method[1])
    is_complete = []
    for kind, payload in others:
        add = message.add_header if kind == frames.HEADER else message.add_body
        is_complete.append(add(payload))
    assert is_complete == [False] * (len(others) - 1) + [True]
    return message


@pytest.mark.parametrize('size', [0, 1, FRAME_MAX - 8, 3 * FRAME_MAX])
@pytest.mark.parametrize(
    ('ours', 'theirs'),
    [
        pytest.param(('', None, ''), {}, id='plain'),
        pytest.param(
            ('application/x-gzip', 1.5, '17'),
            {
                'application_headers': {'compression': 'application/x-gzip'},
                'expiration': '1500',
                'message_id': '17',
            },
            id='all properties',
        ),
    ],
)
def test_publish_writes_the_same_bytes_as_py_amqp(
    size: int, ours: tuple[str, float | None, str], theirs: dict[str, Any]
) -> None:
    body = b'x' * size
    properties = {
        'content_type': 'application/json',
        'content_encoding': 'utf-8',
        'application_headers': {},
        'delivery_mode': 2,
        'priority': 0,
        **theirs,
    }
    arguments = dumps('Bssbb', (0, 'exchange', 'kéy', True, False))
    expected = by_py_amqp(
        spec.Basic.Publish, arguments, amqp.Message(body, **properties)
    )
    assert expected == frames.publish(
        CHANNEL,
        FRAME_MAX,
        'exchange',
        'kéy',
        True,
        frames.message(body, *ours),
    )


def test_publish_with_a_long_name_raises() -> None:
    message = frames.message(b'', '', None, '')
    with pytest.raises(ValueError, match='256'):
        frames.publish(CHANNEL, FRAME_MAX, '', 'x' * 256, False, message)


def test_acknowledge_writes_the_same_bytes_as_py_amqp() -> None:
    arguments = dumps('Lb', (2**40, False))
    expected = by_py_amqp(spec.Basic.Ack, arguments)
    assert frames.acknowledge(CHANNEL, 2**40) == expected


@pytest.mark.parametrize('size', [0, 1, 3 * FRAME_MAX])
@pytest.mark.parametrize('redelivered', [False, True])
@pytest.mark.parametrize(
    ('properties', 'compression'),
    [
        ({}, ''),
        ({'content_type': 'text/plain', 'message_id': 'a'}, ''),
        ({'application_headers': {'other': 1}}, ''),
        ({'application_headers': {'compression': 'gzip'}}, 'gzip'),
        (
            {
                'content_type': 'application/json',
                'content_encoding': 'utf-8',
                'application_headers': {'compression': 'gzip'},
            },
            'gzip',
        ),
    ],
)
def test_delivered_message_is_complete(
    size: int,
    redelivered: bool,
    properties: dict[str, Any],
    compression: str,
) -> None:
    body = bytes(range(256)) * (size // 256) + b'x' * (size % 256)
    message = delivered(amqp.Message(body, **properties), redelivered)
    assert message.consumer == 'consumer'
    assert message.tag == 2**40
    assert message.is_redelivered == redelivered
    assert message.body == body
    assert message.compression == compression


@pytest.mark.parametrize(
    'properties',
    [
        b'',  # content type missing
        b'\xff',  # longer than the frame
        b'\0\0\xff\xff\xff\xff',  # headers longer than the frame
        b'\0\0\0\0\0\3\1\xffS',  # header that is not UTF-8
    ],
)
def test_delivered_message_with_bad_properties_is_complete(
    properties: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    method = struct.pack('>HH', *spec.Basic.Deliver) + dumps(
        'sLbss', ('consumer', 1, False, '', '')
    )
    message = frames.Delivered(method)
    header = struct.pack('>HHQH', 60, 0, 2, 0xE000) + properties
    assert not message.add_header(header)
    assert message.add_body(b'{}')
    assert (message.body, message.compression) == (b'{}', '')
    assert 'cannot be read' in caplog.text
