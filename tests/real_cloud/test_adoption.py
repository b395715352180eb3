# SPDX-License-Identifier: Apache-2.0
"""Adoption of existing servers, which only administrators may do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.real_cloud.clustering import Client
from tests.real_cloud.tenants import PRIVATE, Tenant


@pytest.fixture(scope='module', autouse=True)
def _administrator(tenant: Tenant) -> Iterator[None]:
    tenant.add_role('admin')
    yield
    # An administrator sees the stacks of all projects.
    tenant.remove_role('admin')
    tenant.reconnect()


@pytest.mark.core
def test_existing_server_is_previewed_and_adopted(
    rest: Client, tenant: Tenant
) -> None:
    client = tenant.client
    # An administrator sees the networks of all projects.
    (network,) = client.network.networks(
        name=PRIVATE, project_id=tenant.project_id
    )
    server = client.compute.create_server(
        name='old',
        flavor_id=client.compute.find_flavor('m1.tiny').id,
        image_id=client.image.find_image('cirros').id,
        networks=[{'uuid': network.id}],
        metadata={'role': 'db'},
    )
    tenant.wait_for_status(server.id, 'ACTIVE')
    body = {'identity': server.id, 'type': 'os.nova.server-1.0'}
    response = rest.expect(200, 'POST', '/v1/nodes/adopt-preview', body)
    properties = response.json()['node_profile']['properties']
    assert properties['name'] == 'old'
    assert properties['metadata'] == {'role': 'db'}
    assert properties['networks'] == [{'network': PRIVATE}]
    response = rest.expect(
        200, 'POST', '/v1/nodes/adopt', {**body, 'name': 'adopted'}
    )
    node = response.json()['node']
    assert (node['status'], node['physical_id']) == ('ACTIVE', server.id)
    message = rest.expect_error(400, 'POST', '/v1/nodes/adopt', body)
    assert server.id in message
    profile = rest.get(f'/v1/profiles/{node["profile_id"]}')
    cluster = rest.create_cluster(profile['id'], 0)
    rest.run(cluster, 'add_nodes', nodes=[node['id']])
    rest.run(cluster, 'check')
    assert tenant.servers()[server.id].metadata['cluster_id'] == cluster
    rest.remove(cluster)
    assert tenant.servers() == {}
    assert tenant.ports() == []
