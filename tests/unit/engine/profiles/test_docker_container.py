# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from engine.profiles import base, docker_container
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.profiles import test_heat_stack as heat
from vobjects.clustering import errors
from vobjects.clustering.requests import clusters, nodes, profiles
from vobjects_simulated import tables

REGISTRY = base.Registry(
    {'container.dockerinc.docker-1.0': docker_container.DockerContainer()}
)


def spec(**properties: Any) -> dict[str, Any]:
    return {
        'type': 'container.dockerinc.docker',
        'version': '1.0',
        'properties': {'image': 'nginx', **properties},
    }


def profile(engine: Engine, name: str = 'box', /, **properties: Any) -> str:
    return request_helpers.create_profile(
        engine, name, spec=spec(**properties)
    )


def container(engine: Engine, name: str, profile_id: str) -> Any:
    node = request_helpers.create_node(
        engine, name=name, profile_id=profile_id
    )
    return request_helpers.get_node(engine, node)


def hosts_of(harness: Harness) -> list[str]:
    rows = harness.rows(tables.SimulatedContainer)
    return sorted(row.properties['host'] for row in rows)


@pytest.mark.parametrize(
    ('bad', 'message'),
    [
        ({}, "needs either 'host_cluster' or 'host_node'"),
        ({'host_cluster': 'a', 'host_node': 'b'}, 'needs either'),
        (
            {'host_node': 'a', 'port': 0},
            'port: must be at least 1, not 0',
        ),
        ({'host_node': 'a', 'port': 65536}, 'port: must be at most 65535'),
        ({'host_node': 'a', 'name': 'x' * 256}, 'at most 255 characters'),
        ({'host_node': 'a', 'image': None}, r'properties\.image is required'),
        ({'host_node': 'a', 'name': 'x y'}, r'name: must be two or more'),
        ({'host_node': 'a', 'command': 'sh -c "x'}, 'No closing quotation'),
    ],
)
def test_invalid_spec_is_rejected(bad: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.InvalidSpec, match=message):
        REGISTRY.check_spec(spec(**bad))


def test_unknown_host_is_rejected(harness: Harness, engine: Engine) -> None:
    for properties in ({'host_node': 'none'}, {'host_cluster': 'none'}):
        for request in (
            profiles.ProfileCreateRequest(name='x', spec=spec(**properties)),
            profiles.ProfileValidateRequest(spec=spec(**properties)),
        ):
            with pytest.raises(errors.InvalidSpec, match='could not be found'):
                engine.call(request)
    assert harness.rows(models.Profile) == []


def test_container_runs_on_a_server(any_harness: Harness) -> None:
    engine = any_harness.engine()
    host = request_helpers.create_node(engine)
    boxes = profile(engine, host_node='n', port=4243)
    shown = container(engine, 'web', boxes)
    (row,) = any_harness.rows(tables.SimulatedContainer)
    assert (shown.status, shown.physical_id) == ('ACTIVE', row.id)
    server = any_harness.cloud.servers.find(host)
    assert server is not None
    address = server.details['addresses']['private'][0]['addr']
    assert hosts_of(any_harness) == [f'tcp://{address}:4243']
    assert row.name == f'web-{shown.id[:8]}'
    assert request_helpers.get_node(engine, host).dependents == {
        'profiles': [boxes],
        'nodes': [shown.id],
    }

    with pytest.raises(errors.ResourceInUse, match=shown.id):
        engine.call(nodes.NodeDeleteRequest(identity=host))
    engine.run(nodes.NodeDeleteRequest(identity=shown.id))
    assert any_harness.rows(tables.SimulatedContainer) == []
    assert request_helpers.get_node(engine, host).dependents == {
        'profiles': [boxes]
    }
    engine.call(profiles.ProfileDeleteRequest(identity=boxes))
    assert request_helpers.get_node(engine, host).dependents == {}
    any_harness.assert_idle()


def test_container_runs_on_a_stack_with_an_address(
    harness: Harness, engine: Engine
) -> None:
    heat.stack_node(engine)
    shown = container(engine, 'web', profile(engine, host_node='n'))
    assert shown.status == 'ACTIVE', shown.status_reason
    assert hosts_of(harness) == ['tcp://192.0.2.7:2375']


def test_container_of_a_node_with_a_long_name_has_a_shorter_one(
    harness: Harness, engine: Engine
) -> None:
    host = request_helpers.create_node(engine)
    node_row = container(engine, 'n' * 255, profile(engine, host_node=host))
    (row,) = harness.rows(tables.SimulatedContainer)
    assert (len(row.name), row.name[246:]) == (255, f'-{node_row.id[:8]}')


