# SPDX-License-Identifier: Apache-2.0
"""Clusters behind Octavia's load balancers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.processes import wait_for
from tests.real_cloud.clustering import Client
from tests.real_cloud.tenants import Tenant

MONITOR = {'type': 'HTTP', 'delay': 10, 'timeout': 5, 'max_retries': 3}


def properties(tenant: Tenant, **changes: Any) -> dict[str, Any]:
    """Return the properties of a policy."""
    subnet = tenant.subnet
    return {
        'pool': {'protocol': 'HTTP', 'protocol_port': 80, 'subnet': subnet},
        'vip': {'subnet': subnet, 'protocol': 'HTTP', 'protocol_port': 80},
        'lb_status_timeout': 120,
        **changes,
    }


def addresses(tenant: Tenant) -> set[str]:
    """Return the fixed addresses of all servers."""
    return {
        address['addr']
        for server in tenant.servers().values()
        for address in server.addresses['private']
    }


def member_addresses(tenant: Tenant) -> set[str]:
    """Return the addresses of the members of the only pool."""
    (pool,) = tenant.client.load_balancer.pools()
    return {
        member.address
        for member in tenant.client.load_balancer.members(pool.id)
    }


@pytest.mark.parametrize(
    'monitor', [pytest.param(None, marks=pytest.mark.core), MONITOR]
)
def test_members_follow_the_cluster(
    rest: Client, tenant: Tenant, monitor: dict[str, Any] | None
) -> None:
    changes = {} if monitor is None else {'health_monitor': monitor}
    cluster = rest.create_cluster(rest.server_profile(), 2)
    policy = rest.attach(
        cluster, 'loadbalance', '1.3', **properties(tenant, **changes)
    )
    (balancer,) = tenant.balancers()
    assert balancer.provisioning_status == 'ACTIVE'
    monitors = list(tenant.client.load_balancer.health_monitors())
    assert len(monitors) == (monitor is not None)
    data = rest.get(f'/v1/clusters/{cluster}')['data']['loadbalancers']
    assert data[policy]['vip_address'] == balancer.vip_address
    assert member_addresses(tenant) == addresses(tenant)

    rest.run(cluster, 'scale_out', count=2)
    assert len(member_addresses(tenant)) == 4
    assert member_addresses(tenant) == addresses(tenant)
    rest.run(cluster, 'scale_in', count=3)
    assert len(member_addresses(tenant)) == 1
    assert member_addresses(tenant) == addresses(tenant)

    if monitor is None:
        rest.run(cluster, 'policy_detach', policy_id=policy)
        assert tenant.balancers() == []
        rest.remove(cluster)
    else:
        # Deleting the cluster also deletes the load balancer.
        rest.remove(cluster)
    assert tenant.leftovers() == {}


def test_member_of_a_deleted_server_is_replaced(
    rest: Client, tenant: Tenant
) -> None:
    cluster = rest.create_cluster(rest.server_profile(), 2)
    rest.attach(cluster, 'loadbalance', '1.3', **properties(tenant))
    lost = rest.physical_ids(cluster)[0]
    tenant.client.compute.delete_server(lost)
    wait_for('the server is gone', lambda: lost not in tenant.servers())
    rest.run(cluster, 'check')
    rest.run(cluster, 'recover', operation='RECREATE')
    assert len(addresses(tenant)) == 2
    assert member_addresses(tenant) == addresses(tenant)
    rest.remove(cluster)
    assert tenant.leftovers() == {}


def test_load_balancer_that_is_lost_does_not_block_the_cluster(
    rest: Client, tenant: Tenant
) -> None:
    cluster = rest.create_cluster(rest.server_profile(), 1)
    policy = rest.attach(cluster, 'loadbalance', '1.3', **properties(tenant))
    (balancer,) = tenant.balancers()
    tenant.client.load_balancer.delete_load_balancer(balancer, cascade=True)
    wait_for('the load balancer is gone', lambda: not tenant.balancers())
    action = rest.fail(cluster, 'scale_out')
    assert 'could not add server' in action['status_reason']
    rest.run(cluster, 'policy_detach', policy_id=policy)
    rest.remove(cluster)
    assert tenant.leftovers() == {}
