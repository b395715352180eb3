# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.deletion``: choose and remove nodes of a cluster.

Its decisions have the topic ``deletion``::

    candidates               the IDs of the nodes to remove
    destroy_after_deletion   whether to delete nodes removed from the cluster
    grace_period             seconds to wait before removing them
    reduce_desired_capacity  whether to reduce the desired capacity, too
    hooks                    the hook to notify before; {} for none
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from engine import http_client, spec_schema
from engine.db import models, nodes
from engine.policies import base, placement
from engine.queues import base as queues
from vobjects.clustering import errors

SCHEMA = spec_schema.load(__package__, 'deletion')


class DeletionPolicy(base.PolicyType):
    """Version 1.0 of the deletion policy.

    :mod:`engine.actions.deletion_hooks` runs the hooks.
    """

    name = 'senlin.policy.deletion'
    version = '1.0'
    priority = 400
    targets = {
        base.BEFORE: (
            'CLUSTER_SCALE_IN',
            'CLUSTER_DEL_NODES',
            'CLUSTER_RESIZE',
            'NODE_DELETE',
        )
    }
    support_status = SCHEMA.support_status
    properties = SCHEMA.properties

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Check that the hook is complete."""
        if properties['hooks']:
            _check_hook(properties['hooks'])

    def pre_op(
        self, context: base.PolicyContext, attached: base.AttachedPolicy
    ) -> None:
        """Choose the nodes to remove, and how to remove them."""
        properties = attached.properties
        candidates = self._candidates(context, properties['criteria'])
        if candidates is None:
            return
        decisions = context.decisions.get('deletion', {})
        context.decisions['deletion'] = {
            **decisions,
            'count': len(candidates),
            'candidates': candidates,
            'destroy_after_deletion': properties['destroy_after_deletion'],
            'grace_period': properties['grace_period'],
            'reduce_desired_capacity': properties['reduce_desired_capacity'],
            'hooks': properties['hooks'] or {},
        }

    def _candidates(
        self, context: base.PolicyContext, criteria: str
    ) -> list[str] | None:
        action_name = context.action.action
        if action_name == 'NODE_DELETE':
            return [context.action.target]
        if action_name == 'CLUSTER_DEL_NODES':
            return list(context.request.nodes)
        members = nodes.of_cluster(context.session, context.cluster.id)
        count = -context.growth()
        if count <= 0:
            return None
        ordered = _sort(context, members, criteria)
        return placement.choose_nodes(context, ordered, count)


class DeletionPolicyWithHooks(DeletionPolicy):
    """Version 1.1, for which Senlin announced hooks; 1.0 has them, too."""

    version = '1.1'


def _check_hook(hook: Mapping[str, Any]) -> None:
    path = f'{spec_schema.PROPERTIES}.hooks'
    hook_type, params = hook['type'], hook['params'] or {}
    if hook_type == 'webhook' and not http_client.is_url(
        params.get('url') or ''
    ):
        raise errors.InvalidSpec(
            f'{path}.params.url: must be an http or https URL',
            "'hooks' of type webhook need params.url, an http or https URL",
        )
    if hook_type == 'zaqar' and not re.fullmatch(
        queues.NAME, params.get('queue') or ''
    ):
        raise errors.InvalidSpec(
            f'{path}.params.queue: must be the name of a queue, up to 64'
            ' letters, digits, - and _',
            "'hooks' of type zaqar need params.queue, up to 64 letters,"
            ' digits, - and _',
        )


def _sort(
    context: base.PolicyContext, members: Sequence[models.Node], criteria: str
) -> list[models.Node]:
    """Sort nodes: tainted and unhealthy ones first, then by the criteria."""

    def is_good(node: models.Node) -> bool:
        return not (node.tainted or node.status in ('ERROR', 'WARNING'))

    def age(node: models.Node) -> tuple[Any, int]:
        return node.created_at or context.now, node.index

    ordered = list(members)
    if criteria == 'RANDOM':
        random.shuffle(ordered)
    else:
        ordered.sort(key=age, reverse=criteria == 'YOUNGEST_FIRST')
    if criteria == 'OLDEST_PROFILE_FIRST':
        profile_created_at = {
            node.profile_id: context.session.get_one(
                models.Profile, node.profile_id
            ).created_at
            for node in members
        }
        ordered.sort(key=lambda node: profile_created_at[node.profile_id])
    return sorted(ordered, key=is_good)
