# SPDX-License-Identifier: Apache-2.0
"""JSON of messages means the same as that of other drivers."""

from __future__ import annotations

import datetime
import enum
import json
import math
import uuid

import pytest
from oslo_serialization import jsonutils

from oslo_messaging_driverlib import encoding


class Colour(enum.StrEnum):
    RED = 'red'


class Number(enum.IntEnum):
    ONE = 1


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
        {'kind': Number.ONE, 'text': Colour.RED, None: 1},
    ],
)
def test_decode_when_value_was_encoded_is_like_jsonutils(
    value: object,
) -> None:
    assert encoding.decode(encoding.encode(value)) == jsonutils.loads(
        jsonutils.dumps(value)
    )


def test_decode_when_value_is_nan_returns_nan() -> None:
    assert json.dumps(encoding.decode(encoding.encode(float('nan')))) == 'NaN'


@pytest.mark.parametrize('number', [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize(
    'wrap', [lambda n: [None, n], lambda n: {'a': {'b': (1, n)}}]
)
def test_encode_never_replaces_a_number_by_null(wrap, number) -> None:
    assert json.loads(encoding.encode(wrap(number)), parse_constant=str) == (
        json.loads(jsonutils.dumps(wrap(number)), parse_constant=str)
    )


@pytest.mark.parametrize(
    ('text', 'is_decoded'),
    [
        (json.dumps([0] * 99), True),
        (json.dumps([0] * 100), False),
        (json.dumps([[]] * 50), False),
        (json.dumps([{}] * 50), False),
        (json.dumps({str(n): n for n in range(100)}), False),
        (json.dumps({'a': {'b': [None] * 100}}), False),
        (json.dumps(',[{' * 100), True),
        (json.dumps('\\"' * 100 + ',' * 200), True),
        (json.dumps([json.dumps([{}] * 100)] * 9), True),
        ('[' * 200, False),
    ],
)
def test_decode_when_text_has_too_many_values_raises(
    text: str, is_decoded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, 'MAX_VALUES', 100)
    if is_decoded:
        assert encoding.decode(text.encode()) == json.loads(text)
    else:
        with pytest.raises(ValueError, match='more than 100 values'):
            encoding.decode(text.encode())
