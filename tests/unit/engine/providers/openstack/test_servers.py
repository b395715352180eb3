# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
from typing import Any

import pytest
from oslo_config import cfg

from engine.providers import base, openstack
from tests import cloud as fake
from tests import sdk_warnings

SMALL = {'flavor': 'm1.small', 'image': 'cirros'}

pytestmark = sdk_warnings.IGNORED

Provider = base.Provider


def create_server(provider: Provider, **properties: Any) -> base.Server:
    return provider.servers.create('key', 'web', {**SMALL, **properties})


def test_server_is_created_found_and_deleted(
    provider: Provider, cloud: fake.Cloud
) -> None:
    server = create_server(provider)
    assert (server.name, server.status) == ('web', 'ACTIVE')
    assert server.details['flavor'] == '1'
    assert server.details['image'] == cloud.id_of('images', 'cirros')
    assert provider.servers.find('key') == server
    assert provider.servers.find('other') is None
    assert create_server(provider) == server
    assert len(cloud.servers) == 1

    provider.servers.delete(server.id)
    provider.servers.delete(server.id)
    provider.servers.delete_related('key')
    assert provider.servers.find('key') is None
    assert cloud.leftovers() == {}
    with pytest.raises(base.ServerNotFound, match=f'{server.id}: 404'):
        provider.servers.get(server.id)


def test_properties_of_a_profile_are_sent_to_nova(
    provider: Provider, cloud: fake.Cloud
) -> None:
    volume = {
        'uuid': 'image-id',
        'source_type': 'image',
        'destination_type': 'volume',
        'volume_size': 4,
        'boot_index': 0,
        'disk_bus': None,
    }
    create_server(
        provider,
        admin_pass='pw',
        auto_disk_config=False,
        availability_zone='nova-2',
        block_device_mapping_v2=[volume],
        config_drive=True,
        key_name='mine',
        metadata={'a': 1, 'b': 'text'},
        personality=[{'path': '/x', 'contents': 'eA=='}],
        scheduler_hints={'group': 'g'},
        security_groups=['web'],
        user_data='#!/bin/sh',
    )
    (body,) = cloud.bodies_to('POST /compute/v2.1/servers')
    del volume['disk_bus']
    assert body == {
        'server': {
            'name': 'web',
            'flavorRef': '1',
            'imageRef': cloud.id_of('images', 'cirros'),
            'tags': ['vobjects-key'],
            'networks': 'auto',
            'adminPass': 'pw',
            'OS-DCF:diskConfig': 'MANUAL',
            'availability_zone': 'nova-2',
            'block_device_mapping_v2': [volume],
            'config_drive': True,
            'key_name': 'mine',
            'metadata': {'a': '1', 'b': 'text'},
            'personality': [{'path': '/x', 'contents': 'eA=='}],
            'security_groups': [{'name': 'web'}],
            'user_data': base64.b64encode(b'#!/bin/sh').decode(),
        },
        'os:scheduler_hints': {'group': 'g'},
    }


def test_networks_become_ports_that_are_deleted_with_the_server(
    provider: Provider, cloud: fake.Cloud
) -> None:
    spec = {
        'network': 'private',
        'subnet': 'private-subnet',
        'fixed_ip': '127.0.2.9',
        'security_groups': ['web'],
        'vnic_type': 'direct',
        'floating_network': 'public',
        'port': None,
    }
    server = create_server(provider, networks=[spec, {'network': 'private'}])
    first, second = cloud.ports.values()
    assert first['device_id'] == second['device_id'] == server.id
    assert first['fixed_ips'][0]['ip_address'] == '127.0.2.9'
    assert first['security_groups'] == [cloud.id_of('security_groups', 'web')]
    assert first['binding:vnic_type'] == 'direct'
    (address,) = cloud.floating_ips.values()
    assert address['port_id'] == first['id']
    assert address['floating_network_id'] == cloud.id_of('networks', 'public')
    addresses = server.details['addresses']['private']
    assert addresses[0]['addr'] == '127.0.2.9'

    provider.servers.delete(server.id)
    provider.servers.delete_related('key')
    assert cloud.leftovers() == {}


