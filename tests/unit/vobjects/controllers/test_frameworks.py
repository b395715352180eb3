# SPDX-License-Identifier: Apache-2.0
"""The negotiated version of a request of any framework."""

from __future__ import annotations

import copy
import pickle
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vobjects import exceptions
from vobjects.controllers import frameworks
from vobjects.controllers.frameworks import APIVersionRequest
from vobjects.microversions.version_policy import MICROVERSION
from vobjects.versions import Version


def request_at(version):
    return {MICROVERSION: Version.parse(version)}


@pytest.mark.parametrize(
    ('low', 'high', 'expected'),
    [
        ('1.8', None, True),
        ('1.9', None, False),
        (None, '1.8', True),
        (None, '1.7', False),
        ('1.2', '1.10', True),
        (Version(1, 8), Version(1, 8), True),
        (None, None, True),
    ],
)
def test_is_supported_compares_as_numbers(low, high, expected):
    assert frameworks.is_supported(request_at('1.8'), low, high) is expected


def test_is_supported_when_a_bound_is_malformed_is_an_error():
    with pytest.raises(exceptions.InvalidVersion):
        frameworks.is_supported(request_at('1.8'), '1.o8')


def test_version_of_reads_the_env_of_a_falcon_request():
    request = types.SimpleNamespace(env=request_at('1.7'))

    assert frameworks.version_of(request) == Version(1, 7)
    with pytest.raises(LookupError):
        frameworks.version_of(types.SimpleNamespace(env={}))


def test_version_when_compared_is_a_number():
    assert APIVersionRequest('2.10') > APIVersionRequest('2.9')
    assert APIVersionRequest('2.1') == Version(2, 1)
    assert str(APIVersionRequest('2.10')) == '2.10'
    assert isinstance(APIVersionRequest('2.1'), Version)


@pytest.mark.parametrize('text', ['', '2', 'latest', '2.01', '+2.1', ' 2.1'])
def test_version_when_malformed_is_a_value_error(text):
    with pytest.raises(ValueError, match='is not a version') as caught:
        APIVersionRequest(text)

    assert isinstance(caught.value, exceptions.InvalidVersion)


class Described(APIVersionRequest):
    """A version with the text that Cinder's and Manila's have."""

    def __str__(self):
        return f'API Version Request Major: {self.major}'


@pytest.mark.parametrize('version_class', [APIVersionRequest, Described])
@given(st.integers(1, 999), st.integers(0, 999))
def test_version_when_copied_pickled_or_parsed_is_the_same(
    version_class, major, minor
):
    version = version_class(f'{major}.{minor}')

    for other in (
        copy.copy(version),
        copy.deepcopy(version),
        pickle.loads(pickle.dumps(version)),
        version_class.parse(f'{major}.{minor}'),
    ):
        assert other == version
        assert type(other) is version_class


def test_null_version_when_copied_is_null():
    assert copy.deepcopy(APIVersionRequest()).is_null()
    assert APIVersionRequest('2.3').matches(APIVersionRequest())
