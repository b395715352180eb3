# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from engine.providers import base, load_balancing
from engine.providers.openstack import octavia
from tests import cloud as fake
from tests import sdk_warnings, waiting

pytestmark = sdk_warnings.IGNORED

SPEC = load_balancing.Spec(
    name='web',
    vip={
        'subnet': 'private-subnet',
        'address': '192.0.2.9',
        'connection_limit': 7,
        'protocol': 'HTTP',
        'protocol_port': 80,
        'admin_state_up': True,
    },
    pool={
        'subnet': 'private-subnet',
        'protocol': 'HTTP',
        'protocol_port': 8080,
        'lb_method': 'ROUND_ROBIN',
        'admin_state_up': True,
        'session_persistence': {'type': 'SOURCE_IP', 'cookie_name': None},
    },
    monitor={
        'type': 'HTTP',
        'delay': 5,
        'timeout': 3,
        'max_retries': 2,
        'admin_state_up': True,
        'url_path': '/up',
        'http_method': None,
    },
)

#: Seconds; nothing that succeeds waits for them.
LONG = 120


@pytest.fixture
def balancers(provider: base.Provider) -> load_balancing.LoadBalancers:
    assert provider.load_balancers is not None
    return provider.load_balancers


@pytest.fixture
def balancer(
    balancers: load_balancing.LoadBalancers,
) -> load_balancing.Balancer:
    return balancers.create('key', SPEC, timeout=LONG)


def resource(cloud: fake.Cloud, kind: str) -> fake.Json:
    (body,) = cloud.balancing[kind].values()
    return body


def test_balancer_has_the_properties_of_its_spec(
    balancer: load_balancing.Balancer, cloud: fake.Cloud
) -> None:
    load_balancer = resource(cloud, 'loadbalancers')
    assert (load_balancer['id'], load_balancer['vip_address']) == (
        balancer.id,
        '192.0.2.9',
    )
    assert load_balancer['vip_subnet_id'] == cloud.id_of(
        'subnets', 'private-subnet'
    )
    listener = resource(cloud, 'listeners')
    assert listener['id'] == balancer.listener_id
    assert listener['connection_limit'] == 7
    pool = resource(cloud, 'pools')
    assert pool['id'] == balancer.pool_id
    assert pool['lb_algorithm'] == 'ROUND_ROBIN'
    assert pool['session_persistence'] == {'type': 'SOURCE_IP'}
    monitor = resource(cloud, 'healthmonitors')
    assert monitor['id'] == balancer.monitor_id
    assert monitor['url_path'] == '/up'
    assert 'http_method' not in monitor


def test_existing_balancer_gets_its_missing_monitor(
    balancers: load_balancing.LoadBalancers,
    balancer: load_balancing.Balancer,
    cloud: fake.Cloud,
) -> None:
    cloud.balancing['healthmonitors'].clear()
    del resource(cloud, 'pools')['healthmonitor_id']
    again = balancers.create('key', SPEC, timeout=LONG)
    assert again.monitor_id != balancer.monitor_id
    assert again == dataclasses.replace(balancer, monitor_id=again.monitor_id)


def test_balancer_without_monitor_is_created_and_found(
    balancers: load_balancing.LoadBalancers, cloud: fake.Cloud
) -> None:
    spec = dataclasses.replace(SPEC, monitor=None)

    balancer = balancers.create('key', spec, timeout=LONG)

    assert balancer.monitor_id is None
    assert not cloud.balancing['healthmonitors']
    assert balancers.get('web', balancer.pool_id, None) == balancer


BALANCERS = '/balancing/v2.0/lbaas/loadbalancers'
LISTENERS = '/balancing/v2.0/lbaas/listeners'


@pytest.mark.parametrize('path', [BALANCERS, LISTENERS])
@pytest.mark.parametrize('content', [b'{}', b'not JSON'])
def test_balancer_is_deleted_if_the_response_to_its_creation_is_malformed(
    balancers: load_balancing.LoadBalancers,
    cloud: fake.Cloud,
    path: str,
    content: bytes,
) -> None:
    cloud.lose('POST', path, times=1, content=content)
    with pytest.raises(base.ProviderError, match='unexpected response'):
        balancers.create('key', SPEC, timeout=LONG)
    assert resource(cloud, 'loadbalancers')['final_status'] == 'DELETED'

    # The old one is not used while it is being deleted.
    created = balancers.create('key', SPEC, timeout=LONG)
    assert set(cloud.balancing['loadbalancers']) > {created.id}


def test_balancer_whose_response_is_lost_is_created_once(
    balancers: load_balancing.LoadBalancers, cloud: fake.Cloud
) -> None:
    cloud.lose('POST', BALANCERS, times=1, content=None)
    created = balancers.create('key', SPEC, timeout=LONG)
    assert list(cloud.balancing['loadbalancers']) == [created.id]
    assert len(cloud.requests_to(f'POST {BALANCERS}')) == 1


