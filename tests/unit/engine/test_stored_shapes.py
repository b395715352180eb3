# SPDX-License-Identifier: Apache-2.0
"""The JSON in the database keeps the form that older releases read.

The schema lock records the requests in the inputs of actions; the golden file
``stored_shapes.json`` records the keys of the other JSON columns, and what
events say, after a scenario that exercises each action and policy type.
"""

from __future__ import annotations

import copy
import json
import os
import pathlib
import re
from typing import Any

from engine.actions import action_types
from engine.db import models, types
from engine.events import recorder
from engine.policies import base as policy_types
from tests import senlin_examples
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Harness
from vobjects import objects
from vobjects.clustering.requests import (
    clusters,
    nodes,
    policies,
    receivers,
)

GOLDEN = pathlib.Path(__file__).with_name('stored_shapes.json')

#: Policies of which a cluster can have only one; their examples come from
#: Senlin.
EXAMPLES = (
    'affinity_policy',
    'batch_policy',
    'deletion_policy_lifecycle_hook',
    'health_policy_poll',
    'lb_policy',
    'placement_region',
    'placement_zone',
    'scaling_policy',
)

_ID = re.compile(r'[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}')


def shapes_of(value: Any, path: str) -> set[str]:
    """Return the paths of the keys in a value, with the types of the leaves.

    IDs as keys are the same key.
    """
    if isinstance(value, dict) and value:
        return {
            shape
            for key, item in value.items()
            for shape in shapes_of(item, f'{path}.{_ID.sub("ID", key)}')
        }
    if isinstance(value, list) and value:
        return {
            shape for item in value for shape in shapes_of(item, f'{path}[]')
        }
    return {f'{path}: {type(value).__name__}'}


def stored_shapes(harness: Harness) -> set[str]:
    """Return the shapes of all JSON columns."""
    found = set()
    for model in (
        models.Action,
        models.Cluster,
        models.ClusterPolicy,
        models.Event,
        models.Node,
        models.Policy,
        models.Receiver,
    ):
        for row in harness.rows(model):
            table = model.__tablename__
            if model is models.Action:
                table += f'.{row.action}'
            for attribute in model.__mapper__.column_attrs:
                (column,) = attribute.columns
                if (
                    isinstance(column.type, types.JsonObject)
                    and column.name not in ('inputs', 'spec')
                    and getattr(row, attribute.key)
                ):
                    found |= shapes_of(
                        getattr(row, attribute.key), f'{table}.{column.name}'
                    )
    for event in harness.rows(models.Event):
        found.add(f'event {event.otype} {event.action} {event.status}')
    return found


class Scenario:
    """Requests to one engine, with the shapes that they have stored."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness
        self.engine = harness.engine()
        self.shapes: set[str] = set()

    def __call__(self, request: objects.Request) -> Any:
        """Handle a request, and run its actions step by step."""
        response = self.engine.call(request)
        while True:
            self.shapes |= stored_shapes(self.harness)
            if not self.engine.run_actions(limit=1):
                return response

    def complete_hooks(self) -> None:
        """Let the nodes go whose deletion waits for a hook."""
        for action in self.harness.rows(models.Action):
            if action.status == 'WAITING_LIFECYCLE_COMPLETION':
                self(
                    clusters.ClusterCompleteLifecycleRequest(
                        identity='c', lifecycle_action_token=action.id
                    )
                )

    def run(self) -> None:
        """Exercise each action and policy type."""
        specs = senlin_examples.specs()
        profile = request_helpers.create_profile(self.engine)
        request_helpers.create_profile(self.engine, 'new')
        on: Any = {'identity': 'c'}
        self(
            clusters.ClusterCreateRequest(
                name='c', profile_id=profile, desired_capacity=2
            )
        )
        for name in EXAMPLES:
            spec = copy.deepcopy(specs[f'policies/{name}.yaml'])
            # Nothing waits for a time.
            if name == 'batch_policy':
                spec['properties']['pause_time'] = 0
            elif name == 'scaling_policy':
                spec['properties']['adjustment']['cooldown'] = 0
            self(policies.PolicyCreateRequest(name=name, spec=spec))
            self(policies.ClusterAttachPolicyRequest(**on, policy_id=name))
            self(
                policies.ClusterUpdatePolicyRequest(
                    **on, policy_id=name, enabled=True
                )
            )
            self(clusters.ClusterScaleOutRequest(**on, count=1))
            self(clusters.ClusterScaleInRequest(**on, count=1))
            self.complete_hooks()
            if name == 'batch_policy':
                self(clusters.ClusterUpdateRequest(**on, profile_id='new'))
            self(policies.ClusterDetachPolicyRequest(**on, policy_id=name))
        self(
            receivers.ReceiverCreateRequest(
                name='r',
                type='webhook',
                cluster_id='c',
                action='CLUSTER_SCALE_OUT',
                params={'count': 1},
            )
        )
        for name in ('n', 'm'):
            self(nodes.NodeCreateRequest(name=name, profile_id=profile))
        self(clusters.ClusterAddNodesRequest(**on, nodes=['n']))
        self(clusters.ClusterReplaceNodesRequest(**on, nodes={'n': 'm'}))
        self(clusters.ClusterDelNodesRequest(**on, nodes=['m']))
        for request in (
            nodes.NodeCheckRequest(identity='n'),
            nodes.NodeRecoverRequest(identity='n', check=True),
            nodes.NodeUpdateRequest(identity='n', name='k'),
            nodes.NodeOperationRequest(
                identity='k', operation='reboot', params={'type': 'HARD'}
            ),
            nodes.NodeDeleteRequest(identity='k'),
            clusters.ClusterCheckRequest(**on),
            clusters.ClusterRecoverRequest(**on, check=True),
            clusters.ClusterOperationRequest(
                **on, operation='reboot', params={'type': 'SOFT'}
            ),
            clusters.ClusterResizeRequest(
                **on, adjustment_type='EXACT_CAPACITY', number=3
            ),
            clusters.ClusterDeleteRequest(**on, force=True),
        ):
            self(request)


def test_shapes_are_those_of_the_golden_file(harness: Harness) -> None:
    scenario = Scenario(harness)
    scenario.run()
    words = {
        f'phase {status} {phase} {level}'
        for status, (phase, level) in recorder.PHASES.items()
    }
    now = sorted(scenario.shapes | words)
    if os.environ.get('VOBJECTS_UPDATE'):
        GOLDEN.write_text(json.dumps(now, indent=1) + '\n')
    before = json.loads(GOLDEN.read_text())
    assert now == before, (
        'Engines of other releases read and write this JSON. Restore what is'
        f' missing, and add what is new to {GOLDEN.name} with'
        ' VOBJECTS_UPDATE=1, if older engines can handle it.'
        f' Missing: {sorted({*before} - {*now})};'
        f' new: {sorted({*now} - {*before})}'
    )


def test_scenario_exercises_each_action_and_policy_type() -> None:
    recorded = json.loads(GOLDEN.read_text())
    for name in action_types.ACTION_TYPES:
        target = name.partition('_')[0]
        assert f'event {target} {name} start' in recorded or (
            name in ('NODE_JOIN', 'NODE_LEAVE')
        )
    bound = {
        senlin_examples.specs()[f'policies/{name}.yaml']['type']
        for name in EXAMPLES
    }
    assert bound == {kind.name for kind in policy_types.Registry.load().all()}
