# SPDX-License-Identifier: Apache-2.0
"""Distribute new and removed nodes over zones and regions.

This module only computes; it does not use the database. Policies store their
decisions below ``creation`` and ``deletion``, as numbers::

    zones     {name of an availability zone: number of nodes}
    regions   {name of a region: number of nodes}

and below ``placement``, as one map per new node. Both are combined in the
node's data below ``placement``: ``zone``, ``region_name`` and ``servergroup``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vobjects.clustering import errors

PLACEMENT = 'placement'

#: Key of decisions -> key of a node's placement.
ZONES, REGIONS = 'zones', 'regions'
KEYS: Mapping[str, str] = {ZONES: 'zone', REGIONS: 'region_name'}


@dataclasses.dataclass(frozen=True, slots=True)
class Location:
    """A zone or region that a policy lists.

    :ivar weight: its share of nodes, relative to the others
    :ivar cap: maximum number of nodes; negative for no limit
    """

    name: str
    weight: int
    cap: int = -1


def parse_locations(
    properties: Iterable[Mapping[str, Any]], singular: str
) -> list[Location]:
    """Return the zones or regions in a policy's properties.

    :param singular: singular for messages, such as 'zone'
    :raises vobjects.clustering.errors.InvalidSpec: a name is missing or given
        twice, a weight is negative, or all weights are 0
    """
    locations: dict[str, Location] = {}
    for item in properties:
        name = item['name']
        if not name:
            raise errors.InvalidSpec(f'each {singular} needs a name')
        if name in locations:
            raise errors.InvalidSpec(f'there are two {singular}s {name}')
        if item['weight'] < 0:
            raise errors.InvalidSpec(
                f'the weight of {singular} {name} must be >= 0'
            )
        locations[name] = Location(name, item['weight'], item.get('cap', -1))
    if not any(location.weight for location in locations.values()):
        raise errors.InvalidSpec(
            f'at least one {singular} with a weight > 0 is needed'
        )
    return list(locations.values())


def choose_additions(
    locations: Sequence[Location], current: Mapping[str, int], count: int
) -> dict[str, int] | None:
    """Return how many of ``count`` new nodes to create in each place.

    Each node goes to the place that is furthest below its share. Ties go to
    the place with the higher weight, then to the first name.

    :param current: name of a place -> number of nodes in it
    :returns: without places that get no nodes; None if the caps leave no room
    """
    added = dict.fromkeys((location.name for location in locations), 0)

    def size(location: Location) -> int:
        return current.get(location.name, 0) + added[location.name]

    for _ in range(count):
        candidates = [
            location
            for location in locations
            if location.weight > 0 and not 0 <= location.cap <= size(location)
        ]
        if not candidates:
            return None
        chosen = min(
            candidates,
            key=lambda location: (
                (size(location) + 1) / location.weight,
                -location.weight,
                location.name,
            ),
        )
        added[chosen.name] += 1
    return {name: number for name, number in added.items() if number}


def choose_removals(
    locations: Sequence[Location], current: Mapping[str, int], count: int
) -> dict[str, int]:
    """Return how many of ``count`` nodes to remove from each place.

    Each node is removed from the place that is furthest above its share. Ties
    go to the place with the lower weight, then to the last name. Nodes outside
    of all places are removed first.

    :param current: name of a place -> number of nodes in it; '' -> number of
        nodes outside of all places
    :returns: without places that lose no nodes
    """
    outside = min(current.get('', 0), count)
    removed = dict.fromkeys((location.name for location in locations), 0)

    def size(location: Location) -> int:
        return current.get(location.name, 0) - removed[location.name]

    for _ in range(count - outside):
        candidates = [location for location in locations if size(location) > 0]
        if not candidates:
            break
        names = sorted(location.name for location in candidates)
        chosen = max(
            candidates,
            key=lambda location: (
                size(location) / location.weight
                if location.weight
                else float('inf'),
                -location.weight,
                names.index(location.name),
            ),
        )
        removed[chosen.name] += 1
    plan = {name: number for name, number in removed.items() if number}
    return {**plan, '': outside} if outside else plan


def new_placements(
    decided: Mapping[str, Any], count: int
) -> list[dict[str, str]]:
    """Return the placement of each of ``count`` new nodes."""
    placements: list[dict[str, str]] = [{} for _ in range(count)]
    policy_placements = (decided.get(PLACEMENT) or {}).get('placements') or ()
    for placement, policy_placement in zip(
        placements, policy_placements, strict=False
    ):
        placement.update(policy_placement)
    creation = decided.get('creation') or {}
    for key in (REGIONS, ZONES):
        names = [
            name
            for name, number in sorted((creation.get(key) or {}).items())
            for _ in range(number)
        ]
        for placement, name in zip(placements, names, strict=False):
            placement[KEYS[key]] = name
    return placements
