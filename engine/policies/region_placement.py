# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.region_placement``: the regions that nodes are in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine import placements
from engine.policies import base, placement
from engine.profiles.schema import Property
from engine.providers import base as providers
from vobjects.clustering import consts


class RegionPlacementPolicy(base.PolicyType):
    """See the module's docstring."""

    name = 'senlin.policy.region_placement'
    version = '1.0'
    support_status = {
        '1.0': [
            {'status': consts.EXPERIMENTAL, 'since': '2016.04'},
            {'status': consts.SUPPORTED, 'since': '2016.10'},
        ]
    }
    priority = 200
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
    properties = {
        'regions': Property(
            'List',
            'The regions to choose from.',
            items=Property(
                'Map',
                'A region.',
                keys={
                    'name': Property(
                        'String', 'Name of the region.', required=True
                    ),
                    'weight': Property(
                        'Integer', 'Weight of the region.', default=100
                    ),
                    'cap': Property(
                        'Integer',
                        'Most nodes in the region; -1: any number.',
                        default=-1,
                    ),
                },
            ),
        )
    }

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Refuse regions that nothing could be in."""
        placements.places(properties['regions'], 'region')

    def plan(self, target: base.Target) -> dict[str, Any]:
        """Refuse regions that the cloud does not have."""
        known = {
            place.name
            for place in placements.places(
                target.properties['regions'], 'region'
            )
        }
        missing = known - _regions(target.cloud)
        if missing:
            raise base.PolicyRefusal(
                f"The specified regions '{sorted(missing)}' could not be"
                ' found: the cloud has the regions'
                f' {sorted(_regions(target.cloud))}.'
            )
        return {}

    def look(
        self, cloud: providers.Provider, attached: base.Attached
    ) -> set[str]:
        """Return the regions that there are."""
        return _regions(cloud)

    def pre_op(self, check: base.Check, attached: base.Attached) -> None:
        """Decide in which regions nodes are made, or go."""
        placement.decide(
            check,
            placements.REGIONS,
            placements.places(attached.properties['regions'], 'region'),
            usable=check.seen.get(attached.policy.id) or (),
        )


def _regions(cloud: providers.Provider) -> set[str]:
    if cloud.places is None:
        raise base.PolicyRefusal('the cloud has no regions')
    return set(cloud.places.regions())
