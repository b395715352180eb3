# SPDX-License-Identifier: Apache-2.0
"""Version policies."""

from __future__ import annotations

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
    ],
)
def test_policy_when_contradictory_is_rejected(values, words):
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(presets.SENLIN, **values)


def test_limit_without_fleet_is_the_newest_of_this_build():
    assert presets.SENLIN.limit() == Maximum(Version(1, 14))


def test_limit_when_fleet_is_newer_is_the_newest_of_this_build():
    newer = Maximum(Version(1, 20), 'of something')

    assert presets.SENLIN.limit(newer) == Maximum(Version(1, 14))


def test_limit_when_fleet_serves_nothing_is_the_minimum_with_a_reason():
    none = Maximum(Version(0, 0), 'no engine is alive')

    assert presets.SENLIN.limit(none) == Maximum(
        Version(1, 0), 'no engine is alive'
    )


def test_limit_when_fleet_is_older_is_that_of_the_fleet():
    older = Maximum(Version(1, 7), 'engine-2 is older')

    assert presets.SENLIN.limit(older) is older
