# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.region_placement``: distribute nodes over regions."""

from __future__ import annotations

from collections.abc import Iterable

from engine import distribution
from engine.policies import placement
from engine.providers import base as providers
from engine.spec_schema import Property
from vobjects.clustering import consts


class RegionPlacementPolicy(placement.PlacementPolicy):
    """Version 1.0 of the region placement policy."""

    name = 'senlin.policy.region_placement'
    version = '1.0'
    support_status = {
        '1.0': [
            {'status': consts.EXPERIMENTAL, 'since': '2016.04'},
            {'status': consts.SUPPORTED, 'since': '2016.10'},
        ]
    }
    priority = 200
    key = distribution.REGIONS
    properties = placement.locations_property(
        distribution.REGIONS,
        cap=Property(
            'Integer',
            'Maximum number of nodes in the region; -1 for any number.',
            default=-1,
        ),
    )

    def available_names(self, cloud: providers.Places) -> Iterable[str]:
        """Return the names of the cloud's regions."""
        return cloud.regions()
