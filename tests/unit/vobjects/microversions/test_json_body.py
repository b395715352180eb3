# SPDX-License-Identifier: Apache-2.0
"""Safe parsing of JSON bodies."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.vobjects.microversions import samples
from vobjects.microversions import errors, json_body

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(
        st.characters(exclude_categories=['Cs'], exclude_characters='\0')
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(
                st.characters(
                    exclude_categories=['Cs'], exclude_characters='\0'
                ),
                max_size=5,
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON, st.booleans())
def test_load_json_for_any_value_returns_it(value, ascii_only):
    raw = json.dumps(value, ensure_ascii=ascii_only).encode()

    assert json_body.load_json(raw) == value


@given(
    st.binary()
    | st.text('{}[]",:\\u0d8eE+-.NaIfity123 \n').map(str.encode)
    | JSON.map(json.dumps).map(lambda text: text.encode()[:-1])
)
def test_load_json_for_any_bytes_returns_a_value_or_an_error(raw):
    response = samples.outcome(json_body.load_json, raw)

    if isinstance(response, errors.InputError):
        assert response.detail.endswith('.')
        assert len(response.detail) < 300
    else:
        json.dumps(response, allow_nan=False, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ('raw', 'words'),
    [
        (b'', 'is empty'),
        (b' \n', 'is empty'),
        (b'{"a": 1', 'is not JSON: Expecting'),
        (b'{"a": 1} x', 'Extra data at line 1, column 10'),
        (b"{'a': 1}", 'at line 1, column 2'),
        (b'{"a": 1,}', 'is not JSON'),
        (b'{"a": "\n"}', 'Invalid control character'),
        (b'{"a": 01}', 'is not JSON'),
        (b'\xef\xbb\xbf{}', 'byte order mark'),
        ('{}'.encode('utf-16'), 'is not UTF-8: byte 0 is 0xff'),
        (b'{"a": "\xff"}', 'is not UTF-8: byte 7 is 0xff'),
        (b'{"a": "\xed\xa0\x80"}', 'is not UTF-8'),
        (b'{"a": 1, "b": {"c": 1, "c": 1}}', "'c' occurs twice"),
        (b'{"a": NaN}', 'NaN is not JSON'),
        (b'[Infinity]', 'Infinity is not JSON'),
        (b'-Infinity', '-Infinity is not JSON'),
        (b'{"a": 1e999}', 'number 1e999 is too large'),
        (b'{"a": -1e999}', 'number -1e999 is too large'),
        (b'9223372036854775808', 'does not fit 64 bits'),
        (b'-9223372036854775809', 'does not fit 64 bits'),
        (b'1' * 5000, 'does not fit 64 bits'),
        (b'-' + b'1' * 200_000, 'does not fit 64 bits'),
        (b'"\\ud800"', r'U\+D800'),
        (b'["a\\uDFFF"]', r'U\+DFFF'),
        (b'{"a": {"x\\u0000": 1}}', r'U\+0000'),
        (b'[%s1]' % (b'{},' * 20_000), 'more than 32768 values'),
        (b'{"a": [%s1]}' % (b'0,' * 40_000), 'more than 32768 values'),
    ],
)
def test_load_json_when_unsafe_names_the_problem(raw, words):
    with pytest.raises(errors.MalformedBody, match=words) as caught:
        json_body.load_json(raw)

    assert caught.value.status == 400
    assert len(caught.value.detail) < 300


@pytest.mark.parametrize(
    'raw',
    [
        b'9223372036854775807',
        b'-9223372036854775808',
        b'"\\ud83d\\ude00"',
        b'[%s1]' % (b'0,' * (json_body.MAX_VALUES - 2)),
        b'["%s"]' % (b'[{,' * 40_000),
    ],
)
def test_load_json_when_just_within_limits_is_parsed(raw):
    assert json_body.load_json(raw) == json.loads(raw)


def test_load_json_when_too_long_names_the_limit():
    with pytest.raises(
        errors.BodyTooLarge, match='101 bytes; the maximum is 100'
    ) as caught:
        json_body.load_json(b' ' * 101, max_bytes=100)

    assert caught.value.status == 413


@pytest.mark.parametrize(
    ('before', 'after'), [(b'[', b']'), (b'{"a":', b'}'), (b'[{"a":', b'}]')]
)
def test_load_json_when_nested_to_the_limit_is_parsed(before, after):
    times = 64 // (before.count(b'[') + before.count(b'{'))

    json_body.load_json(before * times + b'1' + after * times)
    with pytest.raises(errors.MalformedBody, match='more than 64 deep'):
        json_body.load_json(
            b'[' + before * times + b'1' + after * times + b']'
        )


def test_load_json_when_nested_deeply_is_rejected_without_recursion():
    with pytest.raises(errors.MalformedBody, match='deep'):
        json_body.load_json(b'[' * 500_000)


def test_load_json_when_brackets_are_text_or_adjacent_is_parsed():
    value = {'a': ['[[[{{{"' * 100, '\\'], 'b': [[]] * 200}

    assert json_body.load_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    'raw',
    [
        b'[' * 100 + b'\\"' * 400_000,
        b'"' + b'\\"[' * 300_000,
        b'[' * 100 + b'"' * 800_001,
        b'["' + b'\\' * 900_000,
    ],
)
def test_load_json_for_hostile_text_takes_linear_time(raw):
    started = time.monotonic()

    with pytest.raises(errors.MalformedBody):
        json_body.load_json(raw)

    # A quadratic scan of these takes minutes.
    assert time.monotonic() - started < 5
