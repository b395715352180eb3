# SPDX-License-Identifier: Apache-2.0
"""Encoding, decoding and splitting of frames."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oslo_messaging_embedded import errors, framing
from oslo_messaging_embedded.framing import Frame, FrameKind

LIMIT = 1000

frames = st.lists(
    st.builds(
        Frame,
        st.sampled_from(FrameKind),
        st.integers(0, 2**64 - 1),
        st.binary(max_size=50),
    )
)


def test_frames_keep_their_form() -> None:
    # A process of another release reads them.
    call = framing.pack(FrameKind.CALL, 258, b'[{},{},null]', LIMIT)
    assert call == (b'\0\0\0\x0c\x01\0\0\0\0\0\0\x01\x02[{},{},null]')
    assert {kind.name: kind.value for kind in FrameKind} == {
        'CALL': 1,
        'CAST': 2,
        'FANOUT': 3,
        'REPLY': 16,
        'FAILURE': 17,
        'HEARTBEAT': 18,
        'ACCEPTED': 19,
        'REJECTED': 20,
        'TOO_LARGE': 21,
    }


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
