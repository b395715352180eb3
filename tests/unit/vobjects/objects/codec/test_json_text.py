# SPDX-License-Identifier: Apache-2.0
"""JSON text equals that of ``json``, and no data is lost."""

from __future__ import annotations

import enum
import json
import math
import tracemalloc
import uuid
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oslo_versionedobjects import exception as ovo_exception

from vobjects import fields, json_depth, objects
from vobjects.objects.codec import json_text
from vobjects.objects.history import added
from vobjects.objects.manifest import Manifest
from vobjects.rpc import serializer
from vobjects_testing import strategies

from .test_equivalence import sorted_changes

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


def same(value: Any, other_value: Any) -> bool:
    """Compare values; NaN equals itself, and 1 differs from 1.0."""
    return repr(value) == repr(other_value)


@pytest.fixture(
    autouse=True, scope='module', params=[orjson, None], ids=['orjson', 'json']
)
def writer(request: pytest.FixtureRequest) -> Iterator[None]:
    """Write with orjson, and as if it were not installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_text, 'orjson', request.param)
        yield


@given(json_values)
@example([2**64, -(2**63) - 1, 2**63, 10**19, 10**40])
@example({'a': math.nan, 'b': None, 'c': [math.inf, -math.inf]})
@example('\ud800')
@example({'\ud800': 1})
@example([[[]]] * 3)
def test_dumps_and_loads_equal_json(value: Any) -> None:
    expected = json.loads(json.dumps(value))
    assert same(json_text.loads(json_text.dumps(value)), expected)
    assert same(json.loads(json_text.dumps(value)), expected)
    assert same(json_text.loads(json.dumps(value).encode()), expected)


@given(st.text(max_size=30))
def test_loads_when_invalid_raises_the_error_of_json(text: str) -> None:
    data = text.encode('utf-8', 'surrogatepass')
    try:
        expected = json.loads(data)
    except ValueError as error:
        with pytest.raises(type(error)):
            json_text.loads(data)
    else:
        assert same(json_text.loads(data), expected)


@pytest.mark.parametrize('value', [{1: 'a'}, {None: 1}, (1, (2,)), 'é'])
def test_dumps_when_orjson_differs_equals_json(value: Any) -> None:
    assert json_text.loads(json_text.dumps(value)) == json.loads(
        json.dumps(value)
    )


class Colour(enum.Enum):
    RED = 'red'


def test_dumps_writes_raw_json_and_the_values_of_scalars() -> None:
    raw = json_text.RawJson(b'{"a": [1]}')
    number = uuid.UUID(int=1)
    value = {'raw': [raw], 'nan': math.nan, 'id': number, 'is': Colour.RED}
    assert repr(json_text.loads(json_text.dumps(value))) == repr(
        {'raw': [{'a': [1]}], 'nan': math.nan, 'id': str(number), 'is': 'red'}
    )


@pytest.mark.parametrize('value', [{1}, object(), b'bytes', {(1,): 2}])
def test_dumps_when_not_json_raises(value: Any) -> None:
    with pytest.raises(TypeError):
        json_text.dumps(value)


@objects.register
class Sample(objects.Object):
    VERSION = '1.1'
    fields = {
        'name': fields.StringField(nullable=True),
        'weight': fields.FloatField(nullable=True),
        'weights': fields.Field(fields.List(fields.Float()), nullable=True),
        'metadata': fields.JsonField(nullable=True),
        'samples': fields.ListOfObjectsField('Sample', nullable=True),
        'tag': added('1.1', fields.StringField(nullable=True)),
    }


@pytest.mark.parametrize(
    'values',
    [
        {'weight': math.nan},
        {'weights': [1.0, math.inf]},
        {'metadata': {'deep': [{'er': math.nan}]}},
    ],
)
@pytest.mark.parametrize('inside', [False, True])
def test_nan_is_not_written_as_null(
    values: dict[str, Any], inside: bool
) -> None:
    sample = Sample(name=None, **values)
    if inside:
        sample = Sample(name=None, samples=[Sample(), sample])
    data = serializer.to_bytes([sample], None)
    assert b'NaN' in data or b'Infinity' in data
    (decoded,) = serializer.from_bytes(data)
    assert same(decoded.obj_to_primitive(), sample.obj_to_primitive())


@pytest.mark.parametrize(
    'beside', ['a', 'NaN', '\ud800', 10**40, 1e308, json_text.RawJson(b'[]')]
)
def test_finite_text_has_null_in_place_of_nan(
    beside: Any,
) -> None:
    value = {'a': [math.nan, -math.inf], 'b': {'c': math.inf}, 'd': beside}

    def reject(name: str) -> None:
        raise AssertionError(name)

    text = json_text.dumps(value, finite=True)
    expected = [] if isinstance(beside, json_text.RawJson) else beside
    assert json.loads(text, parse_constant=reject) == {
        'a': [None, None],
        'b': {'c': None},
        'd': expected,
    }


@settings(max_examples=30)
@given(strategies.instances(Sample))
def test_from_bytes_is_inverse_of_to_bytes(sample: objects.Object) -> None:
    data = serializer.to_bytes({'one': sample, 'more': [1, sample]}, None)
    orjson.loads(data)
    decoded = serializer.from_bytes(data, 'context')
    assert decoded['more'][0] == 1
    assert decoded['one'].obj_context == 'context'
    assert sorted_changes(decoded['one'].obj_to_primitive()) == sorted_changes(
        sample.obj_to_primitive()
    )


def test_to_bytes_uses_versions_of_receiver() -> None:
    old = Manifest({'Sample': '1.0'})
    data = serializer.to_bytes(Sample(name='a', tag=None), old)
    assert b'"1.0"' in data
    assert b'tag' not in data
    serializer.from_bytes(data, supported=old)
    newest = serializer.to_bytes(Sample(name='a'), None)
    with pytest.raises(ovo_exception.IncompatibleObjectVersion):
        serializer.from_bytes(newest, supported=old)


@pytest.mark.parametrize(
    ('text', 'depth'),
    [
        (b'1', 0),
        (b'[]', 1),
        (b'{"a":{}}', 2),
        (b'[[],[],[]]', 2),
        (b'[{"a":[1]},[]]', 3),
        (b'["[[[[[["]', 1),
        (b'["\\"[[[["]', 1),
    ],
)
def test_too_deep_when_beyond_the_limit(text: bytes, depth: int) -> None:
    value = json_text.loads(text)
    for limit in range(5):
        expected = depth > limit
        assert json_depth.is_too_deep(value, limit) is expected
        assert (json_depth.too_deep_at(text, limit) is not None) is expected


@pytest.mark.parametrize(
    ('text', 'count'),
    [
        (b'1', 1),
        (b'[1,2]', 3),
        (b'{"a":1,"b":[2]}', 4),
        (b'[[],{}]', 5),
        (b'["a,b,[,{"]', 2),
        (b'["\\",\\",", "\\\\", 1]', 4),
    ],
)
def test_has_too_many_values_when_beyond_the_limit(
    text: bytes, count: int
) -> None:
    json.loads(text)
    for limit in range(1, 7):
        expected = count > limit
        assert json_depth.has_too_many_values(text, limit) is expected


@pytest.mark.parametrize('value', [b'"",', b'"":0,', b'"', b'"\\","'])
def test_count_of_values_takes_no_more_memory_than_the_text(
    value: bytes,
) -> None:
    text = b'["a,[{",' + value * (1 << 16) + b','
    tracemalloc.start()
    try:
        json_depth.has_too_many_values(text, 1 << 14)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= len(text) + (1 << 12)


@pytest.mark.parametrize(
    ('read', 'value'),
    [
        (json_text.loads, b'0'),
        (json_text.loads, b'{}'),
        (json_text.loads, b'{"a":[{}]}'),
        (serializer.from_bytes, b'0'),
    ],
)
def test_long_text_of_too_many_values_is_rejected(
    read: Any, value: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limits differ by a factor of four, as the real ones."""
    monkeypatch.setattr(json_text, 'UNCOUNTED_BYTES', 4 << 10)
    monkeypatch.setattr(json_text, 'MAX_VALUES', 1 << 10)

    def text_of(size: int) -> bytes:
        return b'[%s]' % b','.join([value] * (size // (len(value) + 1) - 1))

    assert len(read(text_of(json_text.UNCOUNTED_BYTES))) > 1
    with pytest.raises(ValueError, match='more than 1024 values'):
        read(text_of(5 << 10))


def test_long_text_of_few_values_is_read() -> None:
    value = ['a,[{' * (2 << 20)]
    assert json_text.loads(json_text.dumps(value)) == value
