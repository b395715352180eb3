# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from engine.db import simulation as tables
from engine.profiles import base, docker_container
from tests.unit.engine import asks, fleet
from tests.unit.engine.profiles import test_heat_stack as heat
from vobjects.clustering import errors
from vobjects.clustering.requests import clusters, nodes, profiles

REGISTRY = base.Registry(
    {'container.dockerinc.docker-1.0': docker_container.DockerContainer()}
)


def spec(**properties: Any) -> dict[str, Any]:
    return {
        'type': 'container.dockerinc.docker',
        'version': '1.0',
        'properties': {'image': 'nginx', **properties},
    }


def profile(
    engine: fleet.Engine, called: str = 'box', /, **properties: Any
) -> str:
    return asks.profile(engine, called, spec=spec(**properties))


def container(engine: fleet.Engine, name: str, profile_id: str) -> Any:
    node = asks.node(engine, name=name, profile_id=profile_id)
    return asks.show_node(engine, node)


def hosts_of(world: fleet.World) -> list[str]:
    rows = world.rows(tables.Container)
    return sorted(row.properties['host'] for row in rows)


@pytest.mark.parametrize(
    ('bad', 'message'),
    [
        ({}, "needs either 'host_cluster' or 'host_node'"),
        ({'host_cluster': 'a', 'host_node': 'b'}, 'needs either'),
        (
            {'host_node': 'a', 'port': 0},
            'port: must be from 1 to 65535, not 0',
        ),
        ({'host_node': 'a', 'port': 65536}, 'must be from 1 to 65535'),
        ({'host_node': 'a', 'name': 'x' * 256}, 'at most 255 characters'),
        ({'host_node': 'a', 'image': None}, r'properties\.image is required'),
    ],
)
def test_spec_that_makes_no_container_is_refused(
    bad: dict[str, Any], message: str
) -> None:
    with pytest.raises(errors.InvalidSpec, match=message):
        REGISTRY.check_spec(spec(**bad))


def test_host_that_is_not_there_is_refused(world: fleet.World) -> None:
    engine = world.engine()
    for properties in ({'host_node': 'none'}, {'host_cluster': 'none'}):
        for request in (
            profiles.ProfileCreateRequest(name='x', spec=spec(**properties)),
            profiles.ProfileValidateRequest(spec=spec(**properties)),
        ):
            with pytest.raises(errors.InvalidSpec, match='could not be found'):
                engine.ask(request)
    assert world.rows(models.Profile) == []


def test_container_runs_on_a_server(any_world: fleet.World) -> None:
    engine = any_world.engine()
    host = asks.node(engine)
    boxes = profile(engine, host_node='n', port=4243)
    shown = container(engine, 'web', boxes)
    (row,) = any_world.rows(tables.Container)
    assert (shown.status, shown.physical_id) == ('ACTIVE', row.id)
    server = any_world.cloud.servers.find(host)
    assert server is not None
    address = server.details['addresses']['private'][0]['addr']
    assert hosts_of(any_world) == [f'tcp://{address}:4243']
    assert row.name == f'web-{shown.id[:8]}'
    assert asks.show_node(engine, host).dependents == {
        'profiles': [boxes],
        'nodes': [shown.id],
    }

    with pytest.raises(errors.ResourceInUse, match=shown.id):
        engine.ask(nodes.NodeDeleteRequest(identity=host))
    engine.ask(nodes.NodeDeleteRequest(identity=shown.id))
    engine.work()
    assert any_world.rows(tables.Container) == []
    assert asks.show_node(engine, host).dependents == {'profiles': [boxes]}
    engine.ask(profiles.ProfileDeleteRequest(identity=boxes))
    assert asks.show_node(engine, host).dependents == {}
    any_world.assert_at_rest()


def test_container_runs_on_a_stack_with_an_address(
    world: fleet.World,
) -> None:
    engine = world.engine()
    heat.stack_node(engine)
    shown = container(engine, 'web', profile(engine, host_node='n'))
    assert shown.status == 'ACTIVE', shown.status_reason
    assert hosts_of(world) == ['tcp://192.0.2.7:2375']


def test_container_of_a_node_with_a_long_name_has_a_shorter_one(
    world: fleet.World,
) -> None:
    engine = world.engine()
    host = asks.node(engine)
    made = container(engine, 'n' * 255, profile(engine, host_node=host))
    (row,) = world.rows(tables.Container)
    assert (len(row.name), row.name[246:]) == (255, f'-{made.id[:8]}')


