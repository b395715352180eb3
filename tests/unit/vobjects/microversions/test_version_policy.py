# SPDX-License-Identifier: Apache-2.0
"""Version policies."""

import dataclasses

import pytest

from vobjects.microversions import presets
from vobjects.versions import Maximum, Version


def test_senlin_policy_is_the_clustering_service_from_1_0_to_1_14():
    assert presets.SENLIN.service_type == 'clustering'
    assert presets.SENLIN.major == 'v1'
    assert str(presets.SENLIN.minimum) == '1.0'
    assert str(presets.SENLIN.maximum) == '1.14'
    assert presets.SENLIN.method_missing_status == 404


def test_policies_with_equal_values_are_equal():
    assert dataclasses.replace(presets.SENLIN) == presets.SENLIN
    assert len({dataclasses.replace(presets.SENLIN), presets.SENLIN}) == 1


@pytest.mark.parametrize(
    ('values', 'words'),
    [
        ({'service_types': ()}, 'at least one'),
        ({'service_types': ('Clustering',)}, "'Clustering' is not"),
        ({'service_types': ('clus,tering',)}, 'is not a service type'),
        ({'maximum': Version(2, 3)}, 'same major'),
        ({'minimum': Version(1, 15)}, 'above maximum'),
        ({'minimum': Version(), 'maximum': Version()}, 'must not be null'),
        ({'default': Version(1, 99)}, 'default 1.99 must be between'),
        ({'path': 'one'}, "'one' is not a path segment"),
        ({'legacy_headers': ('X Y',)}, "'X Y' is not the name of a header"),
        ({'response_headers': (('X-Y', '{pony}'),)}, 'invalid template'),
        ({'response_headers': (('X-Y', '{'),)}, 'invalid template'),
    ],
)
def test_policy_when_contradictory_is_rejected(values, words):
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(presets.SENLIN, **values)


@pytest.mark.parametrize(
    ('maximum', 'expected'),
    [
        (None, Maximum(Version(1, 14))),
        (Maximum(Version(1, 20), 'of something'), Maximum(Version(1, 14))),
        (Maximum(Version(1, 7), 'old'), Maximum(Version(1, 7), 'old')),
        (Maximum(Version(0, 0), 'none'), Maximum(Version(1, 0), 'none')),
    ],
)
def test_limit_is_within_the_versions_of_this_build(maximum, expected):
    assert presets.SENLIN.limit(maximum) == expected
