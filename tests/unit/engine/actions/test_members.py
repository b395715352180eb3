# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering import errors
from vobjects.clustering.requests import clusters, nodes
from vobjects_simulated import tables


def members(engine: Engine, cluster: str) -> list[str]:
    return list(request_helpers.get_cluster(engine, cluster).nodes)


def test_added_nodes_are_members_with_indices(any_harness: Harness) -> None:
    engine = any_harness.engine()
    cluster = request_helpers.create_cluster(engine, 1)
    alone = [
        request_helpers.create_node(engine, name=name, profile_id='p')
        for name in 'ab'
    ]
    engine.run(clusters.ClusterAddNodesRequest(identity='c', nodes=['a', 'b']))
    shown = request_helpers.get_cluster(engine, cluster)
    assert set(shown.nodes[1:]) == set(alone)
    assert (shown.status, shown.desired_capacity) == ('ACTIVE', 3)
    assert {
        request_helpers.get_node(engine, node).index for node in alone
    } == {
        2,
        3,
    }
    assert any_harness.statuses('NODE_JOIN') == ['SUCCEEDED'] * 2
    any_harness.assert_idle()


@pytest.mark.parametrize('destroy', [True, False])
def test_removed_nodes_are_orphaned_or_deleted(
    harness: Harness, engine: Engine, destroy: bool
) -> None:
    cluster = request_helpers.create_cluster(engine, 3)
    first, second, third = members(engine, cluster)
    engine.run(
        clusters.ClusterDelNodesRequest(
            identity=cluster,
            nodes=[first[:8], third],
            destroy_after_deletion=destroy,
        )
    )
    shown = request_helpers.get_cluster(engine, cluster)
    assert (shown.nodes, shown.desired_capacity) == ([second], 1)
    assert harness.count(tables.SimulatedServer) == (1 if destroy else 3)
    if destroy:
        assert harness.row(models.Node, first) is None
    else:
        left = request_helpers.get_node(engine, first)
        assert (left.cluster_id, left.index) == ('', -1)
        assert left.status == 'ACTIVE'
    harness.assert_idle()


def test_replace_swaps_members(any_harness: Harness) -> None:
    engine = any_harness.engine()
    cluster = request_helpers.create_cluster(engine, 2)
    replaced, remaining = members(engine, cluster)
    new = request_helpers.create_node(engine, name='new', profile_id='p')
    engine.run(
        clusters.ClusterReplaceNodesRequest(
            identity='c', nodes={replaced: 'new'}
        )
    )
    assert members(engine, cluster) == [remaining, new]
    assert request_helpers.get_node(engine, replaced).cluster_id == ''
    assert request_helpers.get_cluster(engine, cluster).status == 'ACTIVE'
    any_harness.assert_idle()


def test_node_added_to_two_clusters_joins_only_one(
    harness: Harness, engine: Engine
) -> None:
    first = request_helpers.create_cluster(engine, 0, name='one')
    second = request_helpers.create_cluster(
        engine, 0, name='two', profile_id='p'
    )
    node = request_helpers.create_node(engine, profile_id='p')
    for name in ('one', 'two'):
        engine.call(
            clusters.ClusterAddNodesRequest(identity=name, nodes=[node])
        )
    engine.run_actions()
    assert sorted([members(engine, first), members(engine, second)]) == [
        [],
        [node],
    ]
    assert harness.statuses('CLUSTER_ADD_NODES') == ['FAILED', 'SUCCEEDED']
    assert request_helpers.get_node(engine, node).status == 'ACTIVE'
    harness.assert_idle()


def test_add_reports_all_problems_in_one_error(engine: Engine) -> None:
    cluster = request_helpers.create_cluster(engine, 1)
    (member,) = members(engine, cluster)
    request_helpers.create_node(
        engine, name='unborn', profile_id='p', run=False
    )
    node_names = [member, 'unborn', 'nobody']
    with pytest.raises(errors.BadRequest) as caught:
        engine.call(
            clusters.ClusterAddNodesRequest(identity='c', nodes=node_names)
        )
    lines = str(caught.value).split('\n')
    assert lines[0] == f"Nodes ['{member}'] already owned by some cluster."
    assert lines[1].startswith('Nodes are not ACTIVE: [')
    assert lines[2] == "Nodes not found: ['nobody']."


@pytest.mark.parametrize(
    ('replacements', 'compat_message'),
    [
        ({}, 'The data provided is not a map'),
        ({'old': None}, "Field `nodes[old]' cannot be None"),
        ({'a': 'n', 'b': 'n'}, 'Map contains duplicated values'),
    ],
)
def test_invalid_replacements_are_rejected_with_senlins_messages(
    engine: Engine, replacements: Any, compat_message: str
) -> None:
    request_helpers.create_cluster(engine, 0)
    with pytest.raises(errors.BadRequest) as caught:
        engine.call(
            clusters.ClusterReplaceNodesRequest(
                identity='c', nodes=replacements
            )
        )
    assert caught.value.compat_message == compat_message


