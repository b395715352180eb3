# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from engine.providers import base
from tests import cloud as fake
from tests import sdk_warnings

pytestmark = sdk_warnings.IGNORED


def test_server_group_is_created_once_and_found(
    provider: base.Provider, cloud: fake.Cloud
) -> None:
    groups = provider.server_groups
    assert groups is not None
    assert groups.find('together') is None
    server_group = groups.create('together', 'affinity')
    assert groups.create('together', 'affinity') == server_group
    assert (
        groups.find(server_group.id) == groups.find('together') == server_group
    )
    with pytest.raises(base.ProviderError, match='of policy affinity'):
        groups.create('together', 'anti-affinity')
    groups.delete(server_group.id)
    groups.delete(server_group.id)
    assert cloud.server_groups == {}


def test_zones_are_the_available_ones(provider: base.Provider) -> None:
    assert provider.places is not None
    assert provider.places.zones() == ['nova', 'nova-2']


def test_regions_come_from_the_catalog(
    provider: base.Provider, cloud: fake.Cloud
) -> None:
    assert provider.places is not None
    assert provider.places.regions() == ['RegionOne', 'RegionTwo']
    second_region = provider.in_region('RegionTwo')
    assert second_region.servers.find('key') is None
    assert provider.in_region('RegionTwo') is second_region
    with pytest.raises(base.ProviderError, match='no region Nowhere'):
        provider.in_region('Nowhere')


@pytest.mark.parametrize(
    ('name', 'problem'),
    [
        ('host-1', ''),
        ('host-2', 'its hypervisor host-2 is down'),
        ('host-3', 'its hypervisor host-3 is disabled'),
        ('host-4', 'its hypervisor host-4 is gone'),
    ],
)
def test_problem_of_a_hypervisor_is_reported(
    provider: base.Provider, cloud: fake.Cloud, name: str, problem: str
) -> None:
    properties = {'flavor': '1', 'image': 'cirros'}
    server = provider.servers.create('key', 'web', properties)
    cloud.servers[server.id]['OS-EXT-SRV-ATTR:hypervisor_hostname'] = name
    assert provider.hosts is not None
    assert provider.hosts.problem(server.id) == problem


def test_hypervisor_when_nova_hides_it_is_an_error(
    provider: base.Provider, cloud: fake.Cloud
) -> None:
    properties = {'flavor': '1', 'image': 'cirros'}
    server = provider.servers.create('key', 'web', properties)
    del cloud.servers[server.id]['OS-EXT-SRV-ATTR:hypervisor_hostname']
    assert provider.hosts is not None
    with pytest.raises(base.ProviderError, match='does not say'):
        provider.hosts.problem(server.id)
    with pytest.raises(base.ServerNotFound):
        provider.hosts.problem('none')
