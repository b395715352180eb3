# SPDX-License-Identifier: Apache-2.0
"""Projects of the cloud: trusts, lost permissions and isolation."""

from __future__ import annotations

import contextlib
import pathlib
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.functional.deployments import Deployment
from tests.functional.processes import wait_for
from tests.functional.rest import RestClient
from tests.real_cloud import clustering, seeding, tenants
from tests.real_cloud.cloud import Cloud
from tests.real_cloud.clustering import Client
from tests.real_cloud.tenants import Tenant
from vobjects.clustering import consts

REASON = 'the service may not act for user'


@pytest.fixture
def other(cloud: Cloud, admin: Any) -> Iterator[Tenant]:
    """A second tenant."""
    with tenants.temporary(cloud.settings, admin) as created:
        yield created


@pytest.fixture
def others_rest(service: Deployment, other: Tenant) -> Iterator[Client]:
    """A client with a token of the second tenant."""
    with clustering.client(service, other) as client:
        yield client


@pytest.mark.core
def test_projects_do_not_reach_each_other(
    rest: Client, tenant: Tenant, others_rest: Client, other: Tenant
) -> None:
    mine = rest.create_cluster(rest.server_profile(), 1)
    theirs = others_rest.create_cluster(others_rest.server_profile(), 2)
    assert set(tenant.servers()) == set(rest.physical_ids(mine))
    assert set(other.servers()) == set(others_rest.physical_ids(theirs))
    assert len(other.trusts()) == len(tenant.trusts()) == 1

    path = f'/v1/clusters/{theirs}'
    rest.assert_missing(path)
    rest.expect(404, 'DELETE', path)
    rest.expect(404, 'POST', f'{path}/actions', {'scale_out': {}})
    (node, _) = others_rest.nodes(theirs)
    rest.assert_missing(f'/v1/nodes/{node["id"]}')
    assert [c['id'] for c in rest.get('/v1/clusters')] == [mine]

    # A profile that names a port of another project does not get it.
    (port, _) = other.ports()
    cluster, action = rest.start_cluster(
        rest.server_profile(networks=[{'port': port.id}]), 1
    )
    ended = rest.wait_for_end(action)
    assert ended['status'] == 'FAILED'
    assert port.id in ended['status_reason']
    rest.remove(cluster)

    rest.remove(mine)
    assert len(other.servers()) == 2
    others_rest.remove(theirs)
    assert tenant.leftovers() == other.leftovers() == {}


def lose_role(tenant: Tenant) -> None:
    tenant.remove_role('member')


def regain_role(tenant: Tenant) -> None:
    tenant.add_role('member')


def disable(tenant: Tenant) -> None:
    tenant.admin.identity.update_user(tenant.user_id, is_enabled=False)


def enable(tenant: Tenant) -> None:
    tenant.admin.identity.update_user(tenant.user_id, is_enabled=True)
    # Keystone revoked the tokens up to the second in which it disabled the
    # user.
    wait_for('new tokens are valid', tenant.can_authenticate)


@pytest.mark.parametrize(
    ('damage', 'repair'), [(lose_role, regain_role), (disable, enable)]
)
def test_lost_permission_fails_clearly_until_it_is_restored(
    service: Deployment,
    others_rest: Client,
    other: Tenant,
    rest: Client,
    damage: Any,
    repair: Any,
) -> None:
    """A webhook needs no token, and acts for its owner."""
    cluster = others_rest.create_cluster(others_rest.server_profile(), 1)
    receiver = {
        'name': 'hook',
        'type': 'webhook',
        'cluster_id': cluster,
        'action': 'CLUSTER_SCALE_OUT',
    }
    response = others_rest.expect(
        201, 'POST', '/v1/receivers', {'receiver': receiver}
    )
    created = response.json()['receiver']
    url = created['channel']['alarm_url'].removeprefix(service.url)
    damage(other)
    with RestClient(service.url) as anonymous:
        detail = anonymous.expect_error(403, 'POST', url)
    assert 'no longer allowed' in detail
    repair(other)
    other.reconnect()
    others_rest.authenticate(other)
    others_rest.run(cluster, 'scale_out')
    assert len(other.servers()) == 2
    others_rest.expect(204, 'DELETE', f'/v1/receivers/{created["id"]}')
    others_rest.remove(cluster)
    assert other.leftovers() == {}


def delete_project(tenant: Tenant) -> None:
    tenant.admin.identity.delete_project(tenant.project_id)


