# SPDX-License-Identifier: Apache-2.0
"""Nodes in the projects of their users.

Keystone is real. The cloud of :mod:`tests.cloud` validates each token with
Keystone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests import cloud as fake
from tests.cloud.identity import SERVICES
from tests.functional import deployments, keystone
from tests.functional.deployments import Deployment
from tests.functional.keystone import Keystone
from tests.functional.processes import wait_for
from tests.functional.rest import RestClient, action_id_of

#: User -> project.
USERS = {'web-member': 'web', 'shop-member': 'shop'}


@pytest.fixture(scope='module')
def identity(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Keystone]:
    """Keystone with a user in each of two projects."""
    with keystone.running(tmp_path_factory.mktemp('identity')) as server:
        for user, project in USERS.items():
            server.add_project(project)
            server.add_user(user, project, 'member')
        yield server


@pytest.fixture(scope='module')
def cloud(identity: Keystone) -> Iterator[fake.Cloud]:
    """A cloud that accepts tokens of Keystone and is in its catalog."""
    with fake.serving() as served:
        served.project_of = identity.project_of
        for type_, path in SERVICES.items():
            if type_ != 'identity':
                identity.add_endpoint(f'{served.url}{path}', type_, type_)
        yield served


@pytest.fixture(scope='module')
def service(
    identity: Keystone,
    cloud: fake.Cloud,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Deployment]:
    """The service with nodes in the cloud."""
    settings = {
        **identity.settings(),
        'engine': {'provider': 'openstack'},
        'provider_openstack': {
            **identity.account(),
            'region_name': keystone.REGION,
            'poll_interval': 0.1,
        },
    }
    directory = tmp_path_factory.mktemp('service')
    platform = deployments.Platform('embedded', 'sqlite')
    with deployments.deployed(platform, directory, settings) as deployment:
        deployment.start_engines(2)
        deployment.start_api()
        yield deployment


@pytest.fixture
def clients(
    service: Deployment, identity: Keystone
) -> Iterator[dict[str, RestClient]]:
    """A client of each project, with a new token."""
    all_clients = {}
    for user, project in USERS.items():
        rest = all_clients[project] = service.rest()
        token = identity.token(user, project)
        rest._session.headers['X-Auth-Token'] = token
    yield all_clients
    for rest in all_clients.values():
        rest._session.close()


@pytest.mark.long
def test_nodes_are_in_the_project_of_their_user(
    service: Deployment,
    identity: Keystone,
    cloud: fake.Cloud,
    clients: dict[str, RestClient],
) -> None:
    ids = {name: identity.id_of('projects', name) for name in clients}
    clusters: dict[str, str] = {}
    for project, rest in clients.items():
        profile = rest.create_profile()
        clusters[project] = rest.create_cluster(profile, 2)
        rest.wait_for_success(
            rest.start_action(clusters[project], 'scale_out')
        )
        nodes = rest.get(f'/v1/nodes?cluster_id={clusters[project]}')
        owners = {cloud.servers[n['physical_id']]['tenant_id'] for n in nodes}
        assert owners == {ids[project]}
    # The service used no token of the service project.
    assert {project for _line, project in cloud.scopes} == set(ids.values())
    ours = identity.id_of('users', keystone.SERVICE_USER)
    for user, project in USERS.items():
        (trust,) = identity.trusts_of(user)
        assert trust['project_id'] == ids[project]
        assert trust['trustee_user_id'] == ours
    _assert_secrets_are_hidden(service, identity, clients)

    # After the user deletes the trust, the error contains the fix.
    rest, cluster = clients['web'], clusters['web']
    (trust,) = identity.trusts_of('web-member')
    member = identity.session('web-member', 'web')
    member.delete(f'{identity.url}/OS-TRUST/trusts/{trust["id"]}')
    action = rest.wait_for_end(rest.start_action(cluster, 'scale_out'))
    assert action['status'] == 'FAILED'
    (failed,) = rest.get(f'/v1/nodes?cluster_id={cluster}&status=ERROR')
    advice = 'log in as that user and update the cluster'
    assert advice in failed['status_reason']
    path = f'/v1/clusters/{cluster}'
    body = {'cluster': {'name': 'trusted'}}
    rest.wait_for_success(action_id_of(rest.expect(202, 'PATCH', path, body)))
    rest.wait_for_success(rest.start_action(cluster, 'recover'))
    assert rest.get(path)['status'] == 'ACTIVE'
    (again,) = identity.trusts_of('web-member')
    assert again['id'] != trust['id']

    for project, rest in clients.items():
        rest.wait_for_success(rest.delete(f'/v1/clusters/{clusters[project]}'))
    assert cloud.leftovers() == {}
    assert {project for _line, project in cloud.scopes} == set(ids.values())
    service.execute("UPDATE project_trusts SET used_at = '2026-01-01'")
    wait_for(
        'the trusts that nothing uses are gone',
        lambda: not any(identity.trusts_of(user) for user in USERS),
    )
    assert service.rows('SELECT id FROM project_trusts') == []


def _assert_secrets_are_hidden(
    service: Deployment, identity: Keystone, clients: dict[str, RestClient]
) -> None:
    """Assert that logs and rows contain no token and no plain trust."""
    secret: list[Any] = [
        rest._session.headers['X-Auth-Token'] for rest in clients.values()
    ]
    secret += [t['id'] for user in USERS for t in identity.trusts_of(user)]
    sealed = [
        row.sealed for row in service.rows('SELECT * FROM project_trusts')
    ]
    assert len(sealed) == len(USERS)
    logs = [
        path.read_text(errors='replace')
        for _name, path in service.group.logs()
    ]
    for text in (*sealed, *logs):
        assert not [token for token in secret if str(token) in text]