def test_existing_port_and_floating_address_remain(
    provider: Provider, cloud: fake.Cloud
) -> None:
    cloud.floating_ips['f'] = {
        'id': 'f',
        'floating_ip_address': '203.0.113.200',
        'port_id': None,
        'description': '',
    }
    port = fake.new_port(cloud, 'private')
    spec = {'port': port, 'floating_ip': '203.0.113.200'}
    server = create_server(provider, networks=[spec])
    assert cloud.ports[port]['device_id'] == server.id
    assert cloud.floating_ips['f']['port_id'] == port
    provider.servers.delete(server.id)
    provider.servers.delete_related('key')
    assert list(cloud.ports) == [port]
    assert list(cloud.floating_ips) == ['f']


@pytest.mark.parametrize(
    ('spec', 'changes', 'message'),
    [
        ({'network': 'none'}, {}, 'none'),
        ({'network': 'private', 'subnet': 'none'}, {}, 'none'),
        ({'network': 'private', 'security_groups': ['none']}, {}, 'none'),
        ({'port': 'none'}, {}, 'none'),
        (
            {'network': 'private', 'floating_ip': '203.0.113.7'},
            {},
            'no floating_network to take it from',
        ),
        ({'network': 'private'}, {'flavor': 'm1.none'}, 'm1.none'),
        ({'network': 'private'}, {'image': 'windows'}, 'windows'),
    ],
)
def test_resource_that_cannot_be_had_leaves_nothing_behind(
    provider: Provider,
    cloud: fake.Cloud,
    spec: Any,
    changes: dict[str, str],
    message: str,
) -> None:
    networks = [{'network': 'private'}, spec]
    with pytest.raises(base.ProviderError, match=message):
        create_server(provider, networks=networks, **changes)
    assert cloud.leftovers() == {}


