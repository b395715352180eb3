# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.scaling``: decide how many nodes scaling changes."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from engine import sizes, spec_schema
from engine.db import clock, nodes
from engine.policies import base
from vobjects.clustering import consts, errors

OUT = 'CLUSTER_SCALE_OUT'

SCHEMA = spec_schema.load(__package__, 'scaling')
_ADJUSTMENT = spec_schema.part(SCHEMA.properties, 'adjustment')


class ScalingPolicy(base.PolicyType):
    """Version 1.0 of the scaling policy."""

    name = 'senlin.policy.scaling'
    version = '1.0'
    priority = 100
    targets = {
        base.BEFORE: consts.SCALING_ACTIONS,
        base.AFTER: consts.SCALING_ACTIONS,
    }
    singleton = False
    support_status = SCHEMA.support_status
    properties = SCHEMA.properties

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Check the limits of the properties."""
        adjustment = _adjustment(properties)
        if adjustment['number'] <= 0:
            raise errors.InvalidSpec(
                f'{spec_schema.PROPERTIES}.adjustment.number: must be above 0',
                "the 'number' for 'adjustment' must be > 0",
            )
        for name in ('min_step', 'cooldown'):
            if adjustment[name] < 0:
                raise errors.InvalidSpec(
                    f'{spec_schema.PROPERTIES}.adjustment.{name}: must be at'
                    ' least 0',
                    f"the '{name}' for 'adjustment' must be >= 0",
                )

    def checks_action(
        self, when: str, attached: base.AttachedPolicy, action_name: str
    ) -> bool:
        """Check the policy's own event before it, and any scaling after it."""
        if not super().checks_action(when, attached, action_name):
            return False
        return (
            when == base.AFTER or action_name == attached.properties['event']
        )

    def in_cooldown(
        self,
        attached: base.AttachedPolicy,
        action_name: str,
        now: datetime.datetime,
    ) -> bool:
        """Tell whether the last scaling was less than a cooldown ago."""
        last_scaling, event = (
            attached.binding.last_op,
            attached.properties['event'],
        )
        if last_scaling is None or action_name != event:
            return False
        seconds = _adjustment(attached.properties)['cooldown']
        return bool((now - last_scaling).total_seconds() < seconds)

    def pre_op(
        self, context: base.PolicyContext, attached: base.AttachedPolicy
    ) -> None:
        """Decide how many nodes to add or remove."""
        action_name = context.action.action
        if self.in_cooldown(attached, action_name, context.now):
            raise base.PolicyCheckError(
                f'Policy {attached.policy.id} cooldown is still in progress.'
            )
        adjustment = _adjustment(attached.properties)
        current = nodes.count_of_cluster(context.session, context.cluster.id)
        count = context.request.get('count')
        if count is None:
            count = _count(action_name, adjustment, current)
        if count <= 0:
            raise base.PolicyCheckError(
                f"Invalid count ({count}) for action '{action_name}'."
            )
        bounds = context.bounds
        if adjustment['best_effort']:
            max_change = (
                bounds.largest() - current
                if action_name == OUT
                else current - bounds.minimum
            )
            count = min(count, max(max_change, 0))
        bounds.check_size(current + (count if action_name == OUT else -count))
        key = 'creation' if action_name == OUT else 'deletion'
        context.decisions[key] = {'count': count}

    def post_op(
        self, context: base.PolicyContext, attached: base.AttachedPolicy
    ) -> None:
        """Record the time of the scaling."""
        attached.binding.last_op = clock.utcnow()


def _adjustment(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    specified = properties.get('adjustment') or {}
    return spec_schema.with_defaults(_ADJUSTMENT, specified)


def _count(
    action_name: str, adjustment: Mapping[str, Any], current: int
) -> int:
    number = adjustment['number']
    if adjustment['type'] == 'EXACT_CAPACITY':
        change = number - current
        return int(change if action_name == OUT else -change)
    if adjustment['type'] == 'CHANGE_IN_CAPACITY':
        return int(number)
    share = int(sizes.percentage_of(number, current))
    return max(share, int(adjustment['min_step']))
