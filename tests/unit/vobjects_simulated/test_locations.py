# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.providers import base
from tests.unit.engine.engine_harness import Harness
from vobjects_simulated import provider


@pytest.fixture
def cloud(any_harness: Harness) -> provider.SimulatedProvider:
    any_harness.conf.set_override('hosts', 3, 'simulated')
    return provider.SimulatedProvider(any_harness.conf, any_harness.database)


def groups(cloud: provider.SimulatedProvider) -> base.ServerGroups:
    assert cloud.server_groups is not None
    return cloud.server_groups


def hosts(cloud: Any, policy: str, keys: str) -> list[str]:
    """Make a server for each key in a group; return where they are."""
    group = groups(cloud).create('g', policy)
    hint = {'scheduler_hints': {'group': group.id}}
    return [
        cloud.servers.create(key, key, hint).details['hypervisor_hostname']
        for key in keys
    ]


def test_group_is_created_once_and_found_by_name_and_id(
    cloud: provider.SimulatedProvider,
) -> None:
    server_groups = groups(cloud)
    assert server_groups.find('g') is None
    group = server_groups.create('g', 'affinity')
    assert server_groups.create('g', 'affinity') == group
    assert server_groups.find('g') == server_groups.find(group.id) == group
    with pytest.raises(base.ProviderError, match='of policy affinity'):
        server_groups.create('g', 'anti-affinity')
    server_groups.delete(group.id)
    server_groups.delete(group.id)
    assert server_groups.find('g') is None


def test_anti_affinity_separates_servers(
    cloud: provider.SimulatedProvider,
) -> None:
    assert len(set(hosts(cloud, 'anti-affinity', 'abc'))) == 3
    with pytest.raises(base.ProviderError, match='No valid host'):
        hosts(cloud, 'anti-affinity', 'd')


def test_affinity_uses_one_host(
    cloud: provider.SimulatedProvider, any_harness: Harness
) -> None:
    (first, second) = hosts(cloud, 'affinity', 'ab')
    assert first == second
    any_harness.conf.set_override('failed_hosts', [first], 'simulated')
    with pytest.raises(base.ProviderError, match='No valid host'):
        hosts(cloud, 'affinity', 'c')


@pytest.mark.parametrize('policy', ['soft-affinity', 'soft-anti-affinity'])
def test_soft_group_avoids_failed_hosts(
    cloud: provider.SimulatedProvider, any_harness: Harness, policy: str
) -> None:
    (first, *_) = hosts(cloud, policy, 'abcd')
    any_harness.conf.set_override('failed_hosts', [first], 'simulated')
    assert first not in hosts(cloud, policy, 'efgh')


def test_location_follows_properties_and_seed(
    cloud: provider.SimulatedProvider,
) -> None:
    spec = {'availability_zone': 'nova-2:host-3'}
    details = cloud.servers.create('a', 'a', spec).details
    assert details['availability_zone'] == 'nova-2'
    assert details['hypervisor_hostname'] == 'host-3'
    first = cloud.servers.create('b', 'b', {})
    cloud.servers.delete(first.id)
    again = cloud.servers.create('b', 'b', {})
    host = 'hypervisor_hostname'
    assert again.details[host] == first.details[host]
    for invalid in (
        {'availability_zone': 'moon'},
        {'scheduler_hints': {'group': 'none'}},
    ):
        with pytest.raises(base.ProviderError, match=r'there is no'):
            cloud.servers.create('c', 'c', invalid)


def test_failed_host_is_a_problem_and_gets_no_server(
    cloud: provider.SimulatedProvider, any_harness: Harness
) -> None:
    assert cloud.hosts is not None
    server = cloud.servers.create('a', 'a', {})
    assert cloud.hosts.problem(server.id) == ''
    host = server.details['hypervisor_hostname']
    any_harness.conf.set_override('failed_hosts', [host], 'simulated')
    assert cloud.hosts.problem(server.id) == f'its host {host} is down'
    for key in 'bcdef':
        created = cloud.servers.create(key, key, {})
        assert created.details['hypervisor_hostname'] != host
    with pytest.raises(base.ServerNotFound):
        cloud.hosts.problem('none')
