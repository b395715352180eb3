# SPDX-License-Identifier: Apache-2.0
"""Clusters that are looked after, and sick nodes that are recovered."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from engine.db import health, models
from engine.db import simulation as tables
from engine.health import manager
from tests.unit.engine import asks, fleet
from tests.unit.engine.policies.attaching import attach, enable, policy
from tests.unit.engine.policies.test_health import spec
from vobjects.clustering.requests import clusters, nodes

HOURS = datetime.timedelta(hours=2)


def look(engine: fleet.Engine) -> int:
    """Have an engine look at all that is due; return how often it did."""
    one = manager.Manager(engine.run, engine.member.id)
    looks = 0
    while one.step():
        looks += 1
    return looks


def cared_for(
    engine: fleet.Engine, *modes: Any, size: int = 2, **recovery: Any
) -> None:
    """Create cluster c with a health policy."""
    asks.cluster(engine, size)
    policy(engine, 'health', version='1.2', **spec(*modes, **recovery))
    assert attach(engine).status == 'SUCCEEDED'


def later(world: fleet.World) -> None:
    """Have all that is due in the next hours be due now."""

    def body(session: Any) -> None:
        for row in session.query(health.Registered):
            row.due -= HOURS
        for node in session.query(models.Node):
            node.updated_at -= HOURS

    world.database.write(body)


def fall_sick(world: fleet.World, status: str = 'SHUTOFF') -> str:
    """Have the first node's server fail; return the server's ID."""
    node = min(world.rows(models.Node), key=lambda row: row.index)

    def body(session: Any) -> None:
        server = session.get(models.SimulatedServer, node.physical_id)
        server.status = status

    world.database.write(body)
    found: str = node.physical_id
    return found


def recoveries(world: fleet.World) -> list[Any]:
    return [
        row
        for row in world.rows(models.Action)
        if row.action == 'NODE_RECOVER'
    ]


def test_sick_node_is_recovered_when_its_cluster_is_due(
    any_world: fleet.World,
) -> None:
    engine = any_world.engine()
    cared_for(engine, 'NODE_STATUS_POLLING', actions=[{'name': 'REBOOT'}])
    server = fall_sick(any_world)
    assert look(engine) == 0
    later(any_world)
    assert look(engine) == 1
    (action,) = recoveries(any_world)
    assert action.status_reason == (
        f"Health policy 'pol': its server {server} is SHUTOFF"
    )
    assert action.project == 'ours'
    later(any_world)
    look(engine)
    assert len(recoveries(any_world)) == 1
    engine.work()
    assert any_world.row(models.SimulatedServer, server).status == 'ACTIVE'
    assert asks.show_cluster(engine, 'c').status == 'ACTIVE'
    later(any_world)
    look(engine)
    assert len(recoveries(any_world)) == 1
    any_world.assert_at_rest()


@pytest.mark.parametrize('status', ['PAUSED', 'RESCUE', 'REBOOT'])
def test_server_that_may_be_meant_to_be_so_is_left(
    world: fleet.World, status: str
) -> None:
    engine = world.engine()
    cared_for(engine, 'NODE_STATUS_POLLING')
    fall_sick(world, status)
    later(world)
    look(engine)
    assert recoveries(world) == []


def test_node_that_was_changed_lately_is_left(world: fleet.World) -> None:
    engine = world.engine()
    cared_for(engine, 'NODE_STATUS_POLLING')
    fall_sick(world)

    def due(session: Any) -> None:
        session.query(health.Registered).one().due -= HOURS

    world.database.write(due)
    assert look(engine) == 1
    assert recoveries(world) == []


def test_node_whose_server_is_gone_gets_another(world: fleet.World) -> None:
    engine = world.engine()
    cared_for(
        engine,
        'NODE_STATUS_POLLING',
        actions=[{'name': 'RECREATE'}],
        fencing=['COMPUTE'],
        node_delete_timeout=7,
        node_force_recreate=True,
    )
    server = fall_sick(world)
    later(world)
    look(engine)
    (action,) = recoveries(world)
    inputs = action.inputs['versioned_object.data']
    assert inputs['operation'] == 'RECREATE'
    assert inputs['operation_params'] == {'fence_compute': True}
    assert (inputs['delete_timeout'], inputs['force_recreate']) == (7, True)
    engine.work()
    assert world.row(models.SimulatedServer, server) is None
    assert world.count(models.SimulatedServer) == 2
    assert asks.show_cluster(engine, 'c').status == 'ACTIVE'


def test_host_that_is_down_is_found(world: fleet.World) -> None:
    engine = world.engine()
    cared_for(engine, 'HYPERVISOR_STATUS_POLLING')
    node = world.rows(models.Node)[0]
    server = world.row(models.SimulatedServer, node.physical_id)
    world.conf.set_override('failed_hosts', [server.host], 'simulated')
    later(world)
    look(engine)
    assert recoveries(world)[0].status_reason.endswith(
        f'its host {server.host} is down'
    )
    engine.work()
    for row in world.rows(models.SimulatedServer):
        assert row.host != server.host


@pytest.mark.parametrize(
    ('conditional', 'found'), [('ANY_FAILED', 1), ('ALL_FAILED', 0)]
)
def test_one_mode_is_enough_or_not(
    world: fleet.World, conditional: str, found: int
) -> None:
    engine = world.engine()
    asks.cluster(engine, 2)
    properties = spec('NODE_STATUS_POLLING', 'HYPERVISOR_STATUS_POLLING')
    properties['detection']['recovery_conditional'] = conditional
    policy(engine, 'health', version='1.2', **properties)
    attach(engine)
    fall_sick(world)
    later(world)
    look(engine)
    assert len(recoveries(world)) == found


def test_what_the_cloud_tells_is_heard_once(world: fleet.World) -> None:
    engine = world.engine()
    cared_for(engine, 'LIFECYCLE_EVENTS', actions=[{'name': 'REBOOT'}])
    first, _ = asks.show_cluster(engine, 'c').nodes
    for operation in ('stop', 'start', 'stop'):
        engine.ask(
            nodes.NodeOperationRequest(identity=first, operation=operation)
        )
        later(world)
        look(engine)  # an action works on the node: nothing happens
        engine.work()
    assert recoveries(world) == []
    later(world)
    look(engine)
    (action,) = recoveries(world)
    assert 'compute.instance.power_off.end' in action.status_reason
    engine.work()
    later(world)
    look(engine)
    later(world)
    look(engine)
    assert len(recoveries(world)) <= 2  # the second event: it is well again
    assert world.rows(tables.Event) == []
    (server, _) = world.rows(models.SimulatedServer)
    assert server.status == 'ACTIVE'


def test_cluster_that_an_action_works_on_is_left(world: fleet.World) -> None:
    engine = world.engine()
    cared_for(engine, 'NODE_STATUS_POLLING')
    fall_sick(world)
    later(world)
    engine.ask(clusters.ClusterCheckRequest(identity='c'))
    engine.work(1)
    assert look(engine) == 1
    assert recoveries(world) == []
    engine.work()
    later(world)
    look(engine)
    assert len(recoveries(world)) == 1


def test_disabled_policy_looks_at_nothing(world: fleet.World) -> None:
    engine = world.engine()
    cared_for(engine, 'NODE_STATUS_POLLING')
    enable(engine, on=False)
    fall_sick(world)
    later(world)
    assert look(engine) == 0
    enable(engine, on=True)
    later(world)
    assert look(engine) == 1
    assert len(recoveries(world)) == 1


def test_cluster_is_one_engines_until_that_dies(
    any_world: fleet.World,
) -> None:
    dying, other = any_world.engine(name='dying'), any_world.engine()
    cared_for(dying, 'NODE_STATUS_POLLING')
    (row,) = any_world.rows(health.Registered)
    later(any_world)
    owner = dying.member.id
    claim = health.claim
    cluster = row.cluster_id
    assert any_world.database.write(lambda s: claim(s, cluster, owner))
    later(any_world)
    assert look(other) == 0
    any_world.bury(dying)
    assert look(other) == 1
    later(any_world)
    assert not any_world.database.write(lambda s: claim(s, cluster, owner))
    assert look(other) == 1


def test_cloud_that_does_not_answer_is_no_reason(world: fleet.World) -> None:
    engine = world.engine()
    cared_for(engine, 'NODE_STATUS_POLLING')
    servers: Any = engine.run.provider.servers

    def fail(server_id: str) -> Any:
        raise manager.probes.providers.ProviderError('out of order')

    servers.get = fail
    later(world)
    look(engine)
    assert recoveries(world) == []


def test_manager_runs_in_threads_and_stops(world: fleet.World) -> None:
    engine = world.engine()
    cared_for(engine, 'NODE_STATUS_POLLING', size=20)
    fall_sick(world)
    later(world)
    one = manager.Manager(engine.run, engine.member.id)
    one.start()
    for _ in range(600):
        if recoveries(world):
            break
        one._stopping.wait(0.1)
    one.stop(60)
    assert len(recoveries(world)) == 1
    assert world.rows(health.Registered)[0].owner is None
