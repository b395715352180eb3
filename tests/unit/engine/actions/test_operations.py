# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering import errors
from vobjects.clustering.requests import actions, clusters, nodes, profiles
from vobjects_simulated import tables


def servers(harness: Harness) -> list[str]:
    return sorted(row.status for row in harness.rows(tables.SimulatedServer))


def test_operation_on_a_node_reaches_its_server(any_harness: Harness) -> None:
    engine = any_harness.engine()
    node = request_helpers.create_node(engine)
    engine.run(nodes.NodeOperationRequest(identity=node, operation='stop'))
    assert servers(any_harness) == ['SHUTOFF']
    shown = request_helpers.get_node(engine, node)
    assert shown.status == 'ACTIVE'
    assert shown.status_reason == "Operation 'stop' succeeded"
    any_harness.assert_idle()


def test_operation_rejected_by_cloud_sets_node_to_error(
    harness: Harness, engine: Engine
) -> None:
    node = request_helpers.create_node(engine)
    for operation in ('stop', 'pause'):
        engine.run(
            nodes.NodeOperationRequest(identity=node, operation=operation)
        )
    shown = request_helpers.get_node(engine, node)
    assert shown.status == 'ERROR'
    assert 'cannot pause server' in shown.status_reason
    assert 'while it is SHUTOFF' in shown.status_reason
    harness.assert_idle()


def test_cluster_operation_reaches_the_matching_nodes(
    harness: Harness, engine: Engine
) -> None:
    cluster = request_helpers.create_cluster(engine, 3)
    first = request_helpers.get_cluster(engine, cluster).nodes[0]
    engine.run(nodes.NodeUpdateRequest(identity=first, role='slave'))
    engine.run(
        clusters.ClusterOperationRequest(
            identity=cluster, operation='stop', filters={'role': 'slave'}
        )
    )
    assert servers(harness) == ['ACTIVE', 'ACTIVE', 'SHUTOFF']
    engine.run(
        clusters.ClusterOperationRequest(
            identity=cluster, operation='reboot', filters={'role': ['', 'x']}
        )
    )
    assert servers(harness) == ['ACTIVE', 'ACTIVE', 'SHUTOFF']
    engine.run(
        clusters.ClusterOperationRequest(identity=cluster, operation='reboot')
    )
    assert servers(harness) == ['ACTIVE'] * 3
    assert request_helpers.get_cluster(engine, cluster).status == 'ACTIVE'
    harness.assert_idle()


@pytest.mark.parametrize(
    ('options', 'message', 'compat_message'),
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
def test_unsupported_operation_is_rejected(
    engine: Engine, options: dict[str, Any], message: str, compat_message: str
) -> None:
    cluster = request_helpers.create_cluster(engine, 1)
    (node,) = request_helpers.get_cluster(engine, cluster).nodes
    with pytest.raises(errors.BadRequest, match=message):
        engine.call(clusters.ClusterOperationRequest(identity='c', **options))
    with pytest.raises(errors.BadRequest, match=message) as caught:
        engine.call(nodes.NodeOperationRequest(identity=node, **options))
    assert caught.value.compat_message == compat_message


@pytest.mark.parametrize(
    ('filters', 'message'),
    [
        ({'colour': 'red'}, "Filter key 'colour' is unsupported"),
        ({'role': 5}, 'filters.role: must be a string'),
        ({'role': []}, 'filters.role: must be a string'),
        ({'role': 'nobody'}, 'No node .matching the filter. could be found'),
    ],
)
def test_filters_without_match_are_rejected(
    engine: Engine, filters: dict[str, Any], message: str
) -> None:
    request_helpers.create_cluster(engine, 1)
    with pytest.raises(errors.BadRequest, match=message):
        engine.call(
            clusters.ClusterOperationRequest(
                identity='c', operation='stop', filters=filters
            )
        )


def test_operations_of_a_type_are_shown_with_their_parameters(
    engine: Engine,
) -> None:
    request = profiles.ProfileTypeOpsRequest(identity='os.nova.server-1.0')
    reboot = engine.call(request).operations['reboot']
    assert reboot['parameters']['type'] == {
        'type': 'String',
        'required': False,
        'description': "Type of reboot, which can be 'SOFT' or 'HARD'.",
        'default': 'SOFT',
        'constraints': [
            {'type': 'AllowedValues', 'constraint': ['SOFT', 'HARD']}
        ],
    }


def test_password_in_inputs_is_masked(engine: Engine) -> None:
    node = request_helpers.create_node(engine)
    action = engine.call(
        nodes.NodeOperationRequest(
            identity=node,
            operation='change_password',
            params={'admin_pass': 'tops3cret'},
        )
    ).action
    shown = engine.call(actions.ActionGetRequest(identity=action))
    assert shown.inputs['operation'] == 'change_password'
    assert 'tops3cret' not in str(shown.inputs)
