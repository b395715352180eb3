# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import asks, fleet
from vobjects.clustering import errors
from vobjects.clustering.requests import actions, clusters, nodes, profiles


def servers(world: fleet.World) -> list[str]:
    return sorted(row.status for row in world.rows(models.SimulatedServer))


def test_operation_on_a_node_reaches_its_server(
    any_world: fleet.World,
) -> None:
    engine = any_world.engine()
    node = asks.node(engine)
    engine.ask(nodes.NodeOperationRequest(identity=node, operation='stop'))
    engine.work()
    assert servers(any_world) == ['SHUTOFF']
    shown = asks.show_node(engine, node)
    assert shown.status == 'ACTIVE'
    assert shown.status_reason == "Operation 'stop' succeeded"
    any_world.assert_at_rest()


def test_operation_that_the_cloud_refuses_leaves_an_error(
    world: fleet.World,
) -> None:
    engine = world.engine()
    node = asks.node(engine)
    for operation in ('stop', 'pause'):
        engine.ask(
            nodes.NodeOperationRequest(identity=node, operation=operation)
        )
        engine.work()
    shown = asks.show_node(engine, node)
    assert shown.status == 'ERROR'
    assert 'cannot pause server' in shown.status_reason
    assert 'while it is SHUTOFF' in shown.status_reason
    world.assert_at_rest()


def test_operation_on_a_cluster_reaches_the_chosen_nodes(
    world: fleet.World,
) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 3)
    first = asks.show_cluster(engine, cluster).nodes[0]
    engine.ask(nodes.NodeUpdateRequest(identity=first, role='slave'))
    engine.work()
    engine.ask(
        clusters.ClusterOperationRequest(
            identity=cluster, operation='stop', filters={'role': 'slave'}
        )
    )
    engine.work()
    assert servers(world) == ['ACTIVE', 'ACTIVE', 'SHUTOFF']
    engine.ask(
        clusters.ClusterOperationRequest(
            identity=cluster, operation='reboot', filters={'role': ['', 'x']}
        )
    )
    engine.work()
    assert servers(world) == ['ACTIVE', 'ACTIVE', 'SHUTOFF']
    engine.ask(
        clusters.ClusterOperationRequest(identity=cluster, operation='reboot')
    )
    engine.work()
    assert servers(world) == ['ACTIVE'] * 3
    assert asks.show_cluster(engine, cluster).status == 'ACTIVE'
    world.assert_at_rest()


@pytest.mark.parametrize(
    ('options', 'says', 'said'),
    [
        (
            {'operation': 'dance'},
            "operation 'dance' is not supported",
            "The requested operation 'dance' is not supported by the profile"
            " type 'os.nova.server-1.0'.",
        ),
        (
            {'operation': 'reboot', 'params': {'type': 'MILD'}},
            "params.type: must be one of 'SOFT', 'HARD', not",
            "'MILD' must be one of the allowed values: SOFT, HARD.",
        ),
        (
            {'operation': 'stop', 'params': {'x': 1}},
            'params.x: unknown',
            "Unrecognizable parameter 'x'.",
        ),
    ],
)
def test_operation_that_the_type_does_not_offer_is_refused(
    world: fleet.World, options: dict[str, Any], says: str, said: str
) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 1)
    (node,) = asks.show_cluster(engine, cluster).nodes
    with pytest.raises(errors.BadRequest, match=says):
        engine.ask(clusters.ClusterOperationRequest(identity='c', **options))
    with pytest.raises(errors.BadRequest, match=says) as caught:
        engine.ask(nodes.NodeOperationRequest(identity=node, **options))
    assert caught.value.compat_message == said


@pytest.mark.parametrize(
    ('filters', 'says'),
    [
        ({'colour': 'red'}, "Filter key 'colour' is unsupported"),
        ({'role': 5}, 'filters.role: must be a string'),
        ({'role': []}, 'filters.role: must be a string'),
        ({'role': 'nobody'}, 'No node .matching the filter. could be found'),
    ],
)
def test_filters_that_choose_nothing_are_refused(
    world: fleet.World, filters: dict[str, Any], says: str
) -> None:
    engine = world.engine()
    asks.cluster(engine, 1)
    with pytest.raises(errors.BadRequest, match=says):
        engine.ask(
            clusters.ClusterOperationRequest(
                identity='c', operation='stop', filters=filters
            )
        )


def test_operations_of_a_type_are_shown_with_their_parameters(
    world: fleet.World,
) -> None:
    engine = world.engine()
    request = profiles.ProfileTypeOpsRequest(identity='os.nova.server-1.0')
    reboot = engine.ask(request).operations['reboot']
    assert reboot['parameters']['type'] == {
        'type': 'String',
        'required': False,
        'description': "Type of reboot, which can be 'SOFT' or 'HARD'.",
        'default': 'SOFT',
        'constraints': [
            {'type': 'AllowedValues', 'constraint': ['SOFT', 'HARD']}
        ],
    }


def test_a_password_is_not_shown_among_the_inputs(world: fleet.World) -> None:
    engine = world.engine()
    node = asks.node(engine)
    action = engine.ask(
        nodes.NodeOperationRequest(
            identity=node,
            operation='change_password',
            params={'admin_pass': 'tops3cret'},
        )
    ).action
    shown = engine.ask(actions.ActionGetRequest(identity=action))
    assert shown.inputs['operation'] == 'change_password'
    assert 'tops3cret' not in str(shown.inputs)
