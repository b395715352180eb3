# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.batch``: how many nodes are updated at once."""

from __future__ import annotations

from engine.policies import base
from engine.profiles.schema import Property
from vobjects.clustering import consts


class BatchPolicy(base.PolicyType):
    """See the module's docstring."""

    name = 'senlin.policy.batch'
    version = '1.0'
    support_status = {
        '1.0': [{'status': consts.EXPERIMENTAL, 'since': '2017.02'}]
    }
    priority = 200
    targets = {base.BEFORE: ('CLUSTER_UPDATE',)}
    properties = {
        'min_in_service': Property(
            'Integer',
            'Fewest nodes that stay in service meanwhile.',
            default=1,
        ),
        'max_batch_size': Property(
            'Integer', 'Most nodes that are updated at once.', default=-1
        ),
        'pause_time': Property(
            'Integer', 'Seconds between two batches.', default=60
        ),
    }
