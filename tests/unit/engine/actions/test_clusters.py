# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import pytest

from engine.db import models
from engine.providers import base as providers
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering import errors
from vobjects.clustering.requests import actions, clusters
from vobjects_simulated import tables


def test_create_derives_node_actions(any_harness: Harness) -> None:
    engine = any_harness.engine()
    cluster = request_helpers.create_cluster(engine, 3)
    shown = request_helpers.get_cluster(engine, cluster)
    assert shown.status == 'ACTIVE'
    assert shown.created_at is not None
    assert len(shown.nodes) == 3
    indices = [
        request_helpers.get_node(engine, id_).index for id_ in shown.nodes
    ]
    assert indices == [1, 2, 3]
    assert any_harness.statuses('NODE_CREATE') == ['SUCCEEDED'] * 3
    assert any_harness.count(tables.SimulatedServer) == 3
    any_harness.assert_idle()


def test_create_stages_run_in_any_engine(any_harness: Harness) -> None:
    engines = [any_harness.engine(name=name) for name in 'abc']
    request_helpers.create_cluster(engines[0], 3, run=False)
    stages = 0
    while any(engine.scheduler.step() for engine in engines):
        stages += 1
        engines.append(engines.pop(0))
    assert stages == 5
    any_harness.assert_idle()
    (cluster,) = any_harness.rows(models.Cluster)
    assert cluster.status == 'ACTIVE'


def test_create_of_an_empty_cluster_needs_no_child(
    harness: Harness, engine: Engine
) -> None:
    cluster = request_helpers.create_cluster(engine, 0)
    assert request_helpers.get_cluster(engine, cluster).status == 'ACTIVE'
    assert harness.count(models.Action) == 1


@pytest.mark.parametrize(('minimum', 'status'), [(0, 'WARNING'), (2, 'ERROR')])
def test_create_with_failing_nodes_reports_failure(
    harness: Harness, minimum: int, status: str
) -> None:
    harness.conf.set_override('failure_rate', 1.0, 'simulated')
    engine = harness.engine()
    cluster = request_helpers.create_cluster(engine, 2, min_size=minimum)
    shown = request_helpers.get_cluster(engine, cluster)
    assert shown.status == status
    assert 'number of active nodes (0)' in shown.status_reason
    action = next(
        row
        for row in harness.rows(models.Action)
        if row.action == 'CLUSTER_CREATE'
    )
    assert action.status == 'FAILED'
    assert re.match(
        r'Failed in creating nodes: NODE_CREATE of .*: the simulated cloud'
        r' failed to create .* \(and 1 more\)',
        action.status_reason,
    )
    harness.assert_idle()


