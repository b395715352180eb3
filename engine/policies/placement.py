# SPDX-License-Identifier: Apache-2.0
"""Policies that distribute nodes over regions or zones.

They are ``senlin.policy.region_placement`` and
``senlin.policy.zone_placement``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import orm

from engine import spec_schema
from engine.db import models, nodes
from engine.distribution import (
    KEYS,
    PLACEMENT,
    REGIONS,
    ZONES,
    Location,
    choose_additions,
    choose_removals,
    parse_locations,
)
from engine.policies import base
from engine.providers import base as providers
from vobjects.clustering import errors

REGION_SCHEMA = spec_schema.load(__package__, 'region_placement')
ZONE_SCHEMA = spec_schema.load(__package__, 'zone_placement')


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
    cloud_info_actions = (
        'CLUSTER_SCALE_OUT',
        'CLUSTER_RESIZE',
        'CLUSTER_RECOVER',
        'NODE_CREATE',
    )

    def available_names(self, cloud: providers.Places) -> Iterable[str]:
        """Return the names of the locations in a cloud."""
        raise NotImplementedError

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Check weights and caps."""
        self._locations(properties)

    def check_with_cloud(
        self,
        properties: Mapping[str, Any],
        cloud: Callable[[], providers.Provider],
    ) -> None:
        """Check that the cloud has all listed locations."""
        places = cloud().places
        if places is not None:
            available = set(self.available_names(places))
            listed = {place.name for place in self._locations(properties)}
            check_names(self.key, sorted(listed - available), available)

    def plan(self, target: base.AttachmentTarget) -> dict[str, Any]:
        """Check that the cloud has all listed locations."""
        if target.cloud.places is None:
            raise base.PolicyCheckError(f'the cloud has no {self.key}')
        self.check_with_cloud(target.properties, lambda: target.cloud)
        return {}

    def get_cloud_info(
        self, cloud: providers.Provider, attached: base.AttachedPolicy | None
    ) -> set[str]:
        """Return the names of the locations in the cloud."""
        if cloud.places is None:
            raise base.PolicyCheckError(f'the cloud has no {self.key}')
        return set(self.available_names(cloud.places))

    def pre_op(
        self, context: base.PolicyContext, attached: base.AttachedPolicy
    ) -> None:
        """Choose the locations of new nodes, or those to remove nodes from."""
        decide(
            context,
            self.key,
            self._locations(attached.properties),
            available=context.cloud_info.get(attached.policy.id) or (),
        )

    def _locations(self, properties: Mapping[str, Any]) -> list[Location]:
        return parse_locations(
            properties[self.key], self.key.removesuffix('s')
        )


def check_names(
    key: str, missing: Sequence[str] | str, available: Iterable[str]
) -> None:
    """Reject the names of locations that the cloud lacks.

    :param key: the property with the names
    :param missing: these names; empty: none
    :raises vobjects.clustering.errors.InvalidSpec: there are missing names
    """
    if missing:
        raise errors.InvalidSpec.advised(
            f"The specified {key} '{missing}' could not be found.",
            f'The cloud has {", ".join(sorted(available))}.',
        )


def decide(
    context: base.PolicyContext,
    key: str,
    locations: Sequence[Location],
    *,
    available: Iterable[str],
) -> None:
    """Choose the locations of new nodes, or those to remove nodes from.

    :param key: :data:`ZONES` or :data:`REGIONS`
    :param locations: the locations that the policy lists
    :param available: the names of the locations in the cloud
    :raises engine.policies.base.PolicyCheckError: no location is available, or
        the caps are too low
    """
    count = context.growth()
    if not count or _has_fixed_location(context, key):
        return
    names_in_cloud = set(available)
    usable = [
        location for location in locations if location.name in names_in_cloud
    ]
    singular = key.removesuffix('s')
    if count > 0 and not usable:
        names = ', '.join(location.name for location in locations)
        raise base.PolicyCheckError(
            f'the cloud has no {singular} of {names} now'
        )
    members = nodes.of_cluster(context.session, context.cluster.id)
    if context.action.action == 'NODE_CREATE':
        members = [n for n in members if n.id != context.action.target]
    location_of = locations_of(context.session, members, key)
    listed_names = {location.name for location in locations}
    current: dict[str, int] = {}
    for location_name in location_of.values():
        name = location_name if location_name in listed_names else ''
        current[name] = current.get(name, 0) + 1
    if count > 0:
        plan = choose_additions(usable, current, count)
        if plan is None:
            raise base.PolicyCheckError(
                f'There is no feasible plan to handle all nodes: {count} more'
                f' do not fit into the {key} with their caps.'
            )
        _record_decision(context, 'creation', count, key, plan)
        return
    _record_decision(
        context,
        'deletion',
        -count,
        key,
        choose_removals(locations, current, -count),
    )
    context.decisions['deletion']['candidates'] = choose_nodes(
        context, nodes.select_for_removal(members, len(members)), -count
    )


