# SPDX-License-Identifier: Apache-2.0
"""Encoding, decoding and splitting of frames."""

from __future__ import annotations

import datetime
import enum
import json
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oslo_serialization import jsonutils

from vobjects.rpc.drivers import errors, framing
from vobjects.rpc.drivers.framing import Frame, FrameKind

LIMIT = 1000

frames = st.lists(
    st.builds(
        Frame,
        st.sampled_from(FrameKind),
        st.integers(0, 2**64 - 1),
        st.binary(max_size=50),
    )
)


class Colour(enum.StrEnum):
    RED = 'red'


@given(frames, st.lists(st.integers(1, 40), min_size=1))
def test_feed_when_frames_are_split_anywhere_returns_them(
    sent: list[Frame], sizes: list[int]
) -> None:
    stream = b''.join(framing.pack(*frame, LIMIT) for frame in sent)
    reader = framing.FrameReader(LIMIT)
    received: list[Frame] = []
    while stream:
        for size in sizes:
            received += reader.feed(stream[:size])
            stream = stream[size:]
    assert received == sent


@pytest.mark.parametrize(
    'value',
    [
        {'a': [1, 2.5, None, True, 'ü', '\ud800', 2**70, {}]},
        (1, (2, 3)),
        {1: 'a key that is a number'},
        {'when': datetime.datetime(2026, 11, 21, tzinfo=datetime.UTC)},
        {1, 2},
        float('inf'),
        {'id': uuid.UUID(int=7)},
        {'kind': framing.FrameKind.CALL, 'text': Colour.RED, None: 1},
    ],
)
def test_decode_when_value_was_encoded_is_like_jsonutils(
    value: object,
) -> None:
    assert framing.decode(framing.encode(value)) == jsonutils.loads(
        jsonutils.dumps(value)
    )


def test_decode_when_value_is_nan_returns_nan() -> None:
    assert json.dumps(framing.decode(framing.encode(float('nan')))) == 'NaN'


def test_pack_when_payload_is_too_large_raises() -> None:
    with pytest.raises(
        errors.FrameTooLarge, match=r'1001 bytes .* 1000 bytes'
    ):
        framing.pack(FrameKind.CALL, 1, b'x' * 1001, LIMIT)


def test_feed_when_announced_length_is_too_large_raises_at_once() -> None:
    head = framing.HEADER.pack(1001, FrameKind.CALL, 1)
    with pytest.raises(errors.FrameTooLarge):
        framing.FrameReader(LIMIT).feed(head)


@pytest.mark.parametrize('head', [b'GET / HTTP/1.1\r\n', b'\0' * 13])
def test_feed_when_kind_is_unknown_raises(head: bytes) -> None:
    with pytest.raises(errors.MalformedFrame, match='kind'):
        framing.FrameReader(LIMIT).feed(head)


@pytest.mark.parametrize('payload', [b'', b'{', b'\xff', b'[' * 100_000])
def test_decode_when_payload_is_not_json_raises(payload: bytes) -> None:
    with pytest.raises(errors.MalformedFrame, match='not JSON'):
        framing.decode(payload)
