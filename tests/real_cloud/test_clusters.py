# SPDX-License-Identifier: Apache-2.0
"""Clusters of servers: sizes, failures, recovery, placement and quotas."""

from __future__ import annotations

import collections

import pytest

from tests.functional.processes import wait_for
from tests.real_cloud.clustering import Client
from tests.real_cloud.services import ZONES
from tests.real_cloud.tenants import PRIVATE, PUBLIC, Tenant


def zones(tenant: Tenant) -> dict[str, int]:
    """Return the number of servers in each zone."""
    return collections.Counter(
        server.availability_zone for server in tenant.servers().values()
    )


@pytest.mark.parametrize('most', [pytest.param(8, marks=pytest.mark.core), 30])
def test_cluster_is_resized_and_checked(
    rest: Client, tenant: Tenant, most: int
) -> None:
    cluster = rest.create_cluster(rest.server_profile(), 2)
    for size in (most, 3):
        rest.run(
            cluster,
            'resize',
            adjustment_type='EXACT_CAPACITY',
            number=size,
        )
        assert set(rest.physical_ids(cluster)) == set(tenant.servers())
        assert len(tenant.servers()) == len(tenant.ports()) == size
    rest.run(cluster, 'scale_in', count=2)
    rest.run(cluster, 'check')
    (node,) = rest.nodes(cluster)
    assert node['status'] == 'ACTIVE'
    assert list(tenant.servers()) == [node['physical_id']]
    rest.remove(cluster)
    assert tenant.leftovers() == {}


def lose(tenant: Tenant, server: str) -> None:
    """Delete a server without the service."""
    tenant.client.compute.delete_server(server)
    wait_for('the server is gone', lambda: server not in tenant.servers())


def stop(tenant: Tenant, server: str) -> None:
    """Stop a server without the service."""
    tenant.client.compute.stop_server(server)
    tenant.wait_for_status(server, 'SHUTOFF')


def break_(tenant: Tenant, server: str) -> None:
    """Set a server to ERROR."""
    tenant.admin.compute.reset_server_state(server, 'error')


def shelve(tenant: Tenant, server: str) -> None:
    """Shelve a server without the service."""
    tenant.client.compute.shelve_server(server)
    tenant.wait_for_status(server, 'SHELVED_OFFLOADED')


#: Operation -> whether the server stays the same -> damages and reasons.
RECOVERIES = {
    'REBOOT': (True, {stop: 'is SHUTOFF', break_: 'is ERROR'}),
    'REBUILD': (True, {stop: 'is SHUTOFF', break_: 'is ERROR'}),
    'RECREATE': (
        False,
        {
            lose: 'is gone',
            stop: 'is SHUTOFF',
            break_: 'is ERROR',
            shelve: 'is SHELVED_OFFLOADED',
        },
    ),
}


@pytest.mark.parametrize(
    'operation',
    ['REBOOT', 'REBUILD', 'RECREATE'],
)
def test_damaged_servers_are_found_and_recovered(
    rest: Client, tenant: Tenant, operation: str
) -> None:
    is_same, damages = RECOVERIES[operation]
    size = len(damages) + 1
    networks = [{'network': PRIVATE, 'floating_network': PUBLIC}]
    cluster = rest.create_cluster(rest.server_profile(networks=networks), size)
    before = rest.physical_ids(cluster)
    for damage, server in zip(damages, before, strict=False):
        damage(tenant, server)
    rest.run(cluster, 'check')
    assert rest.get(f'/v1/clusters/{cluster}')['status'] != 'ACTIVE'
    *damaged, well = rest.nodes(cluster)
    assert well['status'] == 'ACTIVE'
    for node, reason in zip(damaged, damages.values(), strict=True):
        assert node['status'] == 'ERROR'
        assert reason in node['status_reason']

    rest.run(cluster, 'recover', operation=operation)
    after = rest.physical_ids(cluster)
    assert after[-1] == before[-1]
    pairs = zip(before[:-1], after[:-1], strict=True)
    assert {old == new for old, new in pairs} == {is_same}
    servers = tenant.servers()
    assert set(servers) == set(after)
    assert {server.status for server in servers.values()} == {'ACTIVE'}
    assert len(tenant.ports()) == len(tenant.floating_ips()) == size
    assert rest.get(f'/v1/clusters/{cluster}')['status'] == 'ACTIVE'
    rest.remove(cluster)
    assert tenant.leftovers() == {}


