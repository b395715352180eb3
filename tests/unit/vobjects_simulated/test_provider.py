# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from engine.providers import base
from tests import waiting
from tests.unit.engine.engine_harness import Harness
from vobjects.rpc import concurrency_limit
from vobjects_simulated.provider import SimulatedProvider, state


def provider(harness: Harness) -> SimulatedProvider:
    return SimulatedProvider(harness.conf, harness.database)


@pytest.fixture
def servers(any_harness: Harness) -> base.Servers:
    return provider(any_harness).servers


def test_create_when_repeated_for_a_key_returns_one_server(
    servers: base.Servers,
) -> None:
    first = servers.create('key', 'name', {'flavor': 'f'})
    assert servers.create('key', 'name', {'flavor': 'f'}) == first
    assert servers.find('key') == first
    assert first.status == 'ACTIVE'
    assert first.details['flavor'] == 'f'


def test_create_when_concurrent_returns_one_server(
    servers: base.Servers,
) -> None:
    created = waiting.in_threads(
        lambda _: servers.create('key', 'name', {}), range(4)
    )
    assert len({server.id for server in created}) == 1


def test_delete_when_repeated_succeeds(servers: base.Servers) -> None:
    server = servers.create('key', 'name', {})
    servers.delete(server.id)
    servers.delete(server.id)
    assert servers.find('key') is None
    with pytest.raises(base.ServerNotFound, match=server.id):
        servers.get(server.id)


def test_update_reboot_and_rebuild_keep_the_id(servers: base.Servers) -> None:
    server = servers.create('key', 'name', {})
    updated = servers.update('key', server.id, 'other', {}, {'image': 'i'})
    assert (updated.name, updated.details['image']) == ('other', 'i')
    assert servers.operate(server.id, 'reboot', {}).id == server.id
    assert servers.operate(server.id, 'rebuild', {}).id == server.id


@pytest.mark.parametrize(
    'operate',
    [
        pytest.param(lambda servers: servers.get('none'), id='get'),
        pytest.param(
            lambda servers: servers.update('k', 'none', 'x', {}, {}),
            id='update',
        ),
        pytest.param(
            lambda servers: servers.operate('none', 'reboot', {}), id='reboot'
        ),
        pytest.param(
            lambda servers: servers.operate('none', 'rebuild', {}),
            id='rebuild',
        ),
        pytest.param(
            lambda servers: servers.operate('none', 'stop', {}), id='operate'
        ),
    ],
)
def test_operation_on_an_unknown_server_raises(
    servers: base.Servers, operate: Callable[[base.Servers], object]
) -> None:
    with pytest.raises(base.ServerNotFound):
        operate(servers)


def test_failures_are_decided_by_seed_key_and_operation(
    harness: Harness,
) -> None:
    def failing(seed: str) -> list[int]:
        harness.conf.set_override('failure_rate', 0.5, 'simulated')
        harness.conf.set_override('seed', seed, 'simulated')
        servers = provider(harness).servers
        failed = []
        for number in range(20):
            try:
                servers.create(f'key-{number}', 'name', {})
            except base.ProviderError:
                failed.append(number)
        return failed

    once = failing('a')
    assert 3 < len(once) < 17
    assert failing('a') == once
    assert failing('b') != once


def test_operation_takes_the_configured_latency(harness: Harness) -> None:
    harness.conf.set_override('latency', 0.05, 'simulated')
    servers = provider(harness).servers
    began = time.monotonic()
    servers.create('key', 'name', {})
    assert time.monotonic() - began >= 0.05


