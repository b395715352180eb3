# SPDX-License-Identifier: Apache-2.0
"""A cloud that answers nonsense, late or not at all.

Whatever it answers, each action ends, and its resources are known or gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.functional.deployments import Deployment
from tests.functional.processes import wait_for
from tests.real_cloud import clustering, second_region
from tests.real_cloud.cloud import Cloud
from tests.real_cloud.clustering import Client
from tests.real_cloud.second_region import Fault, Region
from tests.real_cloud.tenants import PRIVATE, PUBLIC, Tenant
from tests.real_cloud.test_load_balancing import properties
from tests.real_cloud.test_stacks import SERVER, stack_profile

#: The service logs the exception for content that it does not understand, each
#: line with this prefix.
ALLOWED_ERRORS = r'ERROR engine\.providers\.openstack\.sdk_errors '

NETWORKS = [{'network': PRIVATE, 'floating_network': PUBLIC}]

#: Requests that create something.
SERVER_REQUEST = 'POST /v2.1/servers'
PORT_REQUEST = 'POST /v2.0/ports'
ADDRESS_REQUEST = 'POST /v2.0/floatingips'


@pytest.fixture(scope='module')
def region(cloud: Cloud, admin: Any) -> Iterator[Region]:
    """The region of the service."""
    with second_region.running(cloud.settings, admin) as running:
        yield running


@pytest.fixture(scope='module')
def service(
    cloud: Cloud, region: Region, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """The service in the second region, which waits only briefly."""
    with clustering.deployed(
        cloud.settings,
        tmp_path_factory.mktemp('service'),
        allowed_errors=ALLOWED_ERRORS,
        changes={
            'provider_openstack': {
                'region_name': second_region.NAME,
                'request_timeout': second_region.REQUEST_TIMEOUT,
                'retries': 1,
            }
        },
    ) as deployment:
        yield deployment


@pytest.fixture(autouse=True)
def _no_fault(region: Region) -> Iterator[None]:
    region.restore()
    yield
    region.restore()


#: Kind of a fault -> requests that it disturbs.
CREATIONS = [
    *(
        (kind, SERVER_REQUEST)
        for kind in ('refused', 'lost', 'silent', 'error', 'garbage', 'empty')
    ),
    *(
        (kind, request)
        for kind in ('lost', 'empty')
        for request in (PORT_REQUEST, ADDRESS_REQUEST)
    ),
]


@pytest.mark.parametrize(('kind', 'requests'), CREATIONS)
def test_creation_that_is_disturbed_leaves_nothing(
    rest: Client, tenant: Tenant, region: Region, kind: str, requests: str
) -> None:
    region.disturb(Fault(kind, requests))
    cluster, action = rest.start_cluster(
        rest.server_profile(networks=NETWORKS), 1
    )
    ended = rest.wait_for_end(action)
    region.restore()
    if ended['status'] == 'SUCCEEDED':
        # The server was found without a response, or nothing in the response
        # is needed.
        assert (requests, kind) in (
            (SERVER_REQUEST, 'lost'),
            (SERVER_REQUEST, 'silent'),
            (ADDRESS_REQUEST, 'empty'),
        )
    else:
        assert 'could not create the' in ended['status_reason']
        for word in ('internal error', 'http://', 'Traceback', '<html>'):
            assert word not in ended['status_reason']
        assert tenant.leftovers() == {}
        rest.run(cluster, 'recover')
    assert set(tenant.servers()) == set(rest.physical_ids(cluster))
    assert len(tenant.servers()) == 1
    assert len(tenant.ports()) == len(tenant.floating_ips()) == 1
    rest.remove(cluster)
    assert tenant.leftovers() == {}


@pytest.mark.parametrize('kind', ['refused', 'error', 'garbage', 'empty'])
def test_servers_whose_state_is_unknown_are_kept(
    rest: Client, tenant: Tenant, region: Region, kind: str
) -> None:
    cluster = rest.create_cluster(rest.server_profile(), 2)
    before = rest.physical_ids(cluster)
    region.disturb(Fault(kind, 'GET /v2.1/servers/'))
    rest.fail(cluster, 'check')
    action = rest.fail(cluster, 'recover', check=True)
    assert 'could not show server' in action['status_reason']
    assert 'internal error' not in action['status_reason']
    region.restore()
    rest.run(cluster, 'recover', check=True)
    assert rest.get(f'/v1/clusters/{cluster}')['status'] == 'ACTIVE'
    assert rest.physical_ids(cluster) == before
    assert set(tenant.servers()) == set(before)
    rest.remove(cluster)
    assert tenant.leftovers() == {}


@pytest.mark.parametrize('kind', ['refused', 'lost', 'error'])
def test_deletion_that_is_disturbed_can_be_repeated(
    rest: Client, tenant: Tenant, region: Region, kind: str
) -> None:
    cluster = rest.create_cluster(rest.server_profile(networks=NETWORKS), 2)
    region.disturb(Fault(kind, 'DELETE '))
    action = rest.wait_for_end(rest.delete(f'/v1/clusters/{cluster}'))
    assert 'internal error' not in action['status_reason']
    region.restore()
    if action['status'] == 'FAILED':
        rest.remove(cluster)
    rest.assert_missing(f'/v1/clusters/{cluster}')
    assert tenant.leftovers() == {}


@pytest.mark.parametrize(
    ('kind', 'resource'),
    [
        ('lost', 'loadbalancers'),
        ('empty', 'loadbalancers'),
        ('error', 'listeners'),
        ('garbage', 'pools'),
    ],
)
def test_load_balancer_that_is_disturbed_leaves_nothing(
    rest: Client, tenant: Tenant, region: Region, kind: str, resource: str
) -> None:
    cluster = rest.create_cluster(rest.server_profile(), 1)
    policy = rest.policy('loadbalance', '1.3', **properties(tenant))
    region.disturb(Fault(kind, f'POST /v2.*/{resource}$'))
    action = rest.wait_for_end(
        rest.start_action(cluster, 'policy_attach', policy_id=policy)
    )
    assert 'internal error' not in action['status_reason']
    region.restore()
    if action['status'] == 'FAILED':
        wait_for('the load balancer is gone', lambda: not tenant.balancers())
        rest.run(cluster, 'policy_attach', policy_id=policy)
    assert len(tenant.balancers()) == 1
    rest.remove(cluster)
    assert tenant.leftovers() == {}


@pytest.mark.parametrize('kind', ['lost', 'error', 'garbage'])
def test_stack_that_is_disturbed_leaves_nothing(
    rest: Client, tenant: Tenant, region: Region, kind: str
) -> None:
    region.disturb(Fault(kind, 'POST /v1/.*/stacks$'))
    cluster, action = rest.start_cluster(
        stack_profile(rest, 8, server=SERVER), 1
    )
    ended = rest.wait_for_end(action)
    assert 'internal error' not in ended['status_reason']
    region.restore()
    rest.run(cluster, 'recover')
    assert set(tenant.stacks()) == set(rest.physical_ids(cluster))
    rest.remove(cluster)
    assert tenant.leftovers() == {}
