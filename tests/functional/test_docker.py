# SPDX-License-Identifier: Apache-2.0
"""Containers on a real Docker daemon."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from tests import cloud as fake
from tests.functional import deployments
from tests.functional.docker_daemon import IMAGE, Daemon
from tests.functional.processes import wait_for
from tests.functional.rest import RestClient, unique

pytestmark = [
    pytest.mark.docker,
    pytest.mark.usefixtures('clean_daemon'),
]

PLATFORM = deployments.Platform('embedded', 'sqlite')


@dataclasses.dataclass
class Service:
    """A service with a node that hosts containers on the daemon."""

    rest: RestClient
    host: str
    port: int

    def profile(self, **properties: Any) -> str:
        spec = {
            'type': 'container.dockerinc.docker',
            'version': '1.0',
            'properties': {
                'image': IMAGE,
                'port': self.port,
                'host_node': self.host,
                **properties,
            },
        }
        return self.rest.create_profile(spec)


@pytest.fixture(scope='module')
def service(
    daemon: Daemon, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp('docker')
    with fake.serving() as cloud:
        settings = {
            'engine': {'provider': 'openstack'},
            'provider_openstack': {
                **fake.credentials(cloud),
                'region_name': 'RegionOne',
                'poll_interval': 0.1,
                'retry_delay': 0.1,
            },
            'provider_docker': {
                'forbidden_networks': '',
                **daemon.tls_options(),
            },
        }
        with deployments.deployed(PLATFORM, directory, settings) as deployment:
            deployment.start_engines(1)
            deployment.start_api()
            with deployment.rest() as rest:
                yield Service(rest, _host(rest), daemon.port)


def _host(rest: RestClient) -> str:
    """Create a node with the address of the daemon, and return its ID."""
    template = {
        'heat_template_version': '2018-08-31',
        'outputs': {'fixed_ip': {'value': '127.0.0.1'}},
    }
    spec = {
        'type': 'os.heat.stack',
        'version': '1.0',
        'properties': {'template': template},
    }
    body = {
        'node': {
            'name': unique('host'),
            'profile_id': rest.create_profile(spec),
        }
    }
    response = rest.expect(202, 'POST', '/v1/nodes', body)
    rest.wait_for_success(response.headers['Location'].rpartition('/')[2])
    return str(response.json()['node']['id'])


def test_lost_containers_of_a_cluster_are_recovered(
    service: Service, daemon: Daemon
) -> None:
    cluster = service.rest.create_cluster(service.profile(), 3)
    nodes = service.rest.nodes(cluster)
    ids = [node['physical_id'] for node in nodes]
    assert {box['Id'] for box in daemon.containers()} == set(ids)
    daemon.remove(ids[0])
    daemon.client.kill(ids[1])
    service.rest.run(cluster, 'check')
    first, second, third = service.rest.nodes(cluster)
    assert (first['status'], second['status']) == ('ERROR', 'ERROR')
    assert f'container {ids[0]} is gone' in first['status_reason']
    assert f'container {ids[1]} is exited' in second['status_reason']
    assert third['status'] == 'ACTIVE'
    service.rest.run(cluster, 'recover')
    assert [node['status'] for node in service.rest.nodes(cluster)] == (
        ['ACTIVE'] * 3
    )
    assert daemon.statuses() == ['running'] * 3
    shown = service.rest.get(f'/v1/nodes/{third["id"]}?show_details=true')
    assert shown['details']['image'] == IMAGE
    service.rest.remove(cluster)


def test_cluster_survives_a_restart_of_its_daemon(
    service: Service, daemon: Daemon
) -> None:
    cluster = service.rest.create_cluster(service.profile(), 2)
    daemon.stop()
    check = service.rest.wait_for_end(
        service.rest.start_action(cluster, 'check')
    )
    assert check['status'] == 'FAILED'
    assert (
        'the Docker daemon of its host does not answer: Connection refused'
    ) in check['status_reason']
    daemon.start()
    service.rest.run(cluster, 'check')
    for node in service.rest.nodes(cluster):
        assert 'is exited' in node['status_reason']
    before = {node['physical_id'] for node in service.rest.nodes(cluster)}
    service.rest.run(cluster, 'recover', operation='REBOOT', check=False)
    after = {node['physical_id'] for node in service.rest.nodes(cluster)}
    assert before == after
    assert daemon.statuses() == ['running'] * 2
    service.rest.remove(cluster)


@pytest.mark.parametrize(
    'way', [pytest.param('stop', marks=pytest.mark.long), 'kill']
)
def test_daemon_that_is_lost_in_the_middle_of_an_action(
    service: Service, daemon: Daemon, way: str
) -> None:
    size = 12
    cluster, action = service.rest.start_cluster(service.profile(), size)
    wait_for('some containers', lambda: len(daemon.client.containers()) > 1)
    getattr(daemon, way)()
    ended = service.rest.wait_for_end(action)
    assert ended['status'] == 'FAILED'
    assert 'internal error' not in ended['status_reason']
    daemon.start()
    if way == 'kill':
        # The daemon has lost the container of a volume that it had created.
        daemon.client.prune_volumes()
    service.rest.run(cluster, 'check')
    service.rest.run(cluster, 'recover')
    nodes = service.rest.nodes(cluster)
    assert [node['status'] for node in nodes] == ['ACTIVE'] * size
    assert daemon.statuses() == ['running'] * size
    assert {box['Id'] for box in daemon.containers()} == {
        node['physical_id'] for node in nodes
    }
    service.rest.remove(cluster)


def test_failed_containers_are_deleted_with_their_cluster(
    service: Service, daemon: Daemon
) -> None:
    profile = service.profile(command='none')
    cluster, action = service.rest.start_cluster(profile, 2)
    assert service.rest.wait_for_end(action)['status'] == 'FAILED'
    for node in service.rest.nodes(cluster):
        assert node['status'] == 'ERROR'
        assert 'executable file not found' in node['status_reason']
    assert daemon.statuses() == ['created'] * 2
    service.rest.remove(cluster)
