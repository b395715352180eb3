# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.zone_placement``: distribute nodes over zones."""

from __future__ import annotations

from collections.abc import Iterable

from engine import distribution
from engine.policies import placement
from engine.providers import base as providers
from vobjects.clustering import consts


class ZonePlacementPolicy(placement.PlacementPolicy):
    """Version 1.0 of the zone placement policy."""

    name = 'senlin.policy.zone_placement'
    version = '1.0'
    support_status = {
        '1.0': [
            {'status': consts.EXPERIMENTAL, 'since': '2016.04'},
            {'status': consts.SUPPORTED, 'since': '2016.10'},
        ]
    }
    priority = 300
    key = distribution.ZONES
    profile_types = ('os.nova.server',)
    properties = placement.locations_property(distribution.ZONES)

    def available_names(self, cloud: providers.Places) -> Iterable[str]:
        """Return the names of the cloud's zones."""
        return cloud.zones()
