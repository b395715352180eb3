# SPDX-License-Identifier: Apache-2.0
"""Calculate how many nodes an action adds or removes."""

from __future__ import annotations

from engine import sizes
from engine.actions import clusters as steps
from engine.actions.action_run import given
from engine.db import nodes
from engine.policies import base
from vobjects.clustering import errors


def growth(check: base.Check) -> int:
    """Return the number of nodes that an action adds; negative: removes.

    Decisions of preceding policies take precedence over the request.

    :raises engine.policies.base.PolicyRefusal: the cluster cannot have that
        size
    """
    for topic, sign in (('deletion', -1), ('creation', 1)):
        count = check.decided.get(topic, {}).get('count')
        if count is not None:
            return sign * int(count)
    kind = check.action.action
    if kind in ('NODE_CREATE', 'NODE_DELETE'):
        return 1 if kind == 'NODE_CREATE' else -1
    if kind == 'CLUSTER_SCALE_OUT':
        return int(given(check.request, 'count') or 1)
    present = nodes.count_of_cluster(check.session, check.cluster.id)
    if kind == 'CLUSTER_SCALE_IN':
        return -min(int(given(check.request, 'count') or 1), present)
    if kind == 'CLUSTER_RECOVER':
        refits = given(check.request, 'check_capacity')
        return check.cluster.desired_capacity - present if refits else 0
    return _resize(check, present) if kind == 'CLUSTER_RESIZE' else 0


def _resize(check: base.Check, present: int) -> int:
    bounds = sizes.Bounds(
        check.cluster.min_size, check.cluster.max_size, check.node_limit
    )
    try:
        size, _ = steps.resize_of(check.request).apply(present, bounds)
    except errors.BadRequest as error:
        raise base.PolicyRefusal(str(error)) from None
    return size - present
