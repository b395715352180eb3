# SPDX-License-Identifier: Apache-2.0
"""Servers of nodes: profiles, updates, operations and adoption."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.functional.rest import action_id_of, unique
from tests.real_cloud.clustering import Client
from tests.real_cloud.tenants import PRIVATE, PUBLIC, Tenant

FLOATING = [{'network': PRIVATE, 'floating_network': PUBLIC}]


def only_server(tenant: Tenant) -> Any:
    """Return Nova's description of the only server."""
    (server,) = tenant.servers().values()
    return server


def update_node(rest: Client, node: str, **values: Any) -> dict[str, Any]:
    """Update a node, and return the action."""
    response = rest.expect(202, 'PATCH', f'/v1/nodes/{node}', {'node': values})
    return rest.wait_for_end(action_id_of(response))


def create_node(rest: Client, profile: str) -> tuple[str, dict[str, Any]]:
    """Create a node; return its ID and the action."""
    body = {'node': {'name': unique('node'), 'profile_id': profile}}
    response = rest.expect(202, 'POST', '/v1/nodes', body)
    node = str(response.json()['node']['id'])
    return node, rest.wait_for_end(action_id_of(response))


def delete_node(rest: Client, node: str) -> None:
    rest.wait_for_success(rest.delete(f'/v1/nodes/{node}'))


def operate(rest: Client, node: str, name: str, **parameters: Any) -> None:
    """Run an operation on a node, which must succeed."""
    response = rest.expect(
        202, 'POST', f'/v1/nodes/{node}/ops', {name: parameters}
    )
    rest.wait_for_success(action_id_of(response))


@pytest.mark.core
def test_every_property_of_a_profile_reaches_the_server(
    rest: Client, tenant: Tenant
) -> None:
    key = unique('key')
    tenant.client.compute.create_keypair(name=key)
    group = tenant.client.network.create_security_group(name=unique('web'))
    port = tenant.client.network.create_port(
        network_id=tenant.client.network.find_network(PRIVATE).id
    )
    profile = rest.server_profile(
        name='web',
        flavor='m1.small',
        key_name=key,
        user_data='#!/bin/sh\n',
        metadata={'role': 'web', 'count': 3},
        config_drive=True,
        availability_zone='az2',
        admin_pass='secret',
        networks=[
            {
                'network': PRIVATE,
                'fixed_ip': '10.1.2.3',
                'security_groups': [group.name],
                'floating_network': PUBLIC,
            },
            {'port': port.id},
        ],
    )
    cluster = rest.create_cluster(profile, 1)
    (node,) = rest.nodes(cluster)
    server = tenant.client.compute.get_server(node['physical_id'])
    assert server.name == 'web'
    assert server.flavor['original_name'] == 'm1.small'
    assert server.key_name == key
    assert server.has_config_drive
    assert server.availability_zone == 'az2'
    assert server.metadata == {
        'role': 'web',
        'count': '3',
        'cluster_id': cluster,
        'cluster_node_id': node['id'],
        'cluster_node_index': str(node['index']),
    }
    shown = tenant.admin.compute.get_server(server.id)
    assert base64.b64decode(shown.user_data) == b'#!/bin/sh\n'
    addresses = {a['addr'] for a in server.addresses[PRIVATE]}
    (floating_ip,) = tenant.floating_ips()
    assert {'10.1.2.3', floating_ip.floating_ip_address} < addresses
    assert len(addresses) == 3
    (own_port,) = (p for p in tenant.ports() if p.id != port.id)
    assert own_port.security_group_ids == [group.id]
    details = rest.node(node['id'])['details']
    assert details['key_name'] == key
    assert details['OS-EXT-AZ:availability_zone'] == 'az2'

    rest.remove(cluster)
    # The named port, but nothing else, remains.
    assert [p.id for p in tenant.ports()] == [port.id]
    tenant.client.network.delete_port(port)
    tenant.client.network.delete_security_group(group)
    tenant.client.compute.delete_keypair(key)
    assert tenant.leftovers() == {}


def test_server_keeps_its_id_when_its_profile_changes(
    rest: Client, tenant: Tenant
) -> None:
    cluster = rest.create_cluster(
        rest.server_profile(metadata={'a': '1', 'b': '2'}), 2
    )
    servers = set(rest.physical_ids(cluster))
    debian = tenant.client.image.find_image('debian')
    for changes in (
        {'metadata': {'a': '3'}},
        {'name': 'renamed'},
        {'flavor': 'm1.medium'},
        {'flavor': 'm1.medium', 'image': 'debian'},
        {'flavor': 'm1.medium', 'image': 'debian', 'networks': FLOATING},
        {
            'flavor': 'm1.medium',
            'image': 'debian',
            'networks': [{'network': PRIVATE}, *FLOATING],
        },
        {'flavor': 'm1.medium', 'image': 'debian'},
    ):
        profile = rest.server_profile(**changes)
        action = rest.update(cluster, profile_id=profile)
        assert action['status'] == 'SUCCEEDED', action['status_reason']
        networks = changes.get('networks') or [{}]
        assert len(tenant.ports()) == 2 * len(networks)
        assert len(tenant.floating_ips()) == (
            2 * sum('floating_network' in network for network in networks)
        )
        if 'metadata' in changes:
            for server in tenant.servers().values():
                assert server.metadata['a'] == '3'
                assert 'b' not in server.metadata
        if 'name' in changes:
            names = {server.name for server in tenant.servers().values()}
            assert names == {'renamed'}
    assert set(tenant.servers()) == servers
    for server in tenant.servers().values():
        assert server.status == 'ACTIVE'
        assert server.flavor['original_name'] == 'm1.medium'
        assert server.image.id == debian.id
    rest.remove(cluster)
    assert tenant.leftovers() == {}