def test_server_that_fails_to_start_is_removed_and_reports_its_fault(
    provider: Provider, cloud: fake.Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.ends_in_error = True
    with pytest.raises(
        base.ProviderError,
        match='create the server of node key: 500: No valid host was found',
    ):
        create_server(provider, networks=[{'network': 'private'}])
    assert cloud.leftovers() == {}


def test_rejection_is_reported_with_status_and_message(
    provider: Provider, cloud: fake.Cloud
) -> None:
    cloud.fail('POST', '/compute/v2.1/servers', 403, 'Quota exceeded')
    with pytest.raises(base.ProviderError) as caught:
        create_server(provider, networks=[{'network': 'private'}])
    message = str(caught.value)
    assert message == (
        'could not create the server of node key: 403: Quota exceeded'
    )
    assert cloud.leftovers() == {}


@pytest.mark.parametrize('status', [429, 503, 0])
def test_request_is_repeated_when_the_cloud_is_busy(
    provider: Provider, cloud: fake.Cloud, status: int
) -> None:
    cloud.fail('GET', '/compute/v2.1/servers/detail', status, times=2)
    assert provider.servers.find('key') is None
    assert len(cloud.requests_to('GET /compute/v2.1/servers/detail')) == 3


def test_cloud_that_stays_busy_is_an_error_in_the_end(
    provider: Provider, cloud: fake.Cloud
) -> None:
    cloud.fail('GET', '/compute/v2.1/servers/', 503, 'maintenance')
    with pytest.raises(base.ProviderError, match='503: maintenance'):
        provider.servers.get('x')
    assert len(cloud.requests_to('GET /compute/v2.1/servers/x')) == 4


def test_server_that_is_never_ready_times_out(
    conf: cfg.ConfigOpts, cloud: fake.Cloud
) -> None:
    conf.set_override('server_timeout', 0.1, 'provider_openstack')
    cloud.steps = 1_000_000
    with pytest.raises(base.ProviderError, match=r'not within 0\.1 seconds'):
        create_server(openstack.load(conf))


def test_update_changes_only_differences(
    provider: Provider, cloud: fake.Cloud
) -> None:
    old = {**SMALL, 'metadata': {'a': '1', 'b': '2'}}
    server = create_server(provider, **old)
    cloud.servers[server.id]['metadata']['other'] = 'kept'
    new = {
        'flavor': 'm1.big',
        'image': 'debian',
        'metadata': {'b': '3', 'c': '4'},
    }
    updated = provider.servers.update('key', server.id, 'db', old, new)
    assert (updated.id, updated.name) == (server.id, 'db')
    assert updated.status == 'ACTIVE'
    assert updated.details['flavor'] == '2'
    assert updated.details['image'] == cloud.id_of('images', 'debian')
    assert updated.details['metadata'] == {'b': '3', 'c': '4', 'other': 'kept'}

    before = len(cloud.requests_to('P'))
    provider.servers.update('key', server.id, 'db', new, new)
    assert len(cloud.requests_to('P')) == before, 'nothing differs'


def test_update_of_networks_changes_ports(
    provider: Provider, cloud: fake.Cloud
) -> None:
    first = {'network': 'private', 'security_groups': ['default']}
    removed = {'network': 'public', 'floating_network': 'public'}
    old = {**SMALL, 'networks': [first, removed]}
    server = create_server(provider, **old)
    kept_port, removed_port = cloud.ports
    added = {'network': 'public', 'fixed_ip': '127.0.3.3'}
    changed = {**first, 'security_groups': ['web']}
    new = {**SMALL, 'networks': [added, changed]}
    for _again in range(2):
        provider.servers.update('key', server.id, 'web', old, new)
        assert removed_port not in cloud.ports
        assert cloud.floating_ips == {}
        assert kept_port in cloud.ports
        assert len(cloud.ports) == 2
        users = {port['device_id'] for port in cloud.ports.values()}
        assert users == {server.id}
        groups = cloud.ports[kept_port]['security_groups']
        assert groups == [cloud.id_of('security_groups', 'web')]


@pytest.mark.parametrize('is_lost', [True, False])
def test_port_is_attached_once_if_the_response_is_lost(
    provider: Provider, cloud: fake.Cloud, is_lost: bool
) -> None:
    server = create_server(provider, networks=[])
    interfaces = f'/compute/v2.1/servers/{server.id}/os-interface'
    if is_lost:
        cloud.lose('POST', interfaces, times=1, content=None)
    else:
        cloud.fail('POST', interfaces, 409, 'Port is in use')
    new = {**SMALL, 'networks': [{'network': 'public'}]}

    def update() -> None:
        provider.servers.update('key', server.id, 'web', SMALL, new)

    if is_lost:
        update()
        assert len(cloud.requests_to(f'POST {interfaces}')) == 2
    else:
        with pytest.raises(base.ProviderError, match='409: Port is in use'):
            update()
    # The first port is one that Nova has created.
    users = [port['device_id'] for port in cloud.ports.values()]
    assert users == [server.id, server.id if is_lost else '']


def test_resize_when_nova_leaves_it_undone_is_an_error(
    provider: Provider, cloud: fake.Cloud
) -> None:
    server = create_server(provider)
    cloud.refuses_resize = True
    new = {**SMALL, 'flavor': 'm1.big'}
    with pytest.raises(base.ProviderError, match='Nova left it ACTIVE'):
        provider.servers.update('key', server.id, 'web', SMALL, new)


def test_resize_is_awaited_until_nova_has_confirmed_it(
    provider: Provider, cloud: fake.Cloud
) -> None:
    server = create_server(provider)
    cloud.steps = 3
    old, new = SMALL, {**SMALL, 'flavor': 'm1.big'}
    updated = provider.servers.update('key', server.id, 'web', old, new)
    assert updated.status == cloud.servers[server.id]['status'] == 'ACTIVE'
    migrated = provider.servers.operate(server.id, 'migrate', {})
    assert migrated.status == cloud.servers[server.id]['status'] == 'ACTIVE'


def test_creation_whose_response_is_lost_makes_no_second_server(
    provider: Provider, cloud: fake.Cloud
) -> None:
    networks = [{'network': 'private', 'floating_network': 'public'}]
    properties = {**SMALL, 'networks': networks}
    cloud.lose('POST', '/compute/v2.1/servers', times=1, content=None)
    server = provider.servers.create('key', 'web', properties)
    assert list(cloud.servers) == [server.id]
    provider.servers.delete(server.id)
    provider.servers.delete_related('key')
    assert cloud.leftovers() == {}


def test_creation_whose_responses_are_useless_leaves_nothing(
    provider: Provider, cloud: fake.Cloud
) -> None:
    # The request for the port is repeated, so that there are two.
    cloud.lose('POST', '/network/v2.0/ports', times=1, content=None)
    cloud.lose('POST', '/compute/v2.1/servers', times=1, content=b'{}')
    properties = {**SMALL, 'networks': [{'network': 'private'}]}
    with pytest.raises(base.ProviderError, match='unexpected response'):
        provider.servers.create('key', 'web', properties)
    assert len(cloud.requests_to('POST /network/v2.0/ports')) == 2
    assert cloud.leftovers() == {}


def test_resize_of_a_dead_engine_is_confirmed(
    provider: Provider, cloud: fake.Cloud
) -> None:
    server = create_server(provider)
    cloud.servers[server.id].update(status='VERIFY_RESIZE', flavor_id='2')
    new = {**SMALL, 'flavor': 'm1.big'}
    updated = provider.servers.update('key', server.id, 'web', SMALL, new)
    assert updated.status == 'ACTIVE'


@pytest.mark.parametrize(
    ('names', 'expected'),
    [
        ('pause unpause', 'PAUSED ACTIVE'),
        ('suspend resume', 'SUSPENDED ACTIVE'),
        ('stop start', 'SHUTOFF ACTIVE'),
        ('rescue unrescue', 'RESCUE ACTIVE'),
        ('reboot rebuild evacuate migrate', 'ACTIVE ACTIVE ACTIVE ACTIVE'),
        ('lock unlock snapshot', 'ACTIVE ACTIVE ACTIVE'),
        ('stop stop', 'SHUTOFF SHUTOFF'),
        ('stop rebuild', 'SHUTOFF ACTIVE'),
    ],
)
def test_operations_are_waited_for(
    provider: Provider, cloud: fake.Cloud, names: str, expected: str
) -> None:
    server = create_server(provider)
    statuses = [
        provider.servers.operate(server.id, name, {}).status
        for name in names.split()
    ]
    assert statuses == expected.split()
    assert cloud.servers[server.id]['status'] == statuses[-1]


def test_parameters_of_operations_are_sent_to_nova(
    provider: Provider, cloud: fake.Cloud
) -> None:
    server = create_server(provider)
    debian = cloud.id_of('images', 'debian')

    def sent_body(operation: str, **parameters: Any) -> Any:
        provider.servers.operate(server.id, operation, parameters)
        path = f'POST /compute/v2.1/servers/{server.id}/action'
        return cloud.bodies_to(path)[-1]

    assert sent_body('change_password', admin_pass='new') == {
        'changePassword': {'adminPass': 'new'}
    }
    assert sent_body('reboot', type='hard') == {'reboot': {'type': 'HARD'}}
    assert sent_body('evacuate', host='h', force='True') == {
        'evacuate': {'host': 'h', 'force': True}
    }
    assert sent_body('restore', image='debian') == {
        'rebuild': {'imageRef': debian}
    }
    assert sent_body('snapshot', name='s') == {'createImage': {'name': 's'}}
    assert sent_body('rescue', image_ref='debian') == {
        'rescue': {'rescue_image_ref': debian}
    }
    with pytest.raises(base.ProviderError, match='needs admin_pass'):
        provider.servers.operate(server.id, 'change_password', {})


def test_operation_when_nova_rejects_it_reports_the_reason(
    provider: Provider, cloud: fake.Cloud
) -> None:
    server = create_server(provider)
    provider.servers.operate(server.id, 'stop', {})
    with pytest.raises(base.ProviderError, match="409: Cannot 'pause'"):
        provider.servers.operate(server.id, 'pause', {})
    with pytest.raises(base.ServerNotFound):
        provider.servers.operate('none', 'pause', {})


def test_forced_deletion_forces_nova(
    provider: Provider, cloud: fake.Cloud
) -> None:
    server = create_server(provider)
    provider.servers.delete(server.id, force=True, timeout=60)
    path = f'POST /compute/v2.1/servers/{server.id}/action'
    assert cloud.bodies_to(path) == [{'forceDelete': None}]
    assert cloud.servers == {}


def test_ports_that_nova_does_not_release_are_released_and_deleted(
    provider: Provider, cloud: fake.Cloud
) -> None:
    server = create_server(provider, networks=[{'network': 'private'}])
    cloud.keeps_ports = True
    provider.servers.delete(server.id)
    (port,) = cloud.ports.values()
    assert port['device_id'] == server.id
    provider.servers.delete_related('key')
    assert cloud.leftovers() == {}


@pytest.mark.parametrize('force', [False, True])
def test_deletion_that_nova_forgets_is_repeated_once(
    provider: Provider, cloud: fake.Cloud, force: bool
) -> None:
    server = create_server(provider)
    cloud.failing_deletions = 2
    with pytest.raises(base.ProviderError, match=f'delete server {server.id}'):
        provider.servers.delete(server.id, force=force)
    cloud.failing_deletions = 1
    provider.servers.delete(server.id, force=force)
    assert cloud.servers == {}


def test_snapshot_is_an_image(provider: Provider, cloud: fake.Cloud) -> None:
    server = create_server(provider)
    image = provider.servers.snapshot(server.id, 'frozen')
    assert cloud.images[image] == 'frozen'


def test_server_is_described_by_profile_properties(
    provider: Provider, cloud: fake.Cloud
) -> None:
    server = create_server(provider, key_name='mine', metadata={'a': 'b'})
    assert provider.servers.profile_properties(server.id) == {
        'name': 'web',
        'flavor': '1',
        'image': cloud.id_of('images', 'cirros'),
        'key_name': 'mine',
        'metadata': {'a': 'b'},
        'networks': [{'network': 'private'}],
        'security_groups': ['default'],
        'availability_zone': 'nova',
        'auto_disk_config': True,
        'config_drive': False,
    }


def test_detached_server_remains_and_a_new_one_is_created(
    provider: Provider, cloud: fake.Cloud
) -> None:
    networks = [{'network': 'private', 'floating_network': 'public'}]
    first = create_server(provider, networks=networks)
    provider.servers.detach('key')
    provider.servers.detach('key')
    assert provider.servers.find('key') is None
    second = create_server(provider, networks=networks)
    assert second.id != first.id
    provider.servers.delete(second.id)
    provider.servers.delete_related('key')
    assert list(cloud.servers) == [first.id]
    assert len(cloud.ports) == len(cloud.floating_ips) == 1


def test_metadata_is_set_and_removed_key_by_key(
    provider: Provider, cloud: fake.Cloud
) -> None:
    server = create_server(provider, metadata={'a': '1', 'b': '2', 'c': '3'})
    for _again in range(2):
        provider.servers.set_metadata(
            server.id, {'a': 'x', 'b': None, 'd': None}
        )
        assert cloud.servers[server.id]['metadata'] == {'a': 'x', 'c': '3'}
    with pytest.raises(base.ServerNotFound):
        provider.servers.set_metadata('none', {'a': 'x'})
