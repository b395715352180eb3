# SPDX-License-Identifier: Apache-2.0
"""Clusters in two regions."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import pytest

from tests.functional.processes import wait_for
from tests.real_cloud import second_region
from tests.real_cloud.cloud import Cloud
from tests.real_cloud.clustering import Client
from tests.real_cloud.second_region import Region
from tests.real_cloud.settings import REGION
from tests.real_cloud.tenants import Tenant

SECOND = second_region.NAME


@pytest.fixture(scope='module')
def region(cloud: Cloud, admin: Any) -> Iterator[Region]:
    """The second region.

    Tokens contain the catalogue, so that engines read changes of it later.
    """
    with second_region.running(cloud.settings, admin) as running:
        yield running


@pytest.fixture
def second(region: Region) -> Region:
    """The second region, up and without requests."""
    region.is_down = False
    region.requests.clear()
    return region


def regions(rest: Client, cluster: str) -> dict[str, int]:
    """Return the number of nodes in each region."""
    return collections.Counter(
        node['data']['placement']['region_name']
        for node in rest.nodes(cluster)
    )


def created(region: Region) -> int:
    """Return the number of requests for new servers."""
    return sum(
        request.startswith('POST') and request.endswith('/servers')
        for request in region.requests
    )


def spread(rest: Client, size: int) -> str:
    """Return a cluster whose nodes are spread over both regions."""
    cluster = rest.create_cluster(rest.server_profile(), 0)
    rest.attach(
        cluster,
        'region_placement',
        '1.0',
        regions=[
            {'name': REGION, 'weight': 100},
            {'name': SECOND, 'weight': 100},
        ],
    )
    rest.run(cluster, 'scale_out', count=size)
    return cluster


@pytest.mark.core
def test_nodes_are_spread_over_both_regions(
    rest: Client, tenant: Tenant, second: Region
) -> None:
    cluster = spread(rest, 4)
    assert regions(rest, cluster) == {REGION: 2, SECOND: 2}
    assert created(second) == 2
    assert set(tenant.servers()) == set(rest.physical_ids(cluster))
    # Each node is checked, recovered and deleted in its own region.
    (lost, _) = (
        node
        for node in rest.nodes(cluster)
        if node['data']['placement']['region_name'] == SECOND
    )
    lost_id = lost['physical_id']
    tenant.client.compute.delete_server(lost_id)
    wait_for('the server is gone', lambda: lost_id not in tenant.servers())
    rest.run(cluster, 'check')
    assert rest.get(f'/v1/nodes/{lost["id"]}')['status'] == 'ERROR'
    rest.run(cluster, 'recover')
    assert created(second) == 3
    assert regions(rest, cluster) == {REGION: 2, SECOND: 2}
    second.requests.clear()
    rest.remove(cluster)
    deletions = [r for r in second.requests if 'DELETE' in r]
    assert sum('/servers/' in request for request in deletions) == 2
    assert tenant.leftovers() == {}


def test_region_that_does_not_answer_does_not_affect_the_other(
    rest: Client, tenant: Tenant, second: Region
) -> None:
    cluster = spread(rest, 2)
    second.is_down = True
    action = rest.fail(cluster, 'scale_out', count=2)
    assert 'the cloud does not answer' in action['status_reason']
    statuses = [
        (node['data']['placement']['region_name'], node['status'])
        for node in rest.nodes(cluster)
    ]
    assert collections.Counter(statuses) == {
        (REGION, 'ACTIVE'): 2,
        (SECOND, 'ACTIVE'): 1,
        (SECOND, 'ERROR'): 1,
    }
    assert len(tenant.servers()) == 3
    second.is_down = False
    rest.run(cluster, 'check')
    rest.run(cluster, 'recover')
    assert set(tenant.servers()) == set(rest.physical_ids(cluster))
    assert len(tenant.servers()) == 4
    rest.remove(cluster)
    assert tenant.leftovers() == {}