@pytest.mark.parametrize(
    ('request_type', 'node_names', 'message'),
    [
        (clusters.ClusterAddNodesRequest, ['n', 'n-id'], 'each node once'),
        (clusters.ClusterAddNodesRequest, ['n'], "the cluster's max_size"),
        (clusters.ClusterDelNodesRequest, ['n'], 'Nodes not members of'),
        (clusters.ClusterDelNodesRequest, ['member'], "cluster's min_size"),
        (clusters.ClusterReplaceNodesRequest, {}, 'at least one node'),
        (clusters.ClusterReplaceNodesRequest, {'x': 5}, 'must be the name'),
        (
            clusters.ClusterReplaceNodesRequest,
            {'member': 'n', 'x': 'n'},
            'cannot replace two',
        ),
        (
            clusters.ClusterReplaceNodesRequest,
            {'n': 'member', 'x': 'y'},
            'Original nodes not found',
        ),
        (
            clusters.ClusterReplaceNodesRequest,
            {'x': 'member'},
            'already member of a cluster',
        ),
    ],
)
def test_unsuitable_nodes_are_rejected(
    harness: Harness,
    engine: Engine,
    request_type: Any,
    node_names: Any,
    message: str,
) -> None:
    cluster = request_helpers.create_cluster(engine, 1, min_size=1, max_size=1)
    (member,) = members(engine, cluster)
    standalone = request_helpers.create_node(engine, profile_id='p')
    ids = {'member': member, 'n-id': standalone}
    if isinstance(node_names, dict):
        identities: Any = {
            ids.get(k, k): ids.get(v, v) for k, v in node_names.items()
        }
    else:
        identities = [ids.get(name, name) for name in node_names]
    with pytest.raises(errors.BadRequest, match=message):
        engine.call(request_type(identity=cluster, nodes=identities))
    assert (
        harness.statuses('NODE_JOIN') == harness.statuses('NODE_LEAVE') == []
    )


def test_nodes_of_another_project_are_not_found(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 1)
    theirs = engine_harness.request_context('theirs')
    request_helpers.create_profile(engine, 'their-profile', context=theirs)
    node = engine.run(
        nodes.NodeCreateRequest(name='t', profile_id='their-profile'), theirs
    ).node.id
    with pytest.raises(errors.BadRequest, match='Nodes not found'):
        engine.call(
            clusters.ClusterAddNodesRequest(identity='c', nodes=[node])
        )


@pytest.mark.parametrize(('removed', 'added'), [(1, 0), (0, 2), (2, 1)])
def test_recover_with_check_capacity_restores_number_of_nodes(
    harness: Harness, engine: Engine, removed: int, added: int
) -> None:
    cluster = request_helpers.create_cluster(engine, 3)
    harness.change(
        models.Cluster, cluster, desired_capacity=3 - removed + added
    )
    engine.run(
        clusters.ClusterRecoverRequest(identity=cluster, check_capacity=True)
    )
    assert len(members(engine, cluster)) == 3 - removed + added
    assert request_helpers.get_cluster(engine, cluster).status == 'ACTIVE'
    harness.assert_idle()


def test_server_metadata_follows_membership(
    harness: Harness, engine: Engine
) -> None:
    cluster = request_helpers.create_cluster(engine, 0)
    node = request_helpers.create_node(engine, name='a', profile_id='p')

    def server_metadata() -> Any:
        (row,) = harness.rows(tables.SimulatedServer)
        return row.properties['metadata']

    engine.run(clusters.ClusterAddNodesRequest(identity='c', nodes=['a']))
    assert server_metadata() == {
        'cluster_node_id': node,
        'cluster_id': cluster,
        'cluster_node_index': '1',
    }
    engine.run(clusters.ClusterDelNodesRequest(identity='c', nodes=['a']))
    assert server_metadata() == {'cluster_node_id': node}


def test_node_joins_when_server_metadata_update_fails(
    harness: Harness, engine: Engine
) -> None:
    cluster = request_helpers.create_cluster(engine, 0)
    node = request_helpers.create_node(engine, name='a', profile_id='p')
    harness.cloud.servers.delete(
        request_helpers.get_node(engine, node).physical_id
    )
    engine.run(clusters.ClusterAddNodesRequest(identity='c', nodes=['a']))
    assert members(engine, cluster) == [node]
    assert harness.statuses('NODE_JOIN') == ['SUCCEEDED']
    harness.assert_idle()


@pytest.mark.parametrize(
    ('request_type', 'named'),
    [
        (clusters.ClusterAddNodesRequest, ['a', 'b', 'd']),
        (clusters.ClusterDelNodesRequest, ['a', 'b', 'd']),
        (clusters.ClusterReplaceNodesRequest, {'a': 'x', 'b': 'y', 'd': 'z'}),
    ],
)
def test_more_nodes_than_a_cluster_can_have_are_rejected_at_once(
    harness: Harness, request_type: Any, named: Any
) -> None:
    harness.conf.set_override('max_nodes_per_cluster', 2, 'engine')
    engine = harness.engine()
    request_helpers.create_cluster(engine, 0)
    with pytest.raises(
        errors.BadRequest, match='nodes: must have at most 2 items, not 3'
    ):
        engine.call(request_type(identity='c', nodes=named))
