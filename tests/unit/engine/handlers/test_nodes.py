# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering import errors
from vobjects.clustering.requests import clusters, nodes

ACTIONS = [
    nodes.NodeUpdateRequest(identity='n', name='new'),
    nodes.NodeDeleteRequest(identity='n'),
    nodes.NodeCheckRequest(identity='n'),
    nodes.NodeRecoverRequest(identity='n'),
]


@pytest.mark.parametrize('request_', ACTIONS, ids=lambda r: r.obj_name())
def test_action_on_unknown_node_is_not_found(
    engine: Engine, request_: Any
) -> None:
    with pytest.raises(errors.ResourceNotFound, match="The node 'n'"):
        engine.call(request_.obj_clone())


@pytest.mark.parametrize(
    'request_',
    [action for action in ACTIONS if 'Delete' not in action.obj_name()],
    ids=lambda r: r.obj_name(),
)
def test_action_during_unfinished_action_conflicts(
    engine: Engine, request_: Any
) -> None:
    request_helpers.create_node(engine, run=False)
    with pytest.raises(errors.ActionConflict, match='NODE_CREATE'):
        engine.call(request_.obj_clone())


def test_operation_during_unfinished_action_waits(engine: Engine) -> None:
    request_helpers.create_node(engine, run=False)
    engine.call(nodes.NodeOperationRequest(identity='n', operation='reboot'))


@pytest.mark.parametrize(
    ('request_', 'message'),
    [
        (nodes.NodeUpdateRequest(identity='n'), 'No property needs'),
        (
            nodes.NodeUpdateRequest(identity='n', tainted=False),
            'No property needs',
        ),
        (
            nodes.NodeUpdateRequest(identity='n', profile_id='none'),
            "specified profile 'none'",
        ),
        (
            nodes.NodeCreateRequest(name='m', profile_id='none'),
            "specified profile 'none'",
        ),
        (
            nodes.NodeCreateRequest(
                name='m', profile_id='of-node', cluster_id='none'
            ),
            "specified cluster 'none'",
        ),
        (nodes.NodeListRequest(cluster_id='none'), 'given cluster: none'),
    ],
)
def test_impossible_request_is_rejected(
    engine: Engine, request_: Any, message: str
) -> None:
    request_helpers.create_node(engine)
    with pytest.raises(errors.BadRequest, match=message):
        engine.call(request_.obj_clone())


def test_recovery_that_needs_a_server_is_rejected_without_one(
    harness: Harness, engine: Engine
) -> None:
    harness.conf.set_override('failure_rate', 1.0, 'simulated')
    request_helpers.create_node(engine)
    with pytest.raises(errors.BadRequest, match='use RECREATE'):
        engine.call(nodes.NodeRecoverRequest(identity='n', operation='REBOOT'))


def test_delete_of_a_member_below_the_minimum_is_rejected(
    engine: Engine,
) -> None:
    cluster = request_helpers.create_cluster(engine, 1, min_size=1)
    (member,) = request_helpers.get_cluster(engine, cluster).nodes
    with pytest.raises(
        errors.BadRequest, match="less than the cluster's min_size"
    ):
        engine.call(nodes.NodeDeleteRequest(identity=member))


def test_delete_of_busy_resource_requires_force(
    harness: Harness, engine: Engine
) -> None:
    node = request_helpers.create_node(engine)
    harness.change(models.Node, node, status='UPDATING')
    with pytest.raises(errors.ActionConflict, match='UPDATING'):
        engine.call(nodes.NodeDeleteRequest(identity=node))
    engine.call(nodes.NodeDeleteRequest(identity=node, force=True))


def test_list_is_filtered_by_cluster(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 2)
    standalone = request_helpers.create_node(engine)
    all_nodes = engine.call(nodes.NodeListRequest())
    assert len(all_nodes) == 3
    members = engine.call(nodes.NodeListRequest(cluster_id='c', sort='index'))
    assert [member.index for member in members] == [1, 2]
    assert standalone not in [member.id for member in members]


def test_details_come_from_the_cloud(engine: Engine) -> None:
    node = request_helpers.create_node(engine)
    plain = engine.call(nodes.NodeGetRequest(identity=node))
    assert not plain.obj_attr_is_set('details')
    request = nodes.NodeGetRequest(identity=node, show_details=True)
    details = engine.call(request).details
    assert details['status'] == 'ACTIVE'
    assert details['flavor'] == 'm1.small'
    engine.runtime.provider.servers.delete(plain.physical_id)
    assert 'there is no server' in str(engine.call(request).details)


@pytest.mark.parametrize(
    ('params', 'message'),
    [({'type': 'soft'}, None), ({}, None), ({'type': 'FIRM'}, "'FIRM'")],
)
def test_unknown_reboot_type_is_rejected(
    engine: Engine, params: dict[str, str], message: str | None
) -> None:
    request_helpers.create_node(engine)
    request_helpers.create_cluster(engine, 1)
    recovery = {'operation': 'REBOOT', 'operation_params': params}
    for request in (
        nodes.NodeRecoverRequest(identity='n', **recovery),
        clusters.ClusterRecoverRequest(identity='c', **recovery),
    ):
        if message is None:
            engine.call(request)
        else:
            with pytest.raises(errors.BadRequest, match=message):
                engine.call(request)


def test_concurrent_creates_respect_maximum_size(any_harness: Harness) -> None:
    any_harness.conf.set_override('max_nodes_per_cluster', 3, 'engine')
    engine = any_harness.engine()
    cluster = request_helpers.create_cluster(engine, 1)
    requests = [
        nodes.NodeCreateRequest(name='n', profile_id='p', cluster_id=cluster)
        for _ in range(8)
    ]
    created = request_helpers.accepted_together(
        engine, requests, errors.BadRequest
    )
    assert created == 2
    assert any_harness.count(models.Node) == 3


def test_recovery_with_excessive_delete_timeout_is_rejected(
    engine: Engine,
) -> None:
    request_helpers.create_node(engine)
    with pytest.raises(errors.BadRequest, match='at most 3600, not 3601'):
        engine.call(
            nodes.NodeRecoverRequest(identity='n', delete_timeout=3601)
        )
    engine.call(nodes.NodeRecoverRequest(identity='n', delete_timeout=3600))


@pytest.mark.parametrize(
    ('field', 'cleared'), [('role', None), ('metadata', {})]
)
def test_update_with_null_clears_field(
    harness: Harness, engine: Engine, field: str, cleared: Any
) -> None:
    node = request_helpers.create_node(
        engine, role='master', metadata={'a': 'b'}
    )
    engine.run(nodes.NodeUpdateRequest(identity='n', **{field: None}))
    row = harness.row(models.Node, node)
    values = {'role': row.role, 'metadata': row.meta}
    assert values == {
        'role': 'master',
        'metadata': {'a': 'b'},
        field: cleared,
    }


@pytest.mark.parametrize('field', ['name', 'profile_id'])
def test_update_with_null_in_other_fields_is_rejected(
    engine: Engine, field: str
) -> None:
    request_helpers.create_node(engine)
    with pytest.raises(errors.BadRequest, match='No property needs'):
        engine.call(nodes.NodeUpdateRequest(identity='n', **{field: None}))
