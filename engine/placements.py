# SPDX-License-Identifier: Apache-2.0
"""Where new nodes go and from where nodes go first: arithmetic, no database.

What policies decide is below ``creation`` and ``deletion``, as numbers::

    zones     {name of an availability zone: how many nodes}
    regions   {name of a region: how many nodes}

and below ``placement``, as one map for each new node. Together they are what
a node's data has below ``placement``: ``zone``, ``region_name`` and
``servergroup``.
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
    """A zone or region that a policy knows.

    :ivar weight: its share, as compared with the others
    :ivar cap: most nodes in it; negative: any number
    """

    name: str
    weight: int
    cap: int = -1


def places(properties: Iterable[Mapping[str, Any]], what: str) -> list[Place]:
    """Return the places that a policy's properties list.

    :param what: for users, such as 'zone'
    :raises vobjects.clustering.errors.InvalidSpec: nothing could be in them
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
    """Return how many of ``count`` new nodes go to each place.

    Each goes where it is furthest from the weights, the heaviest place and
    the first name first among equals.

    :param current: name of a place -> nodes in it
    :returns: without the places that get none; None: they do not fit in
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
    """Return how many of ``count`` nodes that go do so from each place.

    Each goes from where there are most by the weights, the lightest place
    and the last name first among equals. Nodes that are in none of the
    places go before all others.

    :param current: name of a place -> nodes in it; '' -> those elsewhere
    :returns: without the places from which none goes
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
