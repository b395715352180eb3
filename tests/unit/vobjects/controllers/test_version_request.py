# SPDX-License-Identifier: Apache-2.0
"""A version that is constructed from text."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vobjects import exceptions
from vobjects.controllers.version_request import APIVersionRequest
from vobjects.versions import Version


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
