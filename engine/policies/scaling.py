# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.scaling``: how many nodes scaling adds or removes."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from engine import sizes
from engine.actions.work import given
from engine.db import clock, nodes
from engine.policies import base
from engine.profiles.schema import Property
from vobjects.clustering import consts, errors

OUT = 'CLUSTER_SCALE_OUT'


class ScalingPolicy(base.PolicyType):
    """See the module's docstring."""

    name = 'senlin.policy.scaling'
    version = '1.0'
    support_status = {
        '1.0': [{'status': consts.SUPPORTED, 'since': '2016.04'}]
    }
    priority = 100
    targets = {
        base.BEFORE: consts.SCALING_ACTIONS,
        base.AFTER: consts.SCALING_ACTIONS,
    }
    singleton = False
    properties = {
        'event': Property(
            'String',
            'The action that the policy is about.',
            required=True,
            allowed=consts.SCALING_ACTIONS,
        ),
        'adjustment': Property(
            'Map',
            'How the size is adjusted.',
            keys={
                'type': Property(
                    'String',
                    'What the number is.',
                    default='CHANGE_IN_CAPACITY',
                    allowed=consts.ADJUSTMENT_TYPES,
                ),
                'number': Property(
                    'Number', 'The amount of the adjustment.', default=1
                ),
                'min_step': Property(
                    'Integer',
                    'Fewest nodes that a percentage moves.',
                    default=1,
                ),
                'best_effort': Property(
                    'Boolean',
                    'Whether to go as far as the size limits of the cluster'
                    ' allow, and not to fail.',
                    default=False,
                ),
                'cooldown': Property(
                    'Integer',
                    'Seconds after a scaling in which the cluster is not'
                    ' scaled again.',
                    default=0,
                ),
            },
        ),
    }

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Refuse numbers below what they can be."""
        adjustment = _adjustment(properties)
        if adjustment['number'] <= 0:
            raise errors.InvalidSpec(
                "the 'number' for 'adjustment' must be > 0"
            )
        for name in ('min_step', 'cooldown'):
            if adjustment[name] < 0:
                raise errors.InvalidSpec(
                    f"the '{name}' for 'adjustment' must be >= 0"
                )

    def is_asked(self, when: str, attached: base.Attached, kind: str) -> bool:
        """Ask before the policy's own event, and after every scaling."""
        if not super().is_asked(when, attached, kind):
            return False
        return when == base.AFTER or kind == attached.properties['event']

    def cools_down(
        self, attached: base.Attached, kind: str, now: datetime.datetime
    ) -> bool:
        """Tell whether the last scaling was less than a cooldown ago."""
        last, event = attached.binding.last_op, attached.properties['event']
        if last is None or kind != event:
            return False
        seconds = _adjustment(attached.properties)['cooldown']
        return bool((now - last).total_seconds() < seconds)

    def pre_op(self, check: base.Check, attached: base.Attached) -> None:
        """Say by how many nodes the cluster is scaled."""
        kind = check.action.action
        if self.cools_down(attached, kind, check.now):
            raise base.PolicyRefusal(
                f'Policy {attached.policy.id} cooldown is still in progress.'
            )
        adjustment = _adjustment(attached.properties)
        current = nodes.count_of_cluster(check.session, check.cluster.id)
        count = given(check.request, 'count')
        if count is None:
            count = _count(kind, adjustment, current)
        bounds = sizes.Bounds(
            check.cluster.min_size, check.cluster.max_size, check.node_limit
        )
        sign = 1 if kind == OUT else -1
        size = current + sign * count
        if adjustment['best_effort']:
            size = min(bounds.clamp(size), check.node_limit)
            count = sign * (size - current)
        if count <= 0:
            raise base.PolicyRefusal(
                f"Invalid count ({count}) for action '{kind}'."
            )
        try:
            bounds.check_size(size)
        except errors.BadRequest as error:
            raise base.PolicyRefusal(str(error)) from None
        key = 'creation' if kind == OUT else 'deletion'
        check.decided[key] = {'count': count}

    def post_op(self, check: base.Check, attached: base.Attached) -> None:
        """Remember when the cluster was scaled."""
        attached.binding.last_op = clock.utcnow()


def _adjustment(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    keys = ScalingPolicy.properties['adjustment'].keys or {}
    found = properties.get('adjustment') or {}
    defaults = {name: prop.default for name, prop in keys.items()}
    return {**defaults, **found}


def _count(kind: str, adjustment: Mapping[str, Any], current: int) -> int:
    number = adjustment['number']
    if adjustment['type'] == 'EXACT_CAPACITY':
        change = number - current
        return int(change if kind == OUT else -change)
    if adjustment['type'] == 'CHANGE_IN_CAPACITY':
        return int(number)
    share = int(sizes.share(number, current))
    return max(share, int(adjustment['min_step']))
