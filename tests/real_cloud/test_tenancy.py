# SPDX-License-Identifier: Apache-2.0
"""Projects of the cloud: trusts, lost permissions and isolation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.functional.deployments import Deployment
from tests.functional.processes import wait_for
from tests.functional.rest import RestClient
from tests.real_cloud import clustering, tenants
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


@pytest.mark.parametrize('damage', [lose_role, disable, delete_project])
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
