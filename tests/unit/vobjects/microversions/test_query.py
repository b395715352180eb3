# SPDX-License-Identifier: Apache-2.0
"""Query strings: text to fields."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.vobjects.microversions import samples
from vobjects.microversions import errors, query
from vobjects.versions import Version

NAMES = ('limit', 'marker', 'status', 'ratio', 'hidden', 'nodes', 'deep')


def coerce(text, version='1.14'):
    return query.coerce_query(
        samples.SampleListRequest,
        Version.parse(version),
        NAMES,
        query.parse_pairs(text),
    )


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('', {}),
        ('limit=10', {'limit': 10}),
        ('limit=0', {'limit': 0}),
        ('marker=10', {'marker': '10'}),
        ('marker=', {'marker': ''}),
        ('marker=a%20b+c', {'marker': 'a b c'}),
        ('marker=caf%C3%A9', {'marker': 'café'}),
        ('hidden=true', {'hidden': True}),
        ('hidden=False', {'hidden': False}),
        ('hidden=1', {'hidden': True}),
        ('hidden=off', {'hidden': False}),
        ('ratio=0.5', {'ratio': 0.5}),
        ('ratio=2', {'ratio': 2.0}),
        ('status=ACTIVE', {'status': ['ACTIVE']}),
        ('status=ACTIVE&status=ERROR', {'status': ['ACTIVE', 'ERROR']}),
        ('nodes=3', {'nodes': 3}),
        ('deep=yes', {'deep': True}),
    ],
)
def test_coerce_query_converts_each_value_to_its_field(text, expected):
    assert coerce(text) == expected


@pytest.mark.parametrize(
    ('text', 'detail'),
    [
        ('limit=ten', "query.limit: must be an integer, not 'ten'."),
        ('limit=1.5', "query.limit: must be an integer, not '1.5'."),
        ('limit=%D9%A3', "query.limit: must be an integer, not '٣'."),
        ('limit=', "query.limit: must be an integer, not ''."),
        ('limit=-1', 'query.limit: must be at least 0, not -1.'),
        ('limit=' + '9' * 30, 'query.limit: must be an integer, not '),
        ('hidden=maybe', "query.hidden: must be true or false, not 'maybe'."),
        ('ratio=nan', "query.ratio: must be a number, not 'nan'."),
        ('ratio=1e400', "query.ratio: must be a number, not '1e400'."),
        ('marker=a&marker=b', 'query.marker: is given more than once.'),
        ('limit=1&limit=1', 'query.limit: is given more than once.'),
        (
            'status=ACTIVE&status=PONY',
            "query.status[1]: must be one of 'ACTIVE', 'ERROR', not 'PONY'.",
        ),
        ('lmit=3', "query.lmit: unknown; did you mean 'limit'?"),
        ('name=x', "query.name: unknown; known here: 'deep', 'hidden',"),
    ],
)
def test_coerce_query_when_invalid_names_location_and_problem(text, detail):
    with pytest.raises(errors.ValidationError) as caught:
        coerce(text)

    assert caught.value.detail.startswith(detail.removesuffix('.'))


def test_coerce_query_when_a_parameter_is_newer_names_its_version():
    with pytest.raises(errors.ValidationError) as caught:
        coerce('deep=true', '1.4')

    assert caught.value.detail == (
        "query.deep: 'deep' needs API version 1.6 or later; this request"
        ' asked for 1.4.'
    )
    assert caught.value.available_from == (1, 6)


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('marker=%FF', 'percent-encoded UTF-8'),
        ('marker=\xe9', 'percent-encoded UTF-8'),
        ('marker=a%00b', r'U\+0000'),
        ('x%00=b', r'U\+0000'),
        ('a=b&' * 300, '256 parameters'),
        ('a' * 9000, '9000 characters'),
    ],
)
def test_parse_pairs_when_malformed_gives_the_reason(text, words):
    with pytest.raises(errors.MalformedQuery, match=words):
        query.parse_pairs(text)


@given(st.text(max_size=200))
def test_query_for_any_text_returns_fields_or_an_error(text):
    result = samples.outcome(coerce, text)

    if isinstance(result, dict):
        assert result.keys() <= set(NAMES)
    else:
        assert isinstance(result, errors.InputError)


@given(st.sampled_from(NAMES), st.text(max_size=30))
def test_coerce_query_for_any_value_returns_fields_or_an_error(name, value):
    result = samples.outcome(
        query.coerce_query,
        samples.SampleListRequest,
        Version(1, 14),
        NAMES,
        [(name, value)],
    )

    if isinstance(result, dict):
        assert list(result) == [name]
    else:
        assert isinstance(result, errors.ValidationError)
        assert result.path.startswith(f'query.{name}')
