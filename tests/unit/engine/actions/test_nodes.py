# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import asks, fleet
from vobjects.clustering.requests import clusters, nodes, profiles


def test_create_makes_a_server(any_world: fleet.World) -> None:
    engine = any_world.engine()
    node = asks.node(engine, role='master', metadata={'a': 1})
    shown = asks.show_node(engine, node)
    (server,) = any_world.rows(models.SimulatedServer)
    assert (shown.status, shown.physical_id) == ('ACTIVE', server.id)
    assert (shown.name, shown.role, shown.index) == ('n', 'master', -1)
    assert shown.cluster_id == ''
    assert shown.created_at is not None
    assert server.name == 'n'
    any_world.assert_at_rest()


def test_create_that_fails_leaves_an_error_with_its_reason(
    world: fleet.World,
) -> None:
    world.conf.set_override('failure_rate', 1.0, 'simulated')
    engine = world.engine()
    node = asks.node(engine)
    shown = asks.show_node(engine, node)
    assert shown.status == 'ERROR'
    assert 'failed to create' in shown.status_reason
    assert world.statuses('NODE_CREATE') == ['FAILED']
    world.assert_at_rest()


def test_create_in_a_cluster_makes_it_larger(any_world: fleet.World) -> None:
    engine = any_world.engine()
    cluster = asks.cluster(engine, 1)
    node = asks.node(engine, profile_id='p', cluster_id='c')
    shown = asks.show_cluster(engine, cluster)
    assert (shown.status, shown.desired_capacity) == ('ACTIVE', 2)
    assert shown.nodes[1] == node
    assert asks.show_node(engine, node).index == 2
    assert 'NODE_CREATE' in shown.status_reason


def test_update_changes_what_is_given(world: fleet.World) -> None:
    engine = world.engine()
    node = asks.node(engine, role='r')
    engine.ask(
        nodes.NodeUpdateRequest(
            identity=node, name='new', metadata={'b': 2}, tainted=True
        )
    )
    engine.work()
    shown = asks.show_node(engine, 'new')
    assert (shown.tainted, shown.role) == (True, 'r')
    assert shown.metadata == {'b': 2}
    assert shown.status == 'ACTIVE'


def test_update_of_the_profile_changes_the_server(world: fleet.World) -> None:
    engine = world.engine()
    node = asks.node(engine)
    newer = asks.profile(engine, 'newer', properties={'flavor': 'm1.huge'})
    engine.ask(nodes.NodeUpdateRequest(identity=node, profile_id='newer'))
    engine.work()
    assert asks.show_node(engine, node).profile_id == newer
    (server,) = world.rows(models.SimulatedServer)
    assert server.properties['flavor'] == 'm1.huge'


def test_properties_are_converted_for_the_cloud_and_shown_as_given(
    world: fleet.World,
) -> None:
    engine = world.engine()
    given = {'flavor': 1, 'config_drive': 'yes', 'image': 2}
    profile = asks.profile(engine, properties=given)
    node = asks.node(engine, profile_id=profile)
    (server,) = world.rows(models.SimulatedServer)
    converted = {'flavor': '1', 'config_drive': True, 'image': '2'}
    assert server.properties.items() >= converted.items()
    shown = engine.ask(profiles.ProfileGetRequest(identity=profile))
    assert shown.spec['properties'].items() >= given.items()
    # Fixed properties may be written in another way.
    asks.profile(engine, 'same', properties={**given, 'config_drive': True})
    engine.ask(nodes.NodeUpdateRequest(identity=node, profile_id='same'))
    engine.work()
    assert asks.show_node(engine, node).status == 'ACTIVE'


def test_delete_removes_node_and_server(any_world: fleet.World) -> None:
    engine = any_world.engine()
    node = asks.node(engine)
    engine.ask(nodes.NodeDeleteRequest(identity=node))
    engine.work()
    any_world.assert_at_rest()
    assert any_world.count(models.Node) == 0
    assert any_world.count(models.SimulatedServer) == 0


@pytest.mark.parametrize('physical_id', [None, 'known'])
def test_node_of_a_region_that_is_not_there_can_be_deleted_if_it_has_nothing(
    world: fleet.World, physical_id: str | None
) -> None:
    engine = world.engine()
    profile = asks.profile(
        engine, properties={'context': {'region_name': 'Mars'}}
    )
    node = asks.node(engine, profile_id=profile)
    shown = asks.show_node(engine, node)
    assert (shown.status, shown.status_reason) == (
        'ERROR',
        'there is no region Mars',
    )

    def know(session: Any) -> None:
        session.get(models.Node, node).physical_id = physical_id

    world.database.write(know)
    engine.ask(nodes.NodeDeleteRequest(identity=node))
    engine.work()
    assert world.statuses('NODE_DELETE') == [
        'FAILED' if physical_id else 'SUCCEEDED'
    ]
    assert world.count(models.Node) == (1 if physical_id else 0)
    world.assert_at_rest()


def test_delete_of_a_member_makes_the_cluster_smaller(
    world: fleet.World,
) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 3)
    victim = asks.show_cluster(engine, cluster).nodes[1]
    engine.ask(nodes.NodeDeleteRequest(identity=victim))
    engine.work()
    shown = asks.show_cluster(engine, cluster)
    assert (shown.status, shown.desired_capacity) == ('ACTIVE', 2)
    assert victim not in shown.nodes