@pytest.mark.parametrize(
    'damage',
    [lose_role, disable, pytest.param(delete_project, marks=pytest.mark.core)],
)
def test_permission_lost_during_an_action_ends_it_with_the_reason(
    cloud: Cloud, admin: Any, service: Deployment, damage: Any
) -> None:
    with (
        tenants.temporary(cloud.settings, admin, is_doomed=True) as tenant,
        clustering.client(service, tenant) as rest,
    ):
        cluster = rest.create_cluster(rest.server_profile(), 1)
        # The engine acts in the cloud only after this time.
        rest.attach(cluster, 'deletion', '1.1', grace_period=4)
        action = rest.start_action(cluster, 'scale_in')
        damage(tenant)

        def end() -> Any:
            # No user may show it now.
            (row,) = service.rows(
                'SELECT status, status_reason FROM actions WHERE id = :id',
                id=action,
            )
            return row if row.status in consts.ACTION_ENDS else None

        ended = wait_for('the action has ended', end)
        assert ended.status == 'FAILED'
        assert REASON in ended.status_reason
        assert tenant.user_id in ended.status_reason


@pytest.mark.exclusive
def test_revoked_token_of_the_service_is_replaced(
    cloud: Cloud, tenant: Tenant, tmp_path: pathlib.Path
) -> None:
    identity = tenant.admin.identity
    user = identity.find_user(seeding.SERVICE_USER).id
    with (
        clustering.deployed(
            cloud.settings, tmp_path, allowed_errors='eystone'
        ) as service,
        clustering.client(service, tenant) as rest,
    ):
        cluster = rest.create_cluster(rest.server_profile(), 2)
        # The engine acts in the cloud only after this time.
        rest.attach(cluster, 'deletion', '1.1', grace_period=6)
        action = rest.start_action(cluster, 'scale_in')
        identity.update_user(user, is_enabled=False)
        # Keystone revokes the tokens up to the end of this second.
        end = int(time.time()) + 1
        wait_for('the second is over', lambda: time.time() > end)
        identity.update_user(user, is_enabled=True)
        wait_for(
            'the API validates tokens again',
            lambda: rest.request('GET', '/v1/clusters').status_code == 200,
        )
        rest.wait_for_success(action)
        assert set(tenant.servers()) == set(rest.physical_ids(cluster))
        assert len(tenant.servers()) == 1
        rest.remove(cluster)
    assert tenant.leftovers() == {}


#: Seconds for which the tokens of a test are valid. keystoneauth no longer
#: uses a token in its last 30 seconds.
LIFETIME = 36


@contextlib.contextmanager
def short_tokens(cloud: Cloud) -> Iterator[None]:
    """Let Keystone issue tokens with a short lifetime."""
    path = cloud.settings.etc('keystone') / 'keystone.conf'
    content = path.read_text()
    changed, count = re.subn(
        '^expiration = .*$', f'expiration = {LIFETIME}', content, flags=re.M
    )
    assert count == 1

    def restart(text: str) -> None:
        path.write_text(text)
        cloud.processes.stop('keystone-api')
        cloud.processes.start('keystone-api')
        cloud.processes.wait_until_ready('keystone-api')

    try:
        restart(changed)
        yield
    finally:
        restart(content)


@pytest.mark.exclusive
def test_token_that_expires_during_an_action_is_replaced(
    cloud: Cloud, admin: Any, tmp_path: pathlib.Path
) -> None:
    with (
        short_tokens(cloud),
        tenants.temporary(cloud.settings, admin) as tenant,
        clustering.deployed(cloud.settings, tmp_path) as service,
        clustering.client(service, tenant) as rest,
    ):
        cluster = rest.create_cluster(rest.server_profile(), 2)
        rest.authenticate(tenant)
        rest.attach(cluster, 'deletion', '1.1', grace_period=LIFETIME + 1)
        action = rest.start_action(cluster, 'scale_in')

        def has_succeeded() -> bool:
            # The token of the client expires, too.
            (row,) = service.rows(
                'SELECT status FROM actions WHERE id = :id', id=action
            )
            assert row.status != 'FAILED'
            return bool(row.status == 'SUCCEEDED')

        wait_for('the action has succeeded', has_succeeded)
        rest.authenticate(tenant)
        assert set(tenant.servers()) == set(rest.physical_ids(cluster))
        assert len(tenant.servers()) == 1
        (policy,) = rest.get(f'/v1/clusters/{cluster}')['policies']
        rest.authenticate(tenant)
        rest.run(cluster, 'policy_detach', policy_id=policy)
        rest.authenticate(tenant)
        rest.remove(cluster)
