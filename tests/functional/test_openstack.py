# SPDX-License-Identifier: Apache-2.0
"""The OpenStack provider, with the cloud of :mod:`tests.cloud`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests import cloud as fake
from tests.cloud import docker
from tests.functional import deployments
from tests.functional.rest import RestClient, action_id_of, unique

KIND = deployments.Platform('embedded', 'sqlite')


@pytest.fixture(scope='module')
def cloud() -> Iterator[fake.Cloud]:
    with fake.serving() as served:
        yield served


@pytest.fixture(scope='module')
def rest(
    cloud: fake.Cloud, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RestClient]:
    """A client of a service whose nodes are in the cloud."""
    settings = {
        'engine': {'provider': 'openstack'},
        'provider_openstack': {
            **fake.credentials(cloud),
            'region_name': 'RegionOne',
            'poll_interval': 0.1,
            'retry_delay': 0.1,
        },
        # The Docker daemon is on this host.
        'provider_docker': {'forbidden_networks': ''},
    }
    directory = tmp_path_factory.mktemp('openstack')
    with deployments.deployed(KIND, directory, settings) as deployment:
        deployment.start_engines(2)
        deployment.start_api()
        with deployment.rest() as client:
            yield client
        assert deployment.locks() == []


def profile(rest: RestClient, type_: str, **properties: Any) -> str:
    spec = {'type': type_, 'version': '1.0', 'properties': properties}
    body = {'profile': {'name': unique('profile'), 'spec': spec}}
    response = rest.expect(201, 'POST', '/v1/profiles', body)
    return str(response.json()['profile']['id'])


def server_profile(rest: RestClient, flavor: str) -> str:
    networks = [{'network': 'private', 'floating_network': 'public'}]
    return profile(
        rest,
        'os.nova.server',
        flavor=flavor,
        image='cirros',
        networks=networks,
        metadata={'role': 'web'},
    )


def balancing_policy(rest: RestClient) -> str:
    spec = {
        'type': 'senlin.policy.loadbalance',
        'version': '1.3',
        'properties': {
            'pool': {'subnet': 'private-subnet'},
            'vip': {'subnet': 'private-subnet'},
            'health_monitor': {'type': 'PING'},
            'lb_status_timeout': 600,
        },
    }
    body = {'policy': {'name': unique('policy'), 'spec': spec}}
    response = rest.expect(201, 'POST', '/v1/policies', body)
    return str(response.json()['policy']['id'])


def update_profile(rest: RestClient, cluster: str, profile_id: str) -> None:
    body = {'cluster': {'profile_id': profile_id}}
    path = f'/v1/clusters/{cluster}'
    rest.wait_for_success(action_id_of(rest.expect(202, 'PATCH', path, body)))


def test_cluster_of_servers_lifecycle(
    rest: RestClient, cloud: fake.Cloud
) -> None:
    small, big = server_profile(rest, 'm1.small'), server_profile(rest, '2')
    cluster = rest.create_cluster(small, 3)
    path = f'/v1/clusters/{cluster}'
    nodes = rest.get(f'/v1/nodes?cluster_id={cluster}')
    assert {node['physical_id'] for node in nodes} == set(cloud.servers)
    for node in nodes:
        server = cloud.servers[node['physical_id']]
        assert server['status'] == 'ACTIVE'
        assert server['metadata'] == {
            'role': 'web',
            'cluster_id': cluster,
            'cluster_node_id': node['id'],
            'cluster_node_index': str(node['index']),
        }
    shown = rest.get(f'/v1/nodes/{nodes[0]["id"]}?show_details=true')
    assert list(shown['details']['addresses']) == ['private']
    assert len(cloud.ports) == len(cloud.floating_ips) == 3

    policy = balancing_policy(rest)
    rest.wait_for_success(
        rest.start_action(cluster, 'policy_attach', policy_id=policy)
    )
    rest.wait_for_success(
        rest.start_action(
            cluster, 'resize', adjustment_type='EXACT_CAPACITY', number=4
        )
    )
    assert len(cloud.servers) == len(cloud.ports) == 4
    members = cloud.balancing['members'].values()
    assert {member['address'] for member in members} == {
        port['fixed_ips'][0]['ip_address'] for port in cloud.ports.values()
    }
    rest.wait_for_success(
        rest.start_action(cluster, 'policy_detach', policy_id=policy)
    )
    assert not any(cloud.balancing.values())

    killed = nodes[1]['physical_id']
    with cloud.lock:
        del cloud.servers[killed]
    rest.wait_for_success(rest.start_action(cluster, 'check'))
    sick = rest.get(f'/v1/nodes/{nodes[1]["id"]}')
    assert sick['status'] == 'ERROR'
    assert f'server {killed} is gone' in sick['status_reason']
    rest.wait_for_success(rest.start_action(cluster, 'recover'))
    well = rest.get(f'/v1/nodes/{nodes[1]["id"]}')
    assert well['status'] == 'ACTIVE'
    assert well['physical_id'] in cloud.servers
    assert rest.get(path)['status'] == 'ACTIVE'
    assert len(cloud.servers) == len(cloud.ports) == 4

    update_profile(rest, cluster, big)
    assert {row['flavor_id'] for row in cloud.servers.values()} == {'2'}
    assert {row['status'] for row in cloud.servers.values()} == {'ACTIVE'}

    cloud.fail('POST', '/compute/v2.1/servers$', 403, 'Quota exceeded')
    action = rest.start_action(cluster, 'scale_out')
    assert rest.wait_for_end(action)['status'] == 'FAILED'
    failed = rest.get(f'/v1/nodes?cluster_id={cluster}&status=ERROR')
    assert len(failed) == 1
    assert '403: Quota exceeded' in failed[0]['status_reason']
    cloud.faults.clear()

    rest.wait_for_success(rest.delete(path))
    rest.assert_missing(path)
    assert cloud.leftovers() == {}


def test_cluster_of_stacks_lifecycle(
    rest: RestClient, cloud: fake.Cloud
) -> None:
    template = {
        'heat_template_version': '2018-08-31',
        'outputs': {'fixed_ip': {'value': '127.0.0.1'}},
    }

    def of_size(size: int) -> str:
        return profile(
            rest, 'os.heat.stack', template=template, parameters={'size': size}
        )

    cluster = rest.create_cluster(of_size(1), 2)
    path = f'/v1/clusters/{cluster}'
    nodes = rest.get(f'/v1/nodes?cluster_id={cluster}')
    assert {node['physical_id'] for node in nodes} == set(cloud.stacks)
    update_profile(rest, cluster, of_size(2))
    sizes = [stack['parameters'] for stack in cloud.stacks.values()]
    assert sizes == [{'size': 2}] * 2

    with cloud.lock:
        broken = cloud.stacks[nodes[0]['physical_id']]
        broken['template'] = {'fails': ['CHECK']}
        del cloud.stacks[nodes[1]['physical_id']]
    rest.wait_for_success(rest.start_action(cluster, 'check'))
    first, second = (rest.get(f'/v1/nodes/{node["id"]}') for node in nodes)
    assert 'CHECK_FAILED: Resource failed' in first['status_reason']
    assert 'is gone' in second['status_reason']
    rest.wait_for_success(rest.start_action(cluster, 'recover'))
    assert rest.get(path)['status'] == 'ACTIVE'
    assert len(cloud.stacks) == 2

    with docker.serving() as daemon:
        boxes = profile(
            rest,
            'container.dockerinc.docker',
            image='nginx',
            port=daemon.port,
            host_cluster=cluster,
        )
        containers = rest.create_cluster(boxes, 2)
        statuses = [
            container['State'] for container in daemon.containers.values()
        ]
        assert [state['Status'] for state in statuses] == ['running'] * 2
        hosts = [rest.get(f'/v1/nodes/{node["id"]}') for node in nodes]
        assert [len(host['dependents']['nodes']) for host in hosts] == [1, 1]
        rest.expect_error(409, 'DELETE', path)
        rest.wait_for_success(rest.delete(f'/v1/clusters/{containers}'))
        assert daemon.containers == {}
        rest.expect(204, 'DELETE', f'/v1/profiles/{boxes}')

    rest.wait_for_success(rest.delete(path))
    assert cloud.leftovers() == {}