@pytest.mark.parametrize(
    ('wait_time', 'expected'),
    [
        (3, 3.0),
        ('2.5', 2.5),
        (10**400, 0.0),
        (1e300, 60.0),
        (-1, 0.0),
        ('nan', 0.0),
        ('soon', 0.0),
        ([1], 0.0),
        (None, 0.0),
    ],
)
def test_operation_takes_the_time_in_the_metadata(
    harness: Harness,
    monkeypatch: pytest.MonkeyPatch,
    wait_time: Any,
    expected: float,
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(state.time, 'sleep', waits.append)
    servers = provider(harness).servers
    slow = {'metadata': {'simulated_wait_time': wait_time}}
    server = servers.create('key', 'name', slow)
    servers.operate(server.id, 'reboot', {})
    servers.delete(server.id)
    assert waits == [expected] * 3
    servers.create('other', 'name', {'metadata': {}})
    assert waits[3:] == [0.0]


def test_delete_of_a_slow_server_times_out(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state.time, 'sleep', lambda _seconds: None)
    servers = provider(harness).servers
    slow = {'metadata': {'simulated_wait_time': 20}}
    server = servers.create('key', 'name', slow)
    with pytest.raises(base.ProviderError, match='not gone within 10 seconds'):
        servers.delete(server.id, timeout=10)
    servers.delete(server.id, timeout=30)


def test_server_has_fixed_and_floating_addresses(
    servers: base.Servers,
) -> None:
    networks = [
        {'network': 'blue', 'floating_network': 'public'},
        {'network': 'red', 'fixed_ip': '10.0.0.7'},
        {'network': 'red', 'floating_ip': '192.0.2.1'},
        {'network': 'six', 'fixed_ip': 'fd00::1'},
    ]
    server = servers.create('key', 'name', {'networks': networks})
    addresses = server.details['addresses']
    assert {
        name: [
            (address['OS-EXT-IPS:type'], address['version'])
            for address in network_addresses
        ]
        for name, network_addresses in addresses.items()
    } == {
        'blue': [('fixed', 4), ('floating', 4)],
        'red': [('fixed', 4), ('fixed', 4), ('floating', 4)],
        'six': [('fixed', 6)],
    }
    assert addresses['red'][0]['addr'] == '10.0.0.7'
    assert addresses['red'][2]['addr'] == '192.0.2.1'
    fixed, floating = (
        ipaddress.ip_address(address['addr']) for address in addresses['blue']
    )
    assert fixed != floating
    assert servers.get(server.id).details['addresses'] == addresses


def test_region_has_its_own_servers(any_harness: Harness) -> None:
    first = provider(any_harness)
    second = first.in_region('RegionTwo')
    server = second.servers.create('key', 'name', {})
    assert server.details['region'] == 'RegionTwo'
    assert second.servers.find('key') == server
    assert first.servers.find('key') is None
    with pytest.raises(base.ServerNotFound):
        first.servers.get(server.id)
    with pytest.raises(base.ProviderError, match='no region Mars'):
        first.in_region('Mars')


def test_lifecycle_event_is_listed_until_acknowledged(
    any_harness: Harness,
) -> None:
    cloud = provider(any_harness)
    assert cloud.lifecycle is not None
    server, other = (cloud.servers.create(key, key, {}) for key in 'ab')
    cloud.servers.operate(server.id, 'stop', {})
    cloud.servers.operate(server.id, 'start', {})
    cloud.servers.operate(other.id, 'pause', {})
    (event,) = cloud.lifecycle.of([server.id])
    assert event.type == 'compute.instance.power_off.end'
    assert len(cloud.lifecycle.of([server.id, other.id])) == 2
    cloud.lifecycle.acknowledge([event.id])
    assert cloud.lifecycle.of([server.id]) == []


def test_wait_for_the_cloud_frees_the_concurrency_slot(
    any_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(concurrency_limit, 'QUEUE_TIMEOUT', 60)
    limit = concurrency_limit.ConcurrencyLimit(1)
    entered: list[bool] = []

    def enter() -> None:
        with limit.slot():
            entered.append(True)

    def sleep(seconds: float) -> None:
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join(60)

    monkeypatch.setattr(time, 'sleep', sleep)
    with limit.slot():
        provider(any_harness).servers.create('key', 'name', {})
    assert entered
