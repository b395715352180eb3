# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.deletion``: which nodes go when a cluster shrinks, and how.

What it decides is below ``deletion``::

    candidates               IDs of the nodes that go
    destroy_after_deletion   whether they are deleted, or only leave
    grace_period             seconds before they do
    reduce_desired_capacity  whether the cluster is meant to stay smaller
    hooks                    who is told before they go; {} for nobody
"""

from __future__ import annotations

import random
import re
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any

from engine.db import models, nodes
from engine.policies import base, counts, placement
from engine.profiles.schema import Property
from engine.queues import base as queues
from vobjects.clustering import consts, errors

CRITERIA = (
    'OLDEST_FIRST',
    'OLDEST_PROFILE_FIRST',
    'YOUNGEST_FIRST',
    'RANDOM',
)


class DeletionPolicy(base.PolicyType):
    """Version 1.0; see the module's docstring."""

    name = 'senlin.policy.deletion'
    version = '1.0'
    support_status = {
        '1.0': [{'status': consts.SUPPORTED, 'since': '2016.04'}],
        '1.1': [{'status': consts.SUPPORTED, 'since': '2018.01'}],
    }
    priority = 400
    targets = {
        base.BEFORE: (
            'CLUSTER_SCALE_IN',
            'CLUSTER_DEL_NODES',
            'CLUSTER_RESIZE',
            'NODE_DELETE',
        )
    }
    properties = {
        'criteria': Property(
            'String',
            'Which nodes go first.',
            default='RANDOM',
            allowed=CRITERIA,
        ),
        'destroy_after_deletion': Property(
            'Boolean',
            'Whether a node is deleted, and does not only leave.',
            default=True,
        ),
        'grace_period': Property(
            'Integer', 'Seconds before a node goes.', default=0
        ),
        'reduce_desired_capacity': Property(
            'Boolean',
            'Whether the desired capacity shrinks with the cluster.',
            default=True,
        ),
    }

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Refuse a time that is over before it began."""
        if properties['grace_period'] < 0:
            raise errors.InvalidSpec("the 'grace_period' must be >= 0")

    def pre_op(self, check: base.Check, attached: base.Attached) -> None:
        """Choose the nodes that go, and how."""
        properties = attached.properties
        chosen = self._chosen(check, properties['criteria'])
        if chosen is None:
            return
        decided = check.decided.get('deletion', {})
        check.decided['deletion'] = {
            **decided,
            'count': len(chosen),
            'candidates': chosen,
            'destroy_after_deletion': properties['destroy_after_deletion'],
            'grace_period': properties['grace_period'],
            'reduce_desired_capacity': properties['reduce_desired_capacity'],
            'hooks': properties.get('hooks') or {},
        }

    def _chosen(self, check: base.Check, criteria: str) -> list[str] | None:
        kind = check.action.action
        if kind == 'NODE_DELETE':
            return [check.action.target]
        if kind == 'CLUSTER_DEL_NODES':
            return list(check.request.nodes)
        members = nodes.of_cluster(check.session, check.cluster.id)
        count = -counts.growth(check)
        if count <= 0:
            return None
        ordered = _ordered(check, members, criteria)
        return placement.chosen(check, ordered, count)


class DeletionPolicyWithHooks(DeletionPolicy):
    """Version 1.1: somebody may be told before a node goes.

    See :mod:`engine.actions.departures`.
    """

    version = '1.1'
    properties = {
        **DeletionPolicy.properties,
        'hooks': Property(
            'Map',
            'Who is told before a node goes, and may take time.',
            keys={
                'type': Property(
                    'String',
                    'How they are told.',
                    default='zaqar',
                    allowed=('zaqar', 'webhook'),
                ),
                'params': Property(
                    'Map',
                    'Where they are told.',
                    keys={
                        'queue': Property(
                            'String', 'Name of a message queue.', default=''
                        ),
                        'url': Property(
                            'String', 'URL that is called.', default=''
                        ),
                    },
                ),
                'timeout': Property(
                    'Integer',
                    'Seconds after which the node goes anyway.',
                    default=0,
                ),
            },
        ),
    }

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Refuse a hook that could reach nobody."""
        super().check_properties(properties)
        hook = properties['hooks']
        if not hook:
            return
        kind, params = hook['type'], hook['params'] or {}
        if hook['timeout'] < 0:
            raise errors.InvalidSpec("the 'timeout' of 'hooks' must be >= 0")
        if kind == 'webhook' and not _is_url(params.get('url') or ''):
            raise errors.InvalidSpec(
                "'hooks' of type webhook need params.url, an http or https URL"
            )
        if kind == 'zaqar' and not re.fullmatch(
            queues.NAME, params.get('queue') or ''
        ):
            raise errors.InvalidSpec(
                "'hooks' of type zaqar need params.queue, up to 64 letters,"
                ' digits, - and _'
            )


def _is_url(text: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(text)
        # The port is looked at when it is asked for.
        return (
            bool(parts.hostname)
            and parts.port != 0
            and parts.scheme
            in (
                'http',
                'https',
            )
        )
    except ValueError:
        return False


def _ordered(
    check: base.Check, members: Sequence[models.Node], criteria: str
) -> list[models.Node]:
    """Return nodes, tainted and bad ones first, then by the criteria."""

    def is_good(node: models.Node) -> bool:
        return not (node.tainted or node.status in ('ERROR', 'WARNING'))

    def age(node: models.Node) -> tuple[Any, int]:
        return node.created_at or check.now, node.index

    ordered = list(members)
    if criteria == 'RANDOM':
        random.shuffle(ordered)
    else:
        ordered.sort(key=age, reverse=criteria == 'YOUNGEST_FIRST')
    if criteria == 'OLDEST_PROFILE_FIRST':
        born = {
            node.profile_id: check.session.get_one(
                models.Profile, node.profile_id
            ).created_at
            for node in members
        }
        ordered.sort(key=lambda node: born[node.profile_id])
    return sorted(ordered, key=is_good)
