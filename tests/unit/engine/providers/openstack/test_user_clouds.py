# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from keystoneauth1.identity import v3

from engine.providers import base
from engine.providers.openstack import connection, provider, user_clouds
from tests import cloud as fake

pytestmark = fake.IGNORE_SDK_WARNINGS


def authorization(cloud: fake.Cloud, project: str) -> base.Authorization:
    """Return the right to act in a project, by a trust that is there."""
    cloud.trusts[project] = {'trustor_user_id': 'x', 'project_id': project}
    auth = v3.Password(
        f'{cloud.url}/identity/v3',
        username=fake.USER,
        password=fake.PASSWORD,
        user_domain_id='d',
        trust_id=project,
    )
    return base.Authorization(project, auth)


@pytest.fixture
def root(conf: Any) -> provider.OpenStackProvider:
    cloud = connection.Cloud.configured(conf)
    return provider.OpenStackProvider(conf, cloud)


def create(found: base.Provider, key: str) -> str:
    properties = {'flavor': '1', 'image': 'cirros'}
    return found.servers.create(key, 'web', properties).id


def test_projects_see_their_own_servers(
    root: provider.OpenStackProvider, cloud: fake.Cloud
) -> None:
    found = user_clouds.UserClouds(root)
    web = found(authorization(cloud, 'web'))
    shop = found(authorization(cloud, 'shop'))
    server = create(web, 'key')
    assert shop.servers.find('key') is None
    with pytest.raises(base.ServerNotFound):
        shop.servers.get(server)
    assert web.in_region('RegionTwo').servers.get(server).id == server
    with pytest.raises(base.ServerNotFound):
        shop.in_region('RegionTwo').servers.get(server)


def test_only_some_are_remembered(
    root: provider.OpenStackProvider, cloud: fake.Cloud
) -> None:
    found = user_clouds.UserClouds(root, max_cached=2)
    one, two, three = (authorization(cloud, name) for name in ('a', 'b', 'c'))
    first, second = found(one), found(two)
    assert found(one) is first
    found(three)
    assert found(one) is first
    assert found(two) is not second
    # One that is used yet works, too.
    assert second.servers.find('key') is None


def test_one_that_is_not_let_in_is_told(
    root: provider.OpenStackProvider, cloud: fake.Cloud
) -> None:
    one = authorization(cloud, 'web')
    cloud.trusts.clear()
    with pytest.raises(base.ProviderError, match='authenticate: 404'):
        user_clouds.UserClouds(root)(one)


def test_hypervisor_is_asked_for_by_the_account(
    root: provider.OpenStackProvider, cloud: fake.Cloud
) -> None:
    web = user_clouds.UserClouds(root)(authorization(cloud, 'web'))
    server = create(web, 'key')
    assert web.hosts is not None
    cloud.scopes.clear()
    assert web.hosts.problem(server) == ''
    assert cloud.scopes == [
        (f'GET /compute/v2.1/servers/{server}', 'web'),
        (f'GET /compute/v2.1/servers/{server}', fake.OWN_PROJECT),
        ('GET /compute/v2.1/os-hypervisors', fake.OWN_PROJECT),
    ]
    # Whether it is there is for its owner to say.
    cloud.servers[server]['tenant_id'] = 'shop'
    with pytest.raises(base.ServerNotFound):
        web.hosts.problem(server)
