# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import asks, fleet
from vobjects.clustering import errors
from vobjects.clustering.requests import actions, clusters


def test_create_makes_the_nodes_as_children(any_world: fleet.World) -> None:
    engine = any_world.engine()
    cluster = asks.cluster(engine, 3)
    shown = asks.show_cluster(engine, cluster)
    assert shown.status == 'ACTIVE'
    assert shown.created_at is not None
    assert len(shown.nodes) == 3
    indices = [asks.show_node(engine, id_).index for id_ in shown.nodes]
    assert indices == [1, 2, 3]
    assert any_world.statuses('NODE_CREATE') == ['SUCCEEDED'] * 3
    assert any_world.count(models.SimulatedServer) == 3
    any_world.assert_at_rest()


def test_create_takes_stages_of_any_engine(any_world: fleet.World) -> None:
    engines = [any_world.engine(name=name) for name in 'abc']
    asks.cluster(engines[0], 3, run=False)
    done = 0
    while any(engine.scheduler.step() for engine in engines):
        done += 1
        engines.append(engines.pop(0))
    assert done == 5
    any_world.assert_at_rest()
    (cluster,) = any_world.rows(models.Cluster)
    assert cluster.status == 'ACTIVE'


def test_create_of_an_empty_cluster_needs_no_child(
    world: fleet.World,
) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 0)
    assert asks.show_cluster(engine, cluster).status == 'ACTIVE'
    assert world.count(models.Action) == 1


@pytest.mark.parametrize(('minimum', 'status'), [(0, 'WARNING'), (2, 'ERROR')])
def test_create_with_failing_nodes_says_so(
    world: fleet.World, minimum: int, status: str
) -> None:
    world.conf.set_override('failure_rate', 1.0, 'simulated')
    engine = world.engine()
    cluster = asks.cluster(engine, 2, min_size=minimum)
    shown = asks.show_cluster(engine, cluster)
    assert shown.status == status
    assert 'number of active nodes (0)' in shown.status_reason
    action = next(
        row
        for row in world.rows(models.Action)
        if row.action == 'CLUSTER_CREATE'
    )
    assert action.status == 'FAILED'
    assert re.match(
        r'Failed in creating nodes: NODE_CREATE of .*: the simulated cloud'
        r' failed to create .* \(and 1 more\)',
        action.status_reason,
    )
    world.assert_at_rest()


def test_nodes_are_named_by_the_cluster_s_format(world: fleet.World) -> None:
    engine = world.engine()
    asks.cluster(engine, 2, config={'node.name.format': 'web-$2I'})
    names = sorted(row.name for row in world.rows(models.Node))
    assert names == ['web-01', 'web-02']


@pytest.mark.parametrize('bad', ['a b', 5])
def test_format_that_makes_no_names_is_refused_and_does_no_harm(
    world: fleet.World, bad: Any
) -> None:
    engine = world.engine()
    config = {'node.name.format': bad}
    with pytest.raises(errors.BadRequest, match=r'makes no|must be'):
        asks.cluster(engine, 1, config=config)
    cluster = asks.cluster(engine, 1)
    with pytest.raises(errors.BadRequest, match=r'makes no|must be'):
        engine.ask(
            clusters.ClusterUpdateRequest(identity=cluster, config=config)
        )

    # As one that was made before this was refused.
    def spoil(session: Any) -> None:
        session.get(models.Cluster, cluster).config = config

    world.database.write(spoil)
    action = engine.ask(clusters.ClusterScaleOutRequest(identity=cluster))
    engine.work()
    ended = engine.ask(actions.ActionGetRequest(identity=action.action))
    assert ended.status == 'FAILED'
    assert ended.status_reason.startswith('config: node.name.format')
    world.assert_at_rest()


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
def test_change_of_size_leads_to_as_many_nodes_and_servers(
    world: fleet.World, request_type: Any, options: dict[str, Any], size: int
) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 3)
    engine.ask(request_type(identity=cluster, **options))
    engine.work()
    shown = asks.show_cluster(engine, cluster)
    assert (shown.status, len(shown.nodes)) == ('ACTIVE', size)
    assert shown.desired_capacity == size
    assert shown.min_size == options.get('min_size', 0)
    assert shown.max_size == options.get('max_size', -1)
    assert world.count(models.SimulatedServer) == size
    world.assert_at_rest()


def test_shrinking_takes_bad_nodes_first_then_the_youngest(
    world: fleet.World,
) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 4)
    first, second, third, _ = asks.show_cluster(engine, cluster).nodes

    def taint(session: Any) -> None:
        session.get(models.Node, second).tainted = True

    world.database.write(taint)
    engine.ask(clusters.ClusterScaleInRequest(identity=cluster, count=2))
    engine.work()
    assert asks.show_cluster(engine, cluster).nodes == [first, third]


