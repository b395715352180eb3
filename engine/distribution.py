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
class Place:
    """A zone or region that a policy lists.

    :ivar weight: its share of nodes, relative to the others
    :ivar cap: maximum number of nodes; negative for no limit
    """

    name: str
    weight: int
    cap: int = -1


def places(properties: Iterable[Mapping[str, Any]], what: str) -> list[Place]:
    """Return the zones or regions in a policy's properties.

    :param what: singular for messages, such as 'zone'
    :raises vobjects.clustering.errors.InvalidSpec: a name is missing or given
        twice, a weight is negative, or all weights are 0
    """
    found: dict[str, Place] = {}
    for given in properties:
        name = given['name']
        if not name:
            raise errors.InvalidSpec(f'each {what} needs a name')
        if name in found:
            raise errors.InvalidSpec(f'there are two {what}s {name}')
        if given['weight'] < 0:
            raise errors.InvalidSpec(
                f'the weight of {what} {name} must be >= 0'
            )
        found[name] = Place(name, given['weight'], given.get('cap', -1))
    if not any(place.weight for place in found.values()):
        raise errors.InvalidSpec(
            f'at least one {what} with a weight > 0 is needed'
        )
    return list(found.values())


def spread(
    known: Sequence[Place], current: Mapping[str, int], count: int
) -> dict[str, int] | None:
    """Return how many of ``count`` new nodes to create in each place.

    Each node goes to the place that is furthest below its share. Ties go to
    the place with the higher weight, then to the first name.

    :param current: name of a place -> number of nodes in it
    :returns: without places that get no nodes; None if the caps leave no room
    """
    added = dict.fromkeys((place.name for place in known), 0)

    def size(place: Place) -> int:
        return current.get(place.name, 0) + added[place.name]

    for _ in range(count):
        open_ = [
            place
            for place in known
            if place.weight > 0 and not 0 <= place.cap <= size(place)
        ]
        if not open_:
            return None
        best = min(
            open_,
            key=lambda p: ((size(p) + 1) / p.weight, -p.weight, p.name),
        )
        added[best.name] += 1
    return {name: number for name, number in added.items() if number}


def thin(
    known: Sequence[Place], current: Mapping[str, int], count: int
) -> dict[str, int]:
    """Return how many of ``count`` nodes to remove from each place.

    Each node is removed from the place that is furthest above its share. Ties
    go to the place with the lower weight, then to the last name. Nodes outside
    of all places are removed first.

    :param current: name of a place -> number of nodes in it; '' -> number of
        nodes outside of all places
    :returns: without places that lose no nodes
    """
    elsewhere = min(current.get('', 0), count)
    removed = dict.fromkeys((place.name for place in known), 0)

    def size(place: Place) -> int:
        return current.get(place.name, 0) - removed[place.name]

    for _ in range(count - elsewhere):
        left = [place for place in known if size(place) > 0]
        if not left:
            break
        names = sorted(place.name for place in left)
        worst = max(
            left,
            key=lambda p: (
                size(p) / p.weight if p.weight else float('inf'),
                -p.weight,
                names.index(p.name),
            ),
        )
        removed[worst.name] += 1
    found = {name: number for name, number in removed.items() if number}
    return {**found, '': elsewhere} if elsewhere else found


def of_new_nodes(
    decided: Mapping[str, Any], count: int
) -> list[dict[str, str]]:
    """Return the placement of each of ``count`` new nodes."""
    found: list[dict[str, str]] = [{} for _ in range(count)]
    given = (decided.get(PLACEMENT) or {}).get('placements') or ()
    for placement, more in zip(found, given, strict=False):
        placement.update(more)
    creation = decided.get('creation') or {}
    for key in (REGIONS, ZONES):
        names = [
            name
            for name, number in sorted((creation.get(key) or {}).items())
            for _ in range(number)
        ]
        for placement, name in zip(found, names, strict=False):
            placement[KEYS[key]] = name
    return found