def test_nodes_are_named_by_the_format_of_the_cluster(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(
        engine, 2, config={'node.name.format': 'web-$2I'}
    )
    names = sorted(row.name for row in harness.rows(models.Node))
    assert names == ['web-01', 'web-02']


@pytest.mark.parametrize('bad', ['a b', 5])
def test_invalid_name_format_is_rejected_and_changes_nothing(
    harness: Harness, engine: Engine, bad: Any
) -> None:
    config = {'node.name.format': bad}
    with pytest.raises(errors.BadRequest, match=r'must result in|must be'):
        request_helpers.create_cluster(engine, 1, config=config)
    cluster = request_helpers.create_cluster(engine, 1)
    with pytest.raises(errors.BadRequest, match=r'must result in|must be'):
        engine.call(
            clusters.ClusterUpdateRequest(identity=cluster, config=config)
        )

    # As one that was made before this was refused.
    harness.change(models.Cluster, cluster, config=config)
    action = engine.run(clusters.ClusterScaleOutRequest(identity=cluster))
    ended = engine.call(actions.ActionGetRequest(identity=action.action))
    assert ended.status == 'FAILED'
    assert ended.status_reason.startswith('config: node.name.format')
    harness.assert_idle()


@pytest.mark.parametrize(
    ('request_type', 'options', 'size'),
    [
        (
            clusters.ClusterResizeRequest,
            {'adjustment_type': 'EXACT_CAPACITY', 'number': 5},
            5,
        ),
        (
            clusters.ClusterResizeRequest,
            {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': -2},
            1,
        ),
        (
            clusters.ClusterResizeRequest,
            {'adjustment_type': 'CHANGE_IN_PERCENTAGE', 'number': 100},
            6,
        ),
        (clusters.ClusterResizeRequest, {'min_size': 2, 'max_size': 9}, 3),
        (clusters.ClusterScaleInRequest, {}, 2),
        (clusters.ClusterScaleInRequest, {'count': 2}, 1),
        (clusters.ClusterScaleInRequest, {'count': 9}, 0),
        (clusters.ClusterScaleOutRequest, {}, 4),
        (clusters.ClusterScaleOutRequest, {'count': 2}, 5),
    ],
)
def test_resize_results_in_matching_nodes_and_servers(
    harness: Harness,
    engine: Engine,
    request_type: Any,
    options: dict[str, Any],
    size: int,
) -> None:
    cluster = request_helpers.create_cluster(engine, 3)
    engine.run(request_type(identity=cluster, **options))
    shown = request_helpers.get_cluster(engine, cluster)
    assert (shown.status, len(shown.nodes)) == ('ACTIVE', size)
    assert shown.desired_capacity == size
    assert shown.min_size == options.get('min_size', 0)
    assert shown.max_size == options.get('max_size', -1)
    assert harness.count(tables.SimulatedServer) == size
    harness.assert_idle()


def test_scale_in_removes_unhealthy_nodes_first_then_the_youngest(
    harness: Harness, engine: Engine
) -> None:
    cluster = request_helpers.create_cluster(engine, 4)
    first, second, third, _ = request_helpers.get_cluster(
        engine, cluster
    ).nodes
    harness.change(models.Node, second, tainted=True)
    engine.run(clusters.ClusterScaleInRequest(identity=cluster, count=2))
    assert request_helpers.get_cluster(engine, cluster).nodes == [first, third]


def test_update_changes_only_specified_fields(
    harness: Harness, engine: Engine
) -> None:
    cluster = request_helpers.create_cluster(engine, 1, metadata={'a': 1})
    engine.run(
        clusters.ClusterUpdateRequest(
            identity=cluster,
            name='new',
            timeout=99,
            config={'node.name.format': 'x'},
        )
    )
    shown = request_helpers.get_cluster(engine, 'new')
    assert shown.id == cluster
    assert (shown.timeout, shown.metadata) == (99, {'a': 1})
    assert shown.config == {'node.name.format': 'x'}
    assert shown.status == 'ACTIVE'
    assert harness.count(models.Action) == 3


@pytest.mark.parametrize('profile_only', [True, False])
def test_profile_update_reaches_nodes_unless_profile_only(
    harness: Harness, engine: Engine, profile_only: bool
) -> None:
    cluster = request_helpers.create_cluster(engine, 2)
    newer = request_helpers.create_profile(
        engine, 'newer', properties={'flavor': 'm1.huge'}
    )
    engine.run(
        clusters.ClusterUpdateRequest(
            identity=cluster, profile_id='newer', profile_only=profile_only
        )
    )
    assert request_helpers.get_cluster(engine, cluster).profile_id == newer
    of_nodes = {row.profile_id == newer for row in harness.rows(models.Node)}
    assert of_nodes == {not profile_only}
    flavors = {
        row.properties['flavor']
        for row in harness.rows(tables.SimulatedServer)
    }
    assert flavors == {'m1.small' if profile_only else 'm1.huge'}


def test_update_to_an_incompatible_profile_fails(
    harness: Harness, engine: Engine
) -> None:
    cluster = request_helpers.create_cluster(engine, 1)
    before = request_helpers.get_cluster(engine, cluster).profile_id
    request_helpers.create_profile(
        engine, 'newer', properties={'key_name': 'other'}
    )
    engine.run(
        clusters.ClusterUpdateRequest(identity=cluster, profile_id='newer')
    )
    shown = request_helpers.get_cluster(engine, cluster)
    assert (shown.profile_id, shown.status) == (before, 'WARNING')
    assert harness.statuses('CLUSTER_UPDATE') == ['FAILED']
    (node,) = harness.rows(models.Node)
    assert node.status_reason == 'key_name of a server cannot be changed'


def test_delete_removes_everything_but_actions(any_harness: Harness) -> None:
    engine = any_harness.engine()
    cluster = request_helpers.create_cluster(engine, 2)
    engine.run(clusters.ClusterDeleteRequest(identity=cluster))
    any_harness.assert_idle()
    for model in (models.Cluster, models.Node, tables.SimulatedServer):
        assert any_harness.count(model) == 0
    assert any_harness.statuses('NODE_DELETE') == ['SUCCEEDED'] * 2


def test_delete_with_a_failing_node_keeps_the_cluster(
    harness: Harness, engine: Engine
) -> None:
    cluster = request_helpers.create_cluster(engine, 2)
    harness.conf.set_override('failure_rate', 1.0, 'simulated')
    engine.run(clusters.ClusterDeleteRequest(identity=cluster))
    shown = request_helpers.get_cluster(engine, cluster)
    assert (shown.status, len(shown.nodes)) == ('WARNING', 2)
    assert harness.statuses('CLUSTER_DELETE') == ['FAILED']
    harness.conf.set_override('failure_rate', 0.0, 'simulated')
    engine.run(clusters.ClusterDeleteRequest(identity=cluster))
    assert harness.count(models.Cluster) == 0
    harness.assert_idle()


def lose_a_server(harness: Harness, engine: Engine) -> None:
    row = harness.rows(tables.SimulatedServer)[0]
    engine.runtime.provider.servers.delete(row.id)


def test_check_detects_a_lost_server(harness: Harness) -> None:
    engine = harness.engine()
    cluster = request_helpers.create_cluster(engine, 2)
    lose_a_server(harness, engine)
    engine.run(clusters.ClusterCheckRequest(identity=cluster))
    shown = request_helpers.get_cluster(engine, cluster)
    assert shown.status == 'WARNING'
    assert sorted(row.status for row in harness.rows(models.Node)) == [
        'ACTIVE',
        'ERROR',
    ]
    assert harness.statuses('CLUSTER_CHECK') == ['SUCCEEDED']


@pytest.mark.parametrize('check', [True, False])
def test_recover_repairs_unhealthy_nodes(
    harness: Harness, engine: Engine, check: bool
) -> None:
    cluster = request_helpers.create_cluster(engine, 2)
    lose_a_server(harness, engine)
    engine.run(
        clusters.ClusterRecoverRequest(
            identity=cluster, operation='RECREATE', check=check
        )
    )
    assert request_helpers.get_cluster(engine, cluster).status == 'ACTIVE'
    expected = 2 if check else 1
    assert harness.count(tables.SimulatedServer) == expected
    assert len(harness.statuses('NODE_RECOVER')) == (1 if check else 0)
    assert len(harness.statuses('NODE_CHECK')) == (2 if check else 0)
    harness.assert_idle()


@pytest.mark.parametrize('lost', [0, 1])
def test_recover_with_check_keeps_nodes_whose_check_fails(
    harness: Harness,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    lost: int,
) -> None:
    cluster = request_helpers.create_cluster(engine, 3)
    first, *others = harness.rows(models.Node)
    servers = harness.cloud.servers
    get = servers.get

    def get_first(server_id: str) -> Any:
        if server_id == first.physical_id:
            raise providers.ProviderError('the cloud does not answer')
        return get(server_id)

    monkeypatch.setattr(servers, 'get', get_first)
    for node in others[:lost]:
        servers.delete(node.physical_id)
    engine.run(clusters.ClusterRecoverRequest(identity=cluster, check=True))
    assert harness.statuses('CLUSTER_RECOVER') == ['FAILED']
    (action,) = (
        row
        for row in harness.rows(models.Action)
        if row.action == 'CLUSTER_RECOVER'
    )
    assert f'{first.id}: the cloud does not answer' in action.status_reason
    assert len(harness.statuses('NODE_RECOVER')) == lost
    after = harness.row(models.Node, first.id)
    assert (after.status, after.physical_id) == ('ERROR', first.physical_id)
    assert harness.count(tables.SimulatedServer) == 3

    monkeypatch.setattr(servers, 'get', get)
    engine.run(clusters.ClusterRecoverRequest(identity=cluster, check=True))
    assert request_helpers.get_cluster(engine, cluster).status == 'ACTIVE'
    after = harness.row(models.Node, first.id)
    assert after.physical_id == first.physical_id
    harness.assert_idle()


@pytest.mark.parametrize(
    'request_',
    [
        clusters.ClusterScaleOutRequest(identity='c', count=2),
        clusters.ClusterResizeRequest(
            identity='c', adjustment_type='EXACT_CAPACITY', number=4
        ),
    ],
)
def test_growth_beyond_the_nodes_of_the_project_changes_nothing(
    any_harness: Harness, request_: Any
) -> None:
    engine = any_harness.engine()
    request_helpers.create_cluster(engine, 2)
    action = engine.call(request_.obj_clone()).action
    any_harness.conf.set_override('max_nodes_per_project', 3, 'engine')
    engine.run_actions()
    row = any_harness.row(models.Action, action)
    assert (row.status, row.status_reason) == (
        'FAILED',
        'Quota exceeded for resources. The project has 2 nodes, and needs 2'
        ' more; it may have 3.',
    )
    shown = request_helpers.get_cluster(engine, 'c')
    assert (shown.status, shown.desired_capacity) == ('ACTIVE', 2)
    assert any_harness.count(models.Node) == 2


def test_cluster_beyond_the_nodes_of_the_project_is_not_filled(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 4, run=False)
    harness.conf.set_override('max_nodes_per_project', 3, 'engine')
    engine.run_actions()
    shown = request_helpers.get_cluster(engine, 'c')
    assert shown.status == 'ERROR'
    assert 'needs 4 more; it may have 3' in shown.status_reason
    assert harness.count(models.Node) == 0


def test_recovery_beyond_the_nodes_of_the_project_adds_no_node(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 3)
    (first, *_) = request_helpers.get_cluster(engine, 'c').nodes
    harness.database.write(
        lambda session: session.delete(session.get(models.Node, first))
    )
    harness.conf.set_override('max_nodes_per_project', 2, 'engine')
    request = clusters.ClusterRecoverRequest(identity='c', check_capacity=True)
    action = engine.run(request).action
    assert harness.row(models.Action, action).status == 'FAILED'
    assert harness.count(models.Node) == 2
