# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.region_placement``: the regions that nodes are in."""

from __future__ import annotations

from engine.policies import base
from engine.profiles.schema import Property
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
            'NODE_CREATE',
        )
    }
    properties = {
        'regions': Property(
            'List',
            'The regions to choose from.',
            items=Property(
                'Map',
                'A region.',
                keys={
                    'name': Property('String', 'Name of the region.'),
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
