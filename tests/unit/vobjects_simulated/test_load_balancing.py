# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from engine.providers import base, load_balancing
from tests.unit.engine.engine_harness import Harness
from vobjects_simulated import provider, tables

SPEC = load_balancing.Spec(
    name='lb',
    vip={'subnet': 'public-subnet', 'protocol_port': 80},
    pool={'subnet': 'private-subnet', 'protocol_port': 8080},
    monitor={'type': 'HTTP'},
)


@pytest.fixture
def cloud(any_harness: Harness) -> provider.SimulatedProvider:
    return provider.SimulatedProvider(any_harness.conf, any_harness.database)


@pytest.fixture
def balancers(
    cloud: provider.SimulatedProvider,
) -> load_balancing.LoadBalancers:
    assert cloud.load_balancers is not None
    return cloud.load_balancers


def add(balancers: Any, balancer: load_balancing.Balancer, server: str) -> str:
    member_id: str = balancers.add_member(
        balancer, server, port=8080, subnet='private-subnet', timeout=60
    )
    return member_id


def test_balancer_of_a_key_is_created_once(
    balancers: load_balancing.LoadBalancers,
) -> None:
    balancer = balancers.create('key', SPEC, timeout=60)
    assert balancers.create('key', SPEC, timeout=60) == balancer
    assert balancer.vip_address is not None
    assert (
        balancers.get('lb', balancer.pool_id, balancer.monitor_id) == balancer
    )
    for name, pool, monitor in (
        ('none', balancer.pool_id, None),
        (balancer.id, 'none', None),
        (balancer.id, balancer.pool_id, 'none'),
    ):
        with pytest.raises(base.ProviderError, match='none'):
            balancers.get(name, pool, monitor)


def test_members_are_added_and_removed(
    balancers: load_balancing.LoadBalancers,
    cloud: provider.SimulatedProvider,
    any_harness: Harness,
) -> None:
    balancer = balancers.create('key', SPEC, timeout=60)
    servers = [cloud.servers.create(key, key, {}).id for key in 'ab']
    members = [add(balancers, balancer, server) for server in servers]
    assert add(balancers, balancer, servers[0]) == members[0]
    assert any_harness.count(tables.SimulatedPart) == 3
    for _ in range(2):
        balancers.remove_member(balancer, members[0], timeout=60)
    assert any_harness.count(tables.SimulatedPart) == 2
    with pytest.raises(base.ServerNotFound):
        add(balancers, balancer, 'none')
    for _ in range(2):
        balancers.delete(balancer, timeout=60)
    assert any_harness.count(tables.SimulatedPart) == 0
    with pytest.raises(base.ProviderError, match='is gone'):
        add(balancers, balancer, servers[0])


@pytest.mark.parametrize(
    ('changes', 'resource'),
    [
        ({'vip': {'subnet': 'moon'}}, 'subnet moon'),
        ({'vip': {'network': 'moon'}}, 'network moon'),
        ({'pool': {'subnet': 'moon'}}, 'subnet moon'),
        ({'availability_zone': 'moon'}, 'availability zone moon'),
        ({'flavor_id': 'moon'}, 'flavor moon'),
    ],
)
def test_spec_with_an_unknown_resource_is_rejected(
    balancers: load_balancing.LoadBalancers,
    changes: dict[str, Any],
    resource: str,
) -> None:
    with pytest.raises(base.ProviderError, match=f'there is no {resource}'):
        balancers.create(
            'key', dataclasses.replace(SPEC, **changes), timeout=1
        )


def test_balancer_that_is_too_slow_fails(
    balancers: load_balancing.LoadBalancers, any_harness: Harness
) -> None:
    any_harness.conf.set_override('latency', 5.0, 'simulated')
    with pytest.raises(base.ProviderError, match='within 1 seconds'):
        balancers.create('key', SPEC, timeout=1)