@pytest.mark.parametrize(
    ('lost', 'status'), [(True, 'ERROR'), (False, 'ACTIVE')]
)
def test_check_says_how_the_server_is(
    world: fleet.World, lost: bool, status: str
) -> None:
    engine = world.engine()
    node = asks.node(engine)
    if lost:
        (server,) = world.rows(models.SimulatedServer)
        engine.run.provider.servers.delete(server.id)
    engine.ask(nodes.NodeCheckRequest(identity=node))
    engine.work()
    assert asks.show_node(engine, node).status == status
    assert world.statuses('NODE_CHECK') == ['SUCCEEDED']


@pytest.mark.parametrize(
    ('operation', 'call', 'same'),
    [
        (None, 'create', False),
        ('RECREATE', 'create', False),
        ('REBUILD', 'rebuild', True),
        ('REBOOT', 'reboot', True),
    ],
)
def test_recover_does_the_operation(
    world: fleet.World, operation: str | None, call: str, same: bool
) -> None:
    engine = world.engine()
    node = asks.node(engine)
    before = asks.show_node(engine, node).physical_id
    world.cloud.servers.calls.clear()
    engine.ask(
        nodes.NodeRecoverRequest(
            identity=node,
            operation=operation,
            operation_params={'type': 'HARD'},
        )
    )
    engine.work()
    shown = asks.show_node(engine, node)
    assert shown.status == 'ACTIVE'
    assert (shown.physical_id == before) is same
    assert world.cloud.servers.calls[-1] == call
    assert world.count(models.SimulatedServer) == 1


def test_recover_with_check_leaves_a_healthy_server_alone(
    world: fleet.World,
) -> None:
    engine = world.engine()
    node = asks.node(engine)
    world.cloud.servers.calls.clear()
    engine.ask(nodes.NodeRecoverRequest(identity=node, check=True))
    engine.work()
    assert world.cloud.servers.calls == []
    assert asks.show_node(engine, node).status_reason == (
        'Recover: Node is ACTIVE.'
    )


def test_member_s_own_action_waits_for_the_cluster_s(
    any_world: fleet.World,
) -> None:
    engine = any_world.engine()
    cluster = asks.cluster(engine, 2)
    member = asks.show_cluster(engine, cluster).nodes[0]
    engine.ask(clusters.ClusterScaleOutRequest(identity=cluster))
    job = engine.scheduler.claim()
    assert job is not None
    engine.ask(nodes.NodeCheckRequest(identity=member))
    assert engine.work() == 0
    (blocked,) = [
        row for row in any_world.rows(models.Action) if row.blocked_on
    ]
    assert (blocked.action, blocked.blocked_on) == ('NODE_CHECK', cluster)
    assert blocked.start_time is None
    job.perform()
    engine.work()
    any_world.assert_at_rest()
    assert any_world.statuses('NODE_CHECK') == ['SUCCEEDED']


@pytest.mark.parametrize('insists', [True, False])
def test_recreation_that_cannot_remove_the_server(
    any_world: fleet.World, insists: bool
) -> None:
    # It takes longer to remove a server than it may take.
    any_world.conf.set_override('latency', 0.01, 'simulated')
    engine = any_world.engine()
    node = asks.node(engine)
    old = asks.show_node(engine, node).physical_id
    engine.ask(
        nodes.NodeRecoverRequest(
            identity=node, delete_timeout=0, force_recreate=insists
        )
    )
    engine.work()
    shown = asks.show_node(engine, node)
    assert (shown.physical_id != old) == insists
    if insists:
        assert shown.status == 'ACTIVE'
        assert shown.data == {'recovery': 'RECREATE'}
    else:
        assert shown.status == 'ERROR'
        assert 'was not gone within 0 seconds' in shown.status_reason
    assert any_world.row(models.SimulatedServer, old) is not None
    engine.ask(nodes.NodeDeleteRequest(identity=node))
    engine.work()
    assert any_world.count(models.SimulatedServer) == insists
    any_world.assert_at_rest()


@pytest.mark.parametrize(
    ('value', 'calls'),
    [(True, ['operate', 'delete']), ('True', ['operate', 'delete'])]
    + [(value, ['delete']) for value in (False, 'False', None, [1])],
)
def test_node_is_stopped_before_its_cluster_deletes_it(
    world: fleet.World, value: object, calls: list[str]
) -> None:
    engine = world.engine()
    config = {'cluster.stop_node_before_delete': value}
    asks.cluster(engine, 2, config=config)
    servers = world.cloud.servers
    servers.calls.clear()
    engine.ask(clusters.ClusterScaleInRequest(identity='c'))
    engine.work()
    assert servers.calls == calls
    first = asks.show_cluster(engine, 'c').nodes[0]
    servers.calls.clear()
    engine.ask(nodes.NodeDeleteRequest(identity=first))
    engine.work()
    assert servers.calls == ['delete']  # a user asked for this and no more
    world.assert_at_rest()


def test_node_that_cannot_be_stopped_is_deleted(world: fleet.World) -> None:
    engine = world.engine()
    config = {'cluster.stop_node_before_delete': True}
    asks.cluster(engine, 1, config=config)
    world.database.write(
        lambda session: session.query(models.SimulatedServer).delete()
    )
    engine.ask(clusters.ClusterDeleteRequest(identity='c'))
    engine.work()
    assert world.count(models.Cluster) == 0
    world.assert_at_rest()
