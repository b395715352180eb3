# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.affinity``: which servers are on one host."""

from __future__ import annotations

from engine.policies import base
from engine.profiles.schema import Property
from vobjects.clustering import consts


class AffinityPolicy(base.PolicyType):
    """See the module's docstring."""

    name = 'senlin.policy.affinity'
    version = '1.0'
    support_status = {
        '1.0': [{'status': consts.SUPPORTED, 'since': '2016.10'}]
    }
    priority = 300
    targets = {
        base.BEFORE: ('CLUSTER_SCALE_OUT', 'CLUSTER_RESIZE', 'NODE_CREATE')
    }
    profile_types = ('os.nova.server',)
    properties = {
        'servergroup': Property(
            'Map',
            'The server group.',
            keys={
                'name': Property('String', 'Name of the server group.'),
                'policies': Property(
                    'String',
                    'What the group asks for.',
                    default='anti-affinity',
                    allowed=(
                        'affinity',
                        'soft-affinity',
                        'anti-affinity',
                        'soft-anti-affinity',
                    ),
                ),
            },
        ),
        'availability_zone': Property(
            'String', 'Availability zone of the nodes.'
        ),
        'enable_drs_extension': Property(
            'Boolean', 'Whether to use vSphere DRS.', default=False
        ),
    }