def _has_fixed_location(context: base.PolicyContext, key: str) -> bool:
    """Tell whether the new node's profile determines its location."""
    if context.action.action != 'NODE_CREATE':
        return False
    node = nodes.get(context.session, context.action.target)
    return node is not None and bool(
        locations_of(context.session, [node], key)[node.id]
    )


def _record_decision(
    context: base.PolicyContext,
    topic: str,
    count: int,
    key: str,
    plan: dict[str, int],
) -> None:
    context.decisions[topic] = {
        **context.decisions.get(topic, {}),
        'count': count,
        key: plan,
    }


def locations_of(
    session: orm.Session, members: Iterable[models.Node], key: str
) -> dict[str, str]:
    """Return the location of each node by its ID; empty if unspecified.

    :param key: :data:`ZONES` or :data:`REGIONS`
    """
    by_profile: dict[str, str] = {}
    locations: dict[str, str] = {}
    for node in members:
        location = (node.data.get(PLACEMENT) or {}).get(KEYS[key])
        if location is None:
            if node.profile_id not in by_profile:
                profile = session.get_one(models.Profile, node.profile_id)
                by_profile[node.profile_id] = _location_of_profile(
                    profile, key
                )
            location = by_profile[node.profile_id]
        locations[node.id] = location
    return locations


def _location_of_profile(profile: models.Profile, key: str) -> str:
    properties = profile.spec.get('properties') or {}
    if key == REGIONS:
        properties = properties.get('context') or {}
        return str(properties.get('region_name') or '')
    return str(properties.get('availability_zone') or '')


def choose_nodes(
    context: base.PolicyContext, ordered: Sequence[models.Node], count: int
) -> list[str]:
    """Return the IDs of the nodes to remove.

    Respects the number of nodes that was decided for each location.

    :param ordered: the candidates, the first to remove first
    :param count: the number of nodes to remove
    """
    decisions = context.decisions.get('deletion', {})
    quotas = [
        _RemovalQuota(
            locations_of(context.session, ordered, key), dict(decisions[key])
        )
        for key in (REGIONS, ZONES)
        if key in decisions
    ]
    within_quota, rest = [], []
    for node in ordered:
        if all(quota.admits(node) for quota in quotas):
            for quota in quotas:
                quota.take(node)
            within_quota.append(node.id)
        else:
            rest.append(node.id)
    return [*within_quota, *rest][:count]


@dataclasses.dataclass(frozen=True, slots=True)
class _RemovalQuota:
    """Number of nodes left to remove by location; '' for other locations."""

    location_of: Mapping[str, str]
    remaining: dict[str, int]

    def _location(self, node: models.Node) -> str:
        name = self.location_of[node.id]
        return name if name in self.remaining else ''

    def admits(self, node: models.Node) -> bool:
        return self.remaining.get(self._location(node), 0) > 0

    def take(self, node: models.Node) -> None:
        self.remaining[self._location(node)] -= 1


class RegionPlacementPolicy(PlacementPolicy):
    """Version 1.0 of the region placement policy."""

    name = 'senlin.policy.region_placement'
    version = '1.0'
    priority = 200
    key = REGIONS
    support_status = REGION_SCHEMA.support_status
    properties = REGION_SCHEMA.properties

    def available_names(self, cloud: providers.Places) -> Iterable[str]:
        """Return the names of the cloud's regions."""
        return cloud.regions()


class ZonePlacementPolicy(PlacementPolicy):
    """Version 1.0 of the zone placement policy."""

    name = 'senlin.policy.zone_placement'
    version = '1.0'
    priority = 300
    key = ZONES
    profile_types = ('os.nova.server',)
    support_status = ZONE_SCHEMA.support_status
    properties = ZONE_SCHEMA.properties

    def available_names(self, cloud: providers.Places) -> Iterable[str]:
        """Return the names of the cloud's zones."""
        return cloud.zones()