def test_update_that_nova_cannot_do_is_refused_and_keeps_the_server(
    rest: Client, tenant: Tenant
) -> None:
    compute = tenant.client.compute
    keys = [unique('key'), unique('key')]
    for key in keys:
        compute.create_keypair(name=key)
    values = {'key_name': keys[0], 'user_data': '#!/bin/sh\n'}
    profile = rest.server_profile(**values)
    cluster = rest.create_cluster(profile, 1)
    before = only_server(tenant)
    for name, value in (('key_name', keys[1]), ('user_data', '#!/bin/ksh\n')):
        changed = rest.server_profile(**{**values, name: value})
        action = rest.update(cluster, profile_id=changed)
        assert action['status'] == 'FAILED', action
        (node,) = rest.nodes(cluster)
        assert node['status_reason'] == f'{name} of a server cannot be changed'
        assert node['profile_id'] == profile
        after = only_server(tenant)
        assert (after.id, after.key_name) == (before.id, keys[0])
        assert after.updated_at == before.updated_at
        rest.run(cluster, 'recover', check=True)
        (node,) = rest.nodes(cluster)
        assert (node['status'], node['physical_id']) == ('ACTIVE', before.id)
    rest.remove(cluster)
    for key in keys:
        compute.delete_keypair(key)
    assert tenant.leftovers() == {}


@pytest.mark.parametrize(
    ('properties', 'reason'),
    [
        ({'flavor': 'absent'}, 'absent'),
        ({'image': 'absent'}, 'absent'),
        ({'networks': [{'network': 'absent'}]}, 'absent'),
        ({'key_name': 'absent'}, '400: Invalid key_name'),
        ({'availability_zone': 'absent'}, 'zone is not available'),
        (
            {'networks': [{'network': PRIVATE, 'fixed_ip': '192.0.2.1'}]},
            '192.0.2.1',
        ),
        (
            {'networks': [{'network': PRIVATE, 'floating_network': PRIVATE}]},
            '40',
        ),
        (
            # The cloud has no block storage.
            {
                'image': None,
                'block_device_mapping_v2': [
                    {
                        'source_type': 'blank',
                        'destination_type': 'volume',
                        'volume_size': 1,
                        'boot_index': 0,
                    }
                ],
            },
            'could not create the server',
        ),
    ],
)
def test_impossible_server_fails_with_the_reason_and_leaves_nothing(
    rest: Client,
    tenant: Tenant,
    properties: dict[str, Any],
    reason: str,
) -> None:
    wanted = {'flavor': 'm1.tiny', 'image': 'cirros', **properties}
    profile = rest.profile(
        'os.nova.server',
        **{k: v for k, v in wanted.items() if v is not None},
    )
    node, action = create_node(rest, profile)
    assert action['status'] == 'FAILED', action
    assert reason in action['status_reason']
    for word in ('internal error', 'unexpected response', 'http://'):
        assert word not in action['status_reason']
    assert rest.get(f'/v1/nodes/{node}')['status'] == 'ERROR'
    assert tenant.leftovers() == {}
    delete_node(rest, node)


@pytest.mark.core
def test_operations_change_the_server(rest: Client, tenant: Tenant) -> None:
    node, action = create_node(rest, rest.server_profile())
    assert action['status'] == 'SUCCEEDED', action
    for name, status in (
        ('pause', 'PAUSED'),
        ('unpause', 'ACTIVE'),
        ('suspend', 'SUSPENDED'),
        ('resume', 'ACTIVE'),
        ('stop', 'SHUTOFF'),
        ('start', 'ACTIVE'),
        ('rescue', 'RESCUE'),
        ('unrescue', 'ACTIVE'),
        ('rebuild', 'ACTIVE'),
        ('reboot', 'ACTIVE'),
        ('lock', 'ACTIVE'),
        ('unlock', 'ACTIVE'),
    ):
        operate(rest, node, name)
        assert only_server(tenant).status == status, name
    operate(rest, node, 'reboot', type='HARD')
    operate(rest, node, 'change_password', admin_pass='other')
    assert only_server(tenant).status == 'ACTIVE'
    delete_node(rest, node)
    assert tenant.leftovers() == {}
