# SPDX-License-Identifier: Apache-2.0
"""Base class and helpers of policies that choose zones or regions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import orm

from engine import spec_schema
from engine.db import models, nodes
from engine.distribution import (
    KEYS,
    PLACEMENT,
    REGIONS,
    ZONES,
    Place,
    places,
    spread,
    thin,
)
from engine.policies import base
from engine.providers import base as providers
from engine.spec_schema import Property


class PlacementPolicy(base.PolicyType):
    """Base class of policy types that list locations with weights.

    :cvar key: :data:`ZONES` or :data:`REGIONS`, also the property's name
    """

    key: str
    targets = {
        base.BEFORE: (
            'CLUSTER_SCALE_OUT',
            'CLUSTER_SCALE_IN',
            'CLUSTER_RESIZE',
            'CLUSTER_RECOVER',
            'NODE_CREATE',
        )
    }
    looks = (
        'CLUSTER_SCALE_OUT',
        'CLUSTER_RESIZE',
        'CLUSTER_RECOVER',
        'NODE_CREATE',
    )

    def there(self, cloud: providers.Places) -> Iterable[str]:
        """Return the names of the locations in a cloud."""
        raise NotImplementedError

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Check weights and caps."""
        self._places(properties)

    def plan(self, target: base.Target) -> dict[str, Any]:
        """Check that the cloud has all listed locations."""
        there = self.look(target.cloud, None)
        known = {place.name for place in self._places(target.properties)}
        if known - there:
            raise base.PolicyRefusal(
                f"The specified {self.key} '{sorted(known - there)}' could"
                f' not be found: the cloud has {sorted(there)}.'
            )
        return {}

    def look(
        self, cloud: providers.Provider, attached: base.Attached | None
    ) -> set[str]:
        """Return the names of the locations in the cloud."""
        if cloud.places is None:
            raise base.PolicyRefusal(f'the cloud has no {self.key}')
        return set(self.there(cloud.places))

    def pre_op(self, check: base.Check, attached: base.Attached) -> None:
        """Choose the locations of new nodes, or those to remove nodes from."""
        decide(
            check,
            self.key,
            self._places(attached.properties),
            usable=check.seen.get(attached.policy.id) or (),
        )

    def _places(self, properties: Mapping[str, Any]) -> list[Place]:
        return places(properties[self.key], self.key.removesuffix('s'))


def listed(key: str, **more: Property) -> spec_schema.Schema:
    """Return the property that lists locations with weights.

    :param key: :data:`ZONES` or :data:`REGIONS`
    :param more: additional properties of a location
    """
    what = key.removesuffix('s')
    keys = {
        'name': Property('String', f'Name of the {what}.', required=True),
        'weight': Property('Integer', f'Weight of the {what}.', default=100),
    }
    return {
        key: Property(
            'List',
            f'The {key} to choose from.',
            items=Property('Map', f'A {what}.', keys={**keys, **more}),
        )
    }


def decide(
    check: base.Check,
    key: str,
    known: Sequence[Place],
    *,
    usable: Iterable[str],
) -> None:
    """Choose the locations of new nodes, or those to remove nodes from.

    :param key: :data:`ZONES` or :data:`REGIONS`
    :param known: the locations that the policy lists
    :param usable: the names of the locations in the cloud
    :raises engine.policies.base.PolicyRefusal: no location is available, or
        the caps are too low
    """
    count = check.growth()
    if not count or _is_settled(check, key):
        return
    there = set(usable)
    good = [place for place in known if place.name in there]
    what = key.removesuffix('s')
    if count > 0 and not good:
        names = ', '.join(place.name for place in known)
        raise base.PolicyRefusal(
            f'no {what} of {names} is there in the cloud now'
        )
    members = nodes.of_cluster(check.session, check.cluster.id)
    if check.action.action == 'NODE_CREATE':
        members = [n for n in members if n.id != check.action.target]
    where = located(check.session, members, key)
    names_known = {place.name for place in known}
    current: dict[str, int] = {}
    for place_name in where.values():
        name = place_name if place_name in names_known else ''
        current[name] = current.get(name, 0) + 1
    if count > 0:
        plan = spread(good, current, count)
        if plan is None:
            raise base.PolicyRefusal(
                f'There is no feasible plan to handle all nodes: {count} more'
                f' do not fit into the {key} with their caps.'
            )
        _note(check, 'creation', count, key, plan)
        return
    _note(check, 'deletion', -count, key, thin(known, current, -count))
    check.decided['deletion']['candidates'] = chosen(
        check, nodes.victims(members, len(members)), -count
    )


def _is_settled(check: base.Check, key: str) -> bool:
    """Tell whether the new node's profile determines its location."""
    if check.action.action != 'NODE_CREATE':
        return False
    node = nodes.get(check.session, check.action.target)
    return node is not None and bool(
        located(check.session, [node], key)[node.id]
    )


def _note(
    check: base.Check, topic: str, count: int, key: str, plan: dict[str, int]
) -> None:
    check.decided[topic] = {
        **check.decided.get(topic, {}),
        'count': count,
        key: plan,
    }


def located(
    session: orm.Session, members: Iterable[models.Node], key: str
) -> dict[str, str]:
    """Return the location of each node by its ID; empty if unspecified.

    :param key: :data:`ZONES` or :data:`REGIONS`
    """
    by_profile: dict[str, str] = {}
    found: dict[str, str] = {}
    for node in members:
        placed = (node.data.get(PLACEMENT) or {}).get(KEYS[key])
        if placed is None:
            if node.profile_id not in by_profile:
                profile = session.get_one(models.Profile, node.profile_id)
                by_profile[node.profile_id] = _of_profile(profile, key)
            placed = by_profile[node.profile_id]
        found[node.id] = placed
    return found


def _of_profile(profile: models.Profile, key: str) -> str:
    properties = profile.spec.get('properties') or {}
    if key == REGIONS:
        properties = properties.get('context') or {}
        return str(properties.get('region_name') or '')
    return str(properties.get('availability_zone') or '')


def chosen(
    check: base.Check, ordered: Sequence[models.Node], count: int
) -> list[str]:
    """Return the IDs of the nodes to remove.

    Respects the number of nodes that was decided for each location.

    :param ordered: the candidates, the first to remove first
    :param count: the number of nodes to remove
    """
    decided = check.decided.get('deletion', {})
    quotas = [
        _Quota(located(check.session, ordered, key), dict(decided[key]))
        for key in (REGIONS, ZONES)
        if key in decided
    ]
    fitting, rest = [], []
    for node in ordered:
        if all(quota.admits(node) for quota in quotas):
            for quota in quotas:
                quota.take(node)
            fitting.append(node.id)
        else:
            rest.append(node.id)
    return [*fitting, *rest][:count]


@dataclasses.dataclass(frozen=True, slots=True)
class _Quota:
    """Number of nodes left to remove by location; '' for other locations."""

    where: Mapping[str, str]
    left: dict[str, int]

    def _name(self, node: models.Node) -> str:
        name = self.where[node.id]
        return name if name in self.left else ''

    def admits(self, node: models.Node) -> bool:
        return self.left.get(self._name(node), 0) > 0

    def take(self, node: models.Node) -> None:
        self.left[self._name(node)] -= 1
