# SPDX-License-Identifier: Apache-2.0
"""The negotiated version of a request of any framework."""

from __future__ import annotations

import types

import pytest

from vobjects import exceptions
from vobjects.controllers import frameworks
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