def test_update_changes_what_is_given(world: fleet.World) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 1, metadata={'a': 1})
    engine.ask(
        clusters.ClusterUpdateRequest(
            identity=cluster,
            name='new',
            timeout=99,
            config={'node.name.format': 'x'},
        )
    )
    engine.work()
    shown = asks.show_cluster(engine, 'new')
    assert shown.id == cluster
    assert (shown.timeout, shown.metadata) == (99, {'a': 1})
    assert shown.config == {'node.name.format': 'x'}
    assert shown.status == 'ACTIVE'
    assert world.count(models.Action) == 3


@pytest.mark.parametrize('profile_only', [True, False])
def test_update_of_the_profile_reaches_the_nodes_unless_told_not_to(
    world: fleet.World, profile_only: bool
) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 2)
    newer = asks.profile(engine, 'newer', properties={'flavor': 'm1.huge'})
    engine.ask(
        clusters.ClusterUpdateRequest(
            identity=cluster, profile_id='newer', profile_only=profile_only
        )
    )
    engine.work()
    assert asks.show_cluster(engine, cluster).profile_id == newer
    of_nodes = {row.profile_id == newer for row in world.rows(models.Node)}
    assert of_nodes == {not profile_only}
    flavors = {
        row.properties['flavor'] for row in world.rows(models.SimulatedServer)
    }
    assert flavors == {'m1.small' if profile_only else 'm1.huge'}


def test_update_to_a_profile_that_servers_cannot_take_fails(
    world: fleet.World,
) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 1)
    before = asks.show_cluster(engine, cluster).profile_id
    asks.profile(engine, 'newer', properties={'key_name': 'other'})
    engine.ask(
        clusters.ClusterUpdateRequest(identity=cluster, profile_id='newer')
    )
    engine.work()
    shown = asks.show_cluster(engine, cluster)
    assert (shown.profile_id, shown.status) == (before, 'WARNING')
    assert world.statuses('CLUSTER_UPDATE') == ['FAILED']
    (node,) = world.rows(models.Node)
    assert node.status_reason == 'key_name of a server cannot be changed'


def test_delete_leaves_actions_only(any_world: fleet.World) -> None:
    engine = any_world.engine()
    cluster = asks.cluster(engine, 2)
    engine.ask(clusters.ClusterDeleteRequest(identity=cluster))
    engine.work()
    any_world.assert_at_rest()
    for model in (models.Cluster, models.Node, models.SimulatedServer):
        assert any_world.count(model) == 0
    assert any_world.statuses('NODE_DELETE') == ['SUCCEEDED'] * 2


def test_delete_with_a_node_that_stays_keeps_the_cluster(
    world: fleet.World,
) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 2)
    world.conf.set_override('failure_rate', 1.0, 'simulated')
    engine.ask(clusters.ClusterDeleteRequest(identity=cluster))
    engine.work()
    shown = asks.show_cluster(engine, cluster)
    assert (shown.status, len(shown.nodes)) == ('WARNING', 2)
    assert world.statuses('CLUSTER_DELETE') == ['FAILED']
    world.conf.set_override('failure_rate', 0.0, 'simulated')
    engine.ask(clusters.ClusterDeleteRequest(identity=cluster))
    engine.work()
    assert world.count(models.Cluster) == 0
    world.assert_at_rest()


def lose_a_server(world: fleet.World, engine: fleet.Engine) -> None:
    row = world.rows(models.SimulatedServer)[0]
    engine.run.provider.servers.delete(row.id)


def test_check_notices_a_lost_server(world: fleet.World) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 2)
    lose_a_server(world, engine)
    engine.ask(clusters.ClusterCheckRequest(identity=cluster))
    engine.work()
    shown = asks.show_cluster(engine, cluster)
    assert shown.status == 'WARNING'
    assert sorted(row.status for row in world.rows(models.Node)) == [
        'ACTIVE',
        'ERROR',
    ]
    assert world.statuses('CLUSTER_CHECK') == ['SUCCEEDED']


@pytest.mark.parametrize('check', [True, False])
def test_recover_repairs_the_nodes_it_knows_to_be_bad(
    world: fleet.World, check: bool
) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 2)
    lose_a_server(world, engine)
    engine.ask(
        clusters.ClusterRecoverRequest(
            identity=cluster, operation='RECREATE', check=check
        )
    )
    engine.work()
    assert asks.show_cluster(engine, cluster).status == 'ACTIVE'
    expected = 2 if check else 1
    assert world.count(models.SimulatedServer) == expected
    assert len(world.statuses('NODE_RECOVER')) == (1 if check else 0)
    assert len(world.statuses('NODE_CHECK')) == (2 if check else 0)
    world.assert_at_rest()
