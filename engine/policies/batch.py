# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.batch``: limit how many nodes are updated at once.

Its decisions have the topic ``update``: ``plan``, lists of node IDs, and
``pause_time``, in seconds; see :mod:`engine.actions.updating`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from engine import spec_schema
from engine.db import nodes
from engine.policies import base
from vobjects.clustering import errors

SCHEMA = spec_schema.load(__package__, 'batch')


class BatchPolicy(base.PolicyType):
    """Version 1.0 of the batch policy."""

    name = 'senlin.policy.batch'
    version = '1.0'
    priority = 200
    targets = {base.BEFORE: ('CLUSTER_UPDATE',)}
    support_status = SCHEMA.support_status
    properties = SCHEMA.properties

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Check the size of batches."""
        maximum = properties['max_batch_size']
        if maximum != -1 and maximum < 1:
            raise errors.InvalidSpec(
                f'{spec_schema.PROPERTIES}.max_batch_size: must be at least'
                ' 1, or -1 for any number',
                "the 'max_batch_size' must be > 0, or -1 for any",
            )

    def pre_op(
        self, context: base.PolicyContext, attached: base.AttachedPolicy
    ) -> None:
        """Divide the nodes into batches, nodes that are not ACTIVE first."""
        outdated = nodes.with_other_profile(
            context.session,
            context.cluster.id,
            context.request.profile_of_nodes(),
        )
        if not outdated:
            return
        present = nodes.count_of_cluster(context.session, context.cluster.id)
        size = batch_size(present, attached.properties)
        ordered = sorted(outdated, key=lambda node: node.status == 'ACTIVE')
        ids = [node.id for node in ordered]
        context.decisions['update'] = {
            'pause_time': attached.properties['pause_time'],
            'plan': [
                ids[start : start + size] for start in range(0, len(ids), size)
            ],
        }


def batch_size(present: int, properties: Mapping[str, Any]) -> int:
    """Return how many nodes may be out of service at once.

    If the cluster has no more than ``min_in_service`` nodes, it is updated in
    two halves.

    :param present: the number of nodes in the cluster, at least one
    """
    maximum, minimum = (
        properties['max_batch_size'],
        properties['min_in_service'],
    )
    removable = (
        present - minimum if present > minimum else math.ceil(present / 2)
    )
    return int(removable if maximum == -1 else min(removable, maximum))
