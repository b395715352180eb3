# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.zone_placement``: the zones that nodes are in."""

from __future__ import annotations

from engine.policies import base
from engine.profiles.schema import Property
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
            'NODE_CREATE',
        )
    }
    profile_types = ('os.nova.server',)
    properties = {
        'zones': Property(
            'List',
            'The zones to choose from.',
            items=Property(
                'Map',
                'A zone.',
                keys={
                    'name': Property('String', 'Name of the zone.'),
                    'weight': Property(
                        'Integer', 'Weight of the zone.', default=100
                    ),
                },
            ),
        )
    }