@pytest.mark.parametrize(
    ('name', 'start'),
    [
        ('x~1', 'x_1-'),
        ('.x', 'nx-'),
        ('_', 'n-'),
        ('..', 'n.-'),
        ('-rf', 'nrf-'),
    ],
)
def test_container_has_a_name_that_docker_accepts(
    harness: Harness, engine: Engine, name: str, start: str
) -> None:
    host = request_helpers.create_node(engine)
    container(engine, name, profile(engine, host_node=host))
    (row,) = harness.rows(tables.SimulatedContainer)
    assert row.name[:-8] == start


def test_host_without_an_address_is_an_error(engine: Engine) -> None:
    heat.stack_node(engine, template={'x': 1})
    shown = container(engine, 'web', profile(engine, host_node='n'))
    assert shown.status == 'ERROR'
    assert 'has no address' in shown.status_reason


def test_containers_are_spread_over_the_host_cluster(
    harness: Harness, engine: Engine
) -> None:
    cluster = request_helpers.create_cluster(engine, 2)
    boxes = profile(engine, host_cluster='c')
    for name in 'abcd':
        assert container(engine, name, boxes).status == 'ACTIVE'
    hosts = hosts_of(harness)
    assert hosts[0] == hosts[1] != hosts[2] == hosts[3]
    dependents = request_helpers.get_cluster(engine, cluster).dependents
    assert dependents == {'profiles': [boxes]}
    with pytest.raises(errors.ResourceInUse, match=boxes):
        engine.call(clusters.ClusterDeleteRequest(identity=cluster))


def test_deleted_profile_does_not_block_its_host_cluster(
    harness: Harness, engine: Engine
) -> None:
    cluster = request_helpers.create_cluster(engine, 1)
    profile(engine, host_cluster='c')
    engine.run(clusters.ClusterUpdateRequest(identity='c', name='renamed'))
    engine.call(profiles.ProfileDeleteRequest(identity='box'))
    engine.run(clusters.ClusterDeleteRequest(identity=cluster))
    assert harness.rows(models.Cluster) == []


def test_empty_host_cluster_is_an_error_of_the_node(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 0)
    shown = container(engine, 'web', profile(engine, host_cluster='c'))
    assert shown.status == 'ERROR'
    assert 'has no node that is ACTIVE' in shown.status_reason
    harness.assert_idle()


def test_container_when_its_host_is_lost_moves_on_recovery(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 2)
    shown = container(engine, 'web', profile(engine, host_cluster='c'))
    (before,) = hosts_of(harness)
    host = harness.row(models.Node, shown.id).data['host']['node']
    harness.cloud.servers.delete(
        request_helpers.get_node(engine, host).physical_id
    )
    for request in (
        nodes.NodeCheckRequest(identity=host),
        nodes.NodeCheckRequest(identity=shown.id),
    ):
        engine.run(request)
    checked = request_helpers.get_node(engine, shown.id)
    assert checked.status == 'ERROR'
    assert 'has no host' in checked.status_reason

    engine.run(nodes.NodeRecoverRequest(identity=shown.id))
    assert request_helpers.get_node(engine, shown.id).status == 'ACTIVE'
    assert hosts_of(harness) != [before]
    assert request_helpers.get_node(engine, host).dependents == {}


def test_operations_and_a_new_name(harness: Harness) -> None:
    engine = harness.engine()
    request_helpers.create_node(engine)
    box = container(engine, 'web', profile(engine, host_node='n')).id

    def after(request: Any) -> str:
        engine.run(request)
        (row,) = harness.rows(tables.SimulatedContainer)
        return f'{row.name} {row.status}'

    def operate(name: str) -> str:
        return after(nodes.NodeOperationRequest(identity=box, operation=name))

    name = f'web-{box[:8]}'
    assert operate('pause') == f'{name} paused'
    assert operate('unpause') == f'{name} running'
    assert operate('restart') == f'{name} running'
    for seconds, message in ((3601, 'at most 3600'), (-1, 'at least 0')):
        request = nodes.NodeOperationRequest(
            identity=box, operation='restart', params={'wait_time': seconds}
        )
        with pytest.raises(
            errors.BadRequest, match=rf'^params\.wait_time: must be {message}'
        ):
            engine.call(request)
    profile(engine, 'named', host_node='n', name='other')
    request = nodes.NodeUpdateRequest(identity=box, profile_id='named')
    assert after(request) == 'other running'
    profile(engine, 'image', host_node='n', image='apache')
    request = nodes.NodeUpdateRequest(identity=box, profile_id='image')
    assert after(request) == 'other running'
    assert (
        'image of a container'
        in request_helpers.get_node(engine, box).status_reason
    )