def test_zones_are_used_by_weight(rest: Client, tenant: Tenant) -> None:
    cluster = rest.create_cluster(rest.server_profile(), 0)
    heavy, light = ZONES
    rest.attach(
        cluster,
        'zone_placement',
        '1.0',
        zones=[
            {'name': heavy, 'weight': 200},
            {'name': light, 'weight': 100},
        ],
    )
    rest.run(cluster, 'scale_out', count=3)
    assert zones(tenant) == {heavy: 2, light: 1}
    rest.run(cluster, 'scale_in', count=1)
    assert zones(tenant) == {heavy: 2}
    rest.remove(cluster)
    assert tenant.leftovers() == {}


def test_server_group_keeps_servers_apart(
    rest: Client, tenant: Tenant
) -> None:
    cluster = rest.create_cluster(rest.server_profile(), 0)
    policy = rest.attach(
        cluster, 'affinity', '1.0', servergroup={'policies': 'anti-affinity'}
    )
    (group,) = tenant.server_groups()
    # One after another: Nova may choose the same host for two servers that are
    # created at the same time, and then fails one of them.
    for _ in ZONES:
        rest.run(cluster, 'scale_out')
    assert set(zones(tenant)) == set(ZONES)
    members = tenant.client.compute.get_server_group(group).member_ids
    assert set(members) == set(tenant.servers())
    # There is no third host.
    action = rest.fail(cluster, 'scale_out')
    assert 'No valid host' in action['status_reason']
    assert len(tenant.servers()) == len(tenant.ports()) == 2
    (failed,) = (n for n in rest.nodes(cluster) if n['status'] == 'ERROR')
    rest.run(
        cluster, 'del_nodes', nodes=[failed['id']], destroy_after_deletion=True
    )
    rest.run(cluster, 'policy_detach', policy_id=policy)
    assert tenant.server_groups() == []
    rest.remove(cluster)
    assert tenant.leftovers() == {}


@pytest.mark.core
def test_exceeded_quota_of_nova_fails_with_its_message(
    rest: Client, tenant: Tenant
) -> None:
    cluster = rest.create_cluster(rest.server_profile(), 1)
    tenant.admin.compute.update_quota_set(tenant.project_id, instances=1)
    try:
        action = rest.fail(cluster, 'scale_out', count=2)
        assert '403: Quota exceeded for instances' in action['status_reason']
        assert len(tenant.servers()) == len(tenant.ports()) == 1
        statuses = [node['status'] for node in rest.nodes(cluster)]
        assert statuses == ['ACTIVE', 'ERROR', 'ERROR']
    finally:
        tenant.admin.compute.update_quota_set(tenant.project_id, instances=100)
    rest.run(cluster, 'recover')
    assert len(tenant.servers()) == 3
    rest.remove(cluster)
    assert tenant.leftovers() == {}


@pytest.mark.parametrize('quota', ['ports', 'floating_ips'])
def test_exceeded_quota_of_neutron_fails_with_its_message(
    rest: Client, tenant: Tenant, quota: str
) -> None:
    networks = [{'network': PRIVATE, 'floating_network': PUBLIC}]
    cluster = rest.create_cluster(rest.server_profile(networks=networks), 1)
    network = tenant.admin.network
    # The project's router has a port, too.
    count = {
        'ports': len(list(network.ports(project_id=tenant.project_id))),
        'floating_ips': 1,
    }[quota]
    network.update_quota(tenant.project_id, **{quota: count})
    try:
        action = rest.fail(cluster, 'scale_out', count=2)
        assert '409: Quota exceeded' in action['status_reason']
        assert len(tenant.servers()) == len(tenant.ports()) == 1
        rest.remove(cluster)
    finally:
        network.delete_quota(tenant.project_id)
    assert tenant.leftovers() == {}
