# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import distribution
from engine.distribution import Location
from vobjects.clustering import errors


@pytest.mark.parametrize(
    ('weights', 'current', 'count', 'expected'),
    [
        ({'a': 100, 'b': 50}, {}, 3, {'a': 2, 'b': 1}),
        ({'a': 100, 'b': 100}, {}, 3, {'a': 2, 'b': 1}),
        ({'a': 100, 'b': 100}, {'a': 3}, 2, {'b': 2}),
        ({'a': 100, 'b': 0}, {}, 2, {'a': 2}),
        ({'a': 1}, {}, 0, {}),
    ],
)
def test_additions_follow_weights(
    weights: dict[str, int],
    current: dict[str, int],
    count: int,
    expected: dict[str, int],
) -> None:
    locations = [Location(name, weight) for name, weight in weights.items()]
    assert distribution.choose_additions(locations, current, count) == expected


def test_additions_when_caps_are_reached_have_no_plan() -> None:
    locations = [Location('a', 100, 1), Location('b', 10, 2)]
    assert distribution.choose_additions(locations, {}, 3) == {'a': 1, 'b': 2}
    assert distribution.choose_additions(locations, {'a': 1}, 3) is None


@pytest.mark.parametrize(
    ('current', 'count', 'expected'),
    [
        ({'a': 4, 'b': 2}, 3, {'a': 2, 'b': 1}),
        ({'a': 4, 'b': 2, '': 2}, 3, {'b': 1, '': 2}),
        ({'a': 1, 'b': 2}, 1, {'b': 1}),
        ({'a': 1}, 5, {'a': 1}),
    ],
)
def test_removals_come_from_the_fullest_locations(
    current: dict[str, int], count: int, expected: dict[str, int]
) -> None:
    locations = [Location('a', 100), Location('b', 50)]
    assert distribution.choose_removals(locations, current, count) == expected


NUMBERS = st.dictionaries(
    st.sampled_from('abcd'), st.integers(1, 9), min_size=1
)


@given(NUMBERS, st.integers(0, 30))
def test_added_nodes_can_all_be_removed(
    weights: dict[str, int], count: int
) -> None:
    locations = [Location(name, weight) for name, weight in weights.items()]
    plan = distribution.choose_additions(locations, {}, count)
    assert plan is not None
    assert sum(plan.values()) == count
    assert distribution.choose_removals(locations, plan, count) == plan
    for location in locations:
        share = count * location.weight / sum(weights.values())
        assert abs(plan.get(location.name, 0) - share) <= len(locations)


@pytest.mark.parametrize(
    ('spec', 'message'),
    [
        ([], 'at least one zone'),
        ([{'name': 'a', 'weight': 0}], 'at least one zone'),
        ([{'name': 'a', 'weight': -1}], 'weight of zone a'),
        ([{'name': '', 'weight': 1}], 'needs a name'),
        ([{'name': 'a', 'weight': 1}] * 2, 'two zones a'),
    ],
)
def test_invalid_locations_are_rejected(
    spec: list[dict[str, object]], message: str
) -> None:
    with pytest.raises(errors.InvalidSpec, match=message):
        distribution.parse_locations(spec, 'zone')


def test_placement_combines_all_policies() -> None:
    decided = {
        'creation': {
            'zones': {'z2': 1, 'z1': 1},
            'regions': {'r': 2},
        },
        'placement': {'placements': [{'servergroup': 'g'}] * 2},
    }
    assert distribution.new_placements(decided, 2) == [
        {'servergroup': 'g', 'region_name': 'r', 'zone': 'z1'},
        {'servergroup': 'g', 'region_name': 'r', 'zone': 'z2'},
    ]
    assert distribution.new_placements({}, 1) == [{}]
