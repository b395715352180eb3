# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from keystoneauth1.identity import v3

from engine.providers import base
from engine.providers.openstack import connection, provider
from tests import cloud as fake
from tests import sdk_warnings

pytestmark = sdk_warnings.IGNORED


def authorization(cloud: fake.Cloud, project: str) -> base.Authorization:
    """Return an authorization for a project, with a new trust."""
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
    return provider.OpenStackProvider(base.load_containers(conf), cloud)


def create(provider_: base.Provider, key: str) -> str:
    properties = {'flavor': '1', 'image': 'cirros'}
    return provider_.servers.create(key, 'web', properties).id


def test_projects_see_their_own_servers(
    root: provider.OpenStackProvider, cloud: fake.Cloud
) -> None:
    clouds = provider.UserClouds(root)
    web = clouds(authorization(cloud, 'web'))
    shop = clouds(authorization(cloud, 'shop'))
    server = create(web, 'key')
    assert shop.servers.find('key') is None
    with pytest.raises(base.ServerNotFound):
        shop.servers.get(server)
    assert web.in_region('RegionTwo').servers.get(server).id == server
    with pytest.raises(base.ServerNotFound):
        shop.in_region('RegionTwo').servers.get(server)


def test_providers_are_cached_up_to_a_limit(
    root: provider.OpenStackProvider, cloud: fake.Cloud
) -> None:
    clouds = provider.UserClouds(root, max_cached=2)
    first_authorization, second_authorization, third_authorization = (
        authorization(cloud, name) for name in ('a', 'b', 'c')
    )
    first, second = clouds(first_authorization), clouds(second_authorization)
    assert clouds(first_authorization) is first
    clouds(third_authorization)
    assert clouds(first_authorization) is first
    assert clouds(second_authorization) is not second
    # A provider that is no longer cached still works.
    assert second.servers.find('key') is None


def test_rejected_authorization_is_reported(
    root: provider.OpenStackProvider, cloud: fake.Cloud
) -> None:
    authorization_ = authorization(cloud, 'web')
    cloud.trusts.clear()
    with pytest.raises(base.ProviderError, match='authenticate: 404'):
        provider.UserClouds(root)(authorization_)


def test_hypervisor_is_read_by_the_services_account(
    root: provider.OpenStackProvider, cloud: fake.Cloud
) -> None:
    web = provider.UserClouds(root)(authorization(cloud, 'web'))
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