def test_host_without_an_address_says_so(world: fleet.World) -> None:
    engine = world.engine()
    heat.stack_node(engine, template={'x': 1})
    shown = container(engine, 'web', profile(engine, host_node='n'))
    assert shown.status == 'ERROR'
    assert 'has no address' in shown.status_reason


def test_containers_are_spread_over_the_host_cluster(
    world: fleet.World,
) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 2)
    boxes = profile(engine, host_cluster='c')
    for name in 'abcd':
        assert container(engine, name, boxes).status == 'ACTIVE'
    hosts = hosts_of(world)
    assert hosts[0] == hosts[1] != hosts[2] == hosts[3]
    dependents = asks.show_cluster(engine, cluster).dependents
    assert dependents == {'profiles': [boxes]}
    with pytest.raises(errors.ResourceInUse, match=boxes):
        engine.ask(clusters.ClusterDeleteRequest(identity=cluster))


def test_profile_that_is_gone_holds_its_cluster_no_more(
    world: fleet.World,
) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 1)
    profile(engine, host_cluster='c')
    engine.ask(clusters.ClusterUpdateRequest(identity='c', name='renamed'))
    engine.work()
    engine.ask(profiles.ProfileDeleteRequest(identity='box'))
    engine.ask(clusters.ClusterDeleteRequest(identity=cluster))
    engine.work()
    assert world.rows(models.Cluster) == []


def test_empty_host_cluster_is_an_error_of_the_node(
    world: fleet.World,
) -> None:
    engine = world.engine()
    asks.cluster(engine, 0)
    shown = container(engine, 'web', profile(engine, host_cluster='c'))
    assert shown.status == 'ERROR'
    assert 'has no node that is ACTIVE' in shown.status_reason
    world.assert_at_rest()


def test_container_whose_host_is_gone_moves_when_recovered(
    world: fleet.World,
) -> None:
    engine = world.engine()
    asks.cluster(engine, 2)
    shown = container(engine, 'web', profile(engine, host_cluster='c'))
    (before,) = hosts_of(world)
    host = world.row(models.Node, shown.id).data['host']['node']
    world.cloud.servers.delete(asks.show_node(engine, host).physical_id)
    for request in (
        nodes.NodeCheckRequest(identity=host),
        nodes.NodeCheckRequest(identity=shown.id),
    ):
        engine.ask(request)
        engine.work()
    checked = asks.show_node(engine, shown.id)
    assert checked.status == 'ERROR'
    assert 'has no host' in checked.status_reason

    engine.ask(nodes.NodeRecoverRequest(identity=shown.id))
    engine.work()
    assert asks.show_node(engine, shown.id).status == 'ACTIVE'
    assert hosts_of(world) != [before]
    assert asks.show_node(engine, host).dependents == {}


def test_operations_and_a_new_name(world: fleet.World) -> None:
    engine = world.engine()
    asks.node(engine)
    box = container(engine, 'web', profile(engine, host_node='n')).id

    def after(request: Any) -> str:
        engine.ask(request)
        engine.work()
        (row,) = world.rows(tables.Container)
        return f'{row.name} {row.status}'

    def operate(name: str) -> str:
        return after(nodes.NodeOperationRequest(identity=box, operation=name))

    name = f'web-{box[:8]}'
    assert operate('pause') == f'{name} paused'
    assert operate('unpause') == f'{name} running'
    assert operate('restart') == f'{name} running'
    for seconds, says in ((3601, 'at most 3600'), (-1, 'at least 0')):
        request = nodes.NodeOperationRequest(
            identity=box, operation='restart', params={'wait_time': seconds}
        )
        with pytest.raises(
            errors.BadRequest, match=rf'^params\.wait_time: must be {says}'
        ):
            engine.ask(request)
    profile(engine, 'named', host_node='n', name='other')
    request = nodes.NodeUpdateRequest(identity=box, profile_id='named')
    assert after(request) == 'other running'
    profile(engine, 'image', host_node='n', image='apache')
    request = nodes.NodeUpdateRequest(identity=box, profile_id='image')
    assert after(request) == 'other running'
    assert 'image of a container' in asks.show_node(engine, box).status_reason
