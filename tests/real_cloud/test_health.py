# SPDX-License-Identifier: Apache-2.0
"""Health policies: polling, hypervisors and Nova's notifications."""

from __future__ import annotations

import pytest

from tests.functional.deployments import Deployment
from tests.functional.processes import wait_for
from tests.real_cloud.clustering import Client
from tests.real_cloud.tenants import Tenant


def monitored(rest: Client, mode: str, operation: str) -> str:
    """Return a cluster of 2 with a health policy."""
    cluster = rest.create_cluster(rest.server_profile(), 2)
    rest.attach(
        cluster,
        'health',
        '1.1',
        detection={
            # Notifications must be what finds the failure.
            'interval': 3600 if mode == 'LIFECYCLE_EVENTS' else 2,
            'node_update_timeout': 1,
            'detection_modes': [{'type': mode}],
        },
        recovery={'actions': [{'name': operation}]},
    )
    return cluster


def wait_until_recovered(rest: Client, cluster: str, node: str) -> None:
    def is_recovered() -> bool:
        actions = rest.get(f'/v1/actions?target={node}&action=NODE_RECOVER')
        has_succeeded = any(a['status'] == 'SUCCEEDED' for a in actions)
        status = rest.get(f'/v1/clusters/{cluster}')['status']
        return has_succeeded and status == 'ACTIVE'

    wait_for(f'node {node} was recovered', is_recovered)


def test_polling_recreates_a_lost_server(rest: Client, tenant: Tenant) -> None:
    cluster = monitored(rest, 'NODE_STATUS_POLLING', 'RECREATE')
    node, well = rest.nodes(cluster)
    tenant.client.compute.delete_server(node['physical_id'])
    wait_until_recovered(rest, cluster, node['id'])
    assert set(tenant.servers()) == set(rest.physical_ids(cluster))
    assert well['physical_id'] in tenant.servers()
    rest.remove(cluster)
    assert tenant.leftovers() == {}


@pytest.fixture
def listening(service: Deployment) -> None:
    """Wait until the engine receives notifications."""
    logs = [path for name, path in service.group.logs() if 'engine' in name]
    wait_for(
        'the engine listens',
        lambda: any('Listens to notif' in path.read_text() for path in logs),
    )


@pytest.mark.usefixtures('listening')
@pytest.mark.parametrize(
    ('damage', 'operation'),
    [
        pytest.param('delete', 'RECREATE', marks=pytest.mark.core),
        ('stop', 'REBOOT'),
    ],
)
def test_notification_of_nova_heals_the_cluster(
    rest: Client, tenant: Tenant, damage: str, operation: str
) -> None:
    cluster = monitored(rest, 'LIFECYCLE_EVENTS', operation)
    node, _well = rest.nodes(cluster)
    getattr(tenant.client.compute, f'{damage}_server')(node['physical_id'])
    wait_until_recovered(rest, cluster, node['id'])
    servers = tenant.servers()
    assert set(servers) == set(rest.physical_ids(cluster))
    assert {server.status for server in servers.values()} == {'ACTIVE'}
    is_same = node['physical_id'] in servers
    assert is_same == (operation == 'REBOOT')
    rest.remove(cluster)
    assert tenant.leftovers() == {}


@pytest.mark.exclusive
def test_disabled_hypervisor_is_left(rest: Client, tenant: Tenant) -> None:
    cluster = monitored(rest, 'HYPERVISOR_STATUS_POLLING', 'RECREATE')
    node, _well = rest.nodes(cluster)
    server = tenant.admin.compute.get_server(node['physical_id'])
    (service,) = tenant.admin.compute.services(
        binary='nova-compute', host=server.compute_host
    )
    tenant.admin.compute.disable_service(service)
    try:
        wait_until_recovered(rest, cluster, node['id'])
        moved = rest.get(f'/v1/nodes/{node["id"]}')['physical_id']
        host = tenant.admin.compute.get_server(moved).compute_host
        assert host != server.compute_host
    finally:
        tenant.admin.compute.enable_service(service)
    rest.remove(cluster)
    assert tenant.leftovers() == {}