def test_creation_of_a_balancer_is_repeated_if_it_was_not_received(
    balancers: load_balancing.LoadBalancers, cloud: fake.Cloud
) -> None:
    cloud.fail('POST', BALANCERS, 0, times=2)
    created = balancers.create('key', SPEC, timeout=LONG)
    assert list(cloud.balancing['loadbalancers']) == [created.id]
    cloud.fail('POST', BALANCERS, 0)
    with pytest.raises(base.ProviderError, match='does not answer'):
        balancers.create('other', SPEC, timeout=LONG)
    assert list(cloud.balancing['loadbalancers']) == [created.id]


def test_existing_balancer_is_found_by_name_or_id(
    balancers: load_balancing.LoadBalancers, balancer: load_balancing.Balancer
) -> None:
    for name_or_id in ('web', balancer.id):
        existing = balancers.get(
            name_or_id, balancer.pool_id, balancer.monitor_id
        )
        assert existing == balancer
    with pytest.raises(base.ProviderError, match='find the load balancer no'):
        balancers.get('no', balancer.pool_id, None)
    with pytest.raises(base.ProviderError, match='404'):
        balancers.get('web', 'none', None)
    with pytest.raises(base.ProviderError, match='no health monitor other'):
        balancers.get('web', balancer.pool_id, 'other')


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({}, ''),
        ({'flavor_id': 'flavor-small', 'availability_zone': 'lb-zone'}, ''),
        ({'flavor_id': 'none'}, 'Flavor none not found'),
        ({'availability_zone': 'none'}, 'Zone none not found'),
        ({'vip': {'network': 'none'}}, 'network none'),
        ({'vip': {'subnet': 'none'}}, 'subnet none'),
        ({'pool': {'subnet': 'none'}}, 'subnet none'),
    ],
)
def test_check_rejects_unknown_resources(
    balancers: load_balancing.LoadBalancers, changes: Any, message: str
) -> None:
    spec = dataclasses.replace(SPEC, **changes)
    if not message:
        balancers.check(spec)
        return
    with pytest.raises(base.ProviderError, match=message):
        balancers.check(spec)


def test_members_are_added_and_removed_one_at_a_time(
    provider: base.Provider,
    balancers: load_balancing.LoadBalancers,
    balancer: load_balancing.Balancer,
    cloud: fake.Cloud,
) -> None:
    properties = {'flavor': '1', 'networks': [{'network': 'private'}]}
    servers = [
        provider.servers.create(f'key-{number}', f'web-{number}', properties)
        for number in range(3)
    ]
    members: dict[str, str] = {}

    def add(server: base.Server) -> None:
        members[server.id] = balancers.add_member(
            balancer,
            server.id,
            port=8080,
            subnet='private-subnet',
            timeout=LONG,
        )

    waiting.in_threads(add, servers)
    stored = cloud.balancing['members']
    assert set(members.values()) == set(stored)
    stored_member = stored[members[servers[0].id]]
    addresses = servers[0].details['addresses']['private']
    assert stored_member['address'] == addresses[0]['addr']
    assert stored_member['protocol_port'] == 8080

    before = dict(members)
    add(servers[0])
    assert members == before, 'it is there already'
    for _again in range(2):
        balancers.remove_member(balancer, members[servers[0].id], timeout=LONG)
    assert len(stored) == 2


def test_server_outside_the_subnet_is_no_member(
    provider: base.Provider,
    balancers: load_balancing.LoadBalancers,
    balancer: load_balancing.Balancer,
) -> None:
    properties = {'flavor': '1', 'networks': [{'network': 'public'}]}
    server = provider.servers.create('other', 'web', properties)
    with pytest.raises(base.ProviderError, match='no address in the subnet'):
        balancers.add_member(
            balancer, server.id, port=1, subnet='private-subnet', timeout=LONG
        )


def test_delete_removes_all_parts(
    balancers: load_balancing.LoadBalancers,
    balancer: load_balancing.Balancer,
    cloud: fake.Cloud,
) -> None:
    balancers.delete(balancer, timeout=LONG)
    balancers.delete(balancer, timeout=LONG)
    assert not any(cloud.balancing.values())


def test_balancer_in_error_is_removed_and_reported(
    balancers: load_balancing.LoadBalancers, cloud: fake.Cloud
) -> None:
    cloud.ends_in_error = True
    with pytest.raises(base.ProviderError, match='is in ERROR'):
        balancers.create('key', SPEC, timeout=LONG)
    assert cloud.requests_to('DELETE /balancing/v2.0/lbaas/loadbalancers/')


def test_balancer_that_is_never_ready_is_times_out(
    balancers: load_balancing.LoadBalancers,
    cloud: fake.Cloud,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(octavia, 'CLEAN_UP_TIMEOUT', 0.1)
    cloud.steps = 1_000_000
    with pytest.raises(base.ProviderError, match='not within'):
        balancers.create('key', SPEC, timeout=0.1)
