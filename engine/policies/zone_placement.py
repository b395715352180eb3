# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.zone_placement``: the zones that nodes are in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine import placements
from engine.policies import base, placement
from engine.profiles.schema import Property
from engine.providers import base as providers
from vobjects.clustering import consts


class ZonePlacementPolicy(base.PolicyType):
    """See the module's docstring."""

    name = 'senlin.policy.zone_placement'
    version = '1.0'
    support_status = {
        '1.0': [
            {'status': consts.EXPERIMENTAL, 'since': '2016.04'},
            {'status': consts.SUPPORTED, 'since': '2016.10'},
        ]
    }
    priority = 300
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
    profile_types = ('os.nova.server',)
    properties = {
        'zones': Property(
            'List',
            'The zones to choose from.',
            items=Property(
                'Map',
                'A zone.',
                keys={
                    'name': Property(
                        'String', 'Name of the zone.', required=True
                    ),
                    'weight': Property(
                        'Integer', 'Weight of the zone.', default=100
                    ),
                },
            ),
        )
    }

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Refuse zones that nothing could be in."""
        placements.places(properties['zones'], 'zone')

    def plan(self, target: base.Target) -> dict[str, Any]:
        """Refuse zones that the cloud does not have."""
        known = {
            place.name
            for place in placements.places(target.properties['zones'], 'zone')
        }
        missing = known - _zones(target.cloud)
        if missing:
            raise base.PolicyRefusal(
                f"The specified name '{sorted(missing)}' could not be found:"
                f' the cloud has the zones {sorted(_zones(target.cloud))}.'
            )
        return {}

    def look(
        self, cloud: providers.Provider, attached: base.Attached
    ) -> set[str]:
        """Return the zones that there are."""
        return _zones(cloud)

    def pre_op(self, check: base.Check, attached: base.Attached) -> None:
        """Decide in which zones nodes are made, or go."""
        placement.decide(
            check,
            placements.ZONES,
            placements.places(attached.properties['zones'], 'zone'),
            usable=check.seen.get(attached.policy.id) or (),
        )


def _zones(cloud: providers.Provider) -> set[str]:
    if cloud.places is None:
        raise base.PolicyRefusal('the cloud has no availability zones')
    return set(cloud.places.zones())
