# SPDX-License-Identifier: Apache-2.0
"""Versions are parsed strictly and ordered as numbers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vobjects import exceptions
from vobjects.versions import NULL, Version

#: The API-SIG microversion specification, word for word.
SPECIFIED = re.compile(r'^([1-9]\d*)\.([1-9]\d*|0)$', re.ASCII)

numbers = st.integers(min_value=0, max_value=10**6)
versions = st.builds(
    Version, st.integers(min_value=1, max_value=10**6), numbers
)


@pytest.mark.parametrize(
    'text',
    [
        '1.03',
        '+1.3',
        '1.1_0',
        '1',
        '1.',
        '.1',
        '0.1',
        '1.1.1',
        ' 1.1',
        '1.1 ',
        '1.1\n',
        '-1.1',
        '1.-1',
        'latest',
        '',
        '\u0661.\u0661',
        '1' * 4000 + '.0',
        '1.' + '9' * 5000,
    ],
)
def test_parse_when_malformed_raises(text: str) -> None:
    with pytest.raises(exceptions.InvalidVersion) as caught:
        Version.parse(text)
    assert isinstance(caught.value, ValueError)
    assert len(str(caught.value)) < 300


@given(versions)
def test_parse_when_canonical_is_inverse_of_str(version: Version) -> None:
    assert Version.parse(str(version)) == version


@given(st.text(alphabet='0123456789.+-_ \n', max_size=8))
def test_parse_accepts_exactly_the_specification(text: str) -> None:
    # '$' also matches before a final newline, which no version has.
    expected = bool(SPECIFIED.match(text)) and not text.endswith('\n')
    try:
        Version.parse(text)
    except exceptions.InvalidVersion:
        assert not expected
    else:
        assert expected


def test_order_is_numeric() -> None:
    assert Version.parse('1.9') < Version.parse('1.10') < Version.parse('2.0')


def test_matches_when_bounds_are_null_restricts_nothing() -> None:
    version = Version.parse('1.5')
    assert version.matches()
    assert version.matches(NULL, NULL)
    assert version.matches(Version(1, 5), Version(1, 5))
    assert version.matches(None, Version(1, 6))
    assert not version.matches(Version(1, 6), None)
    assert not version.matches(NULL, Version(1, 4))


def test_matches_when_null_itself_raises() -> None:
    with pytest.raises(ValueError, match='null'):
        Version().matches(Version(1, 0), Version(1, 1))


def test_null_is_false() -> None:
    assert Version().is_null()
    assert not Version()
    assert Version(1, 0)
