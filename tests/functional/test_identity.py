# SPDX-License-Identifier: Apache-2.0
"""Authentication and authorization with a real Keystone."""

from __future__ import annotations

import datetime
import json
import os
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import openstack
import openstack.connection
import pytest
import requests
from keystoneauth1.identity import v3

from tests import sdk_warnings
from tests.functional import deployments, keystone
from tests.functional.deployments import Deployment
from tests.functional.keystone import Keystone
from tests.functional.processes import TIMEOUT, wait_for
from tests.functional.rest import NEWEST, SPEC, RestClient, unique
from tests.programs import run_program

pytestmark = sdk_warnings.IGNORED


@pytest.fixture(scope='module')
def identity(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Keystone]:
    """Keystone with users in two projects, named by project and role."""
    directory = tmp_path_factory.mktemp('identity')
    with keystone.running(directory) as server:
        for project in ('web', 'shop'):
            server.add_project(project)
            for role in ('reader', 'member', 'admin'):
                server.add_user(f'{project}-{role}', project, role)
        yield server


@pytest.fixture(scope='module')
def service(
    identity: Keystone, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """The service, with an endpoint in the catalog."""
    directory = tmp_path_factory.mktemp('service')
    platform = deployments.Platform('embedded', 'sqlite')
    with deployments.deployed(
        platform, directory, identity.settings()
    ) as deployment:
        identity.add_endpoint(deployment.url)
        deployment.start_engines(1)
        deployment.start_api()
        yield deployment


def connect(
    identity: Keystone, user: str, project: str
) -> openstack.connection.Connection:
    return openstack.connect(
        load_envvars=False,
        load_yaml_config=False,
        auth_type='password',
        auth={
            'auth_url': identity.url,
            'username': user,
            'password': user,
            'user_domain_id': 'default',
            'project_name': project,
            'project_domain_id': 'default',
        },
        region_name=keystone.REGION,
        clustering_default_microversion=NEWEST,
    )


class Clients:
    """Create clients with tokens of users."""

    def __init__(self, service: Deployment, identity: Keystone) -> None:
        self._service = service
        self._identity = identity
        self.clients: list[RestClient] = []

    def __call__(self, user: str, project: str | None = None) -> RestClient:
        """Return a client.

        :param project: default: the first part of the user's name
        """
        project = project or user.partition('-')[0]
        return self.with_token(self._identity.token(user, project))

    def with_token(self, token: str) -> RestClient:
        """Return a client that sends a token."""
        rest = self._service.rest()
        rest._session.headers['X-Auth-Token'] = token
        self.clients.append(rest)
        return rest


@pytest.fixture(name='as_')
def clients(service: Deployment, identity: Keystone) -> Iterator[Clients]:
    """Clients of the service."""
    all_clients = Clients(service, identity)
    yield all_clients
    for rest in all_clients.clients:
        rest._session.close()


def test_openstack_command_works_with_user_and_password(
    service: Deployment, identity: Keystone, tmp_path: pathlib.Path
) -> None:
    name = unique('osc')
    with connect(identity, 'web-member', 'web') as cloud:
        profile = cloud.clustering.create_profile(name=name, spec=SPEC)
        cloud.clustering.create_cluster(name=name, profile_id=profile.id)
    result = run_program(
        [
            pathlib.Path(sys.executable).with_name('openstack'),
            *('cluster', 'list', '--format', 'json'),
        ],
        env={
            'HOME': str(tmp_path),
            'PATH': os.environ['PATH'],
            'OS_AUTH_URL': identity.url,
            'OS_USERNAME': 'web-reader',
            'OS_PASSWORD': 'web-reader',
            'OS_PROJECT_NAME': 'web',
            'OS_USER_DOMAIN_ID': 'default',
            'OS_PROJECT_DOMAIN_ID': 'default',
            'OS_IDENTITY_API_VERSION': '3',
        },
        timeout=TIMEOUT,
    )
    assert result.returncode == 0, result.stderr
    assert name in [profile['name'] for profile in json.loads(result.stdout)]


def test_unauthenticated_client_gets_versions_and_the_keystone_url(
    service: Deployment, identity: Keystone, as_: Clients
) -> None:
    with service.rest() as nobody:
        assert nobody.request('GET', '/').status_code == 300
        assert nobody.request('GET', '/v1').status_code == 200
        assert nobody.request('GET', '/v1/').status_code == 200
        responses = [nobody.request('GET', '/v1/clusters')]
    for token in ('no-token', 'gAAAAABk' + 'A' * 200):
        responses.append(as_.with_token(token).request('GET', '/v1/clusters'))
    spoofing = {'X-User-Id': 'u', 'X-Project-Id': 'p', 'X-Roles': 'admin'}
    spoofing['X-Identity-Status'] = 'Confirmed'
    responses.append(
        service.rest().request('GET', '/v1/services', headers=spoofing)
    )
    for response in responses:
        assert response.status_code == 401
        challenge = response.headers['WWW-Authenticate']
        assert challenge == f'Keystone uri="{identity.url}"'
        assert response.json()['error']['code'] == 401


def test_token_is_valid_until_it_expires(
    identity: Keystone, as_: Clients
) -> None:
    expires = datetime.datetime.now(datetime.UTC) + datetime.timedelta(
        seconds=8
    )
    member = identity.session('web-member', 'web')
    created = member.post(
        f'{identity.url}/users/{member.get_user_id()}/application_credentials',
        json={
            'application_credential': {
                'name': unique('credential'),
                'expires_at': f'{expires:%Y-%m-%dT%H:%M:%S.%fZ}',
            }
        },
    ).json()['application_credential']
    plugin = v3.ApplicationCredential(
        identity.url,
        application_credential_id=created['id'],
        application_credential_secret=created['secret'],
    )
    rest = as_.with_token(identity.token_of(plugin))

    status = rest.request('GET', '/v1/clusters').status_code
    late = datetime.datetime.now(datetime.UTC) > expires
    assert status == 200 or late
    wait_for(
        'the token expires although it is cached',
        lambda: rest.request('GET', '/v1/clusters').status_code == 401,
    )
    as_('web-member').expect(200, 'GET', '/v1/clusters')


def test_roles_are_reader_member_and_admin(as_: Clients) -> None:
    reader, member, admin = (
        as_(f'web-{role}') for role in ('reader', 'member', 'admin')
    )
    body = {'profile': {'name': unique('p'), 'spec': SPEC}}
    for path in ('/v1/profiles', '/v1/clusters', '/v1/build-info'):
        for client in (reader, member, admin):
            client.expect(200, 'GET', path)
    detail = reader.expect_error(403, 'POST', '/v1/profiles', body)
    assert 'profiles:create' in detail
    for client in (member, admin):
        client.expect(201, 'POST', '/v1/profiles', body)
    for client in (reader, member):
        client.expect_error(403, 'GET', '/v1/services')
        detail = client.expect_error(
            403, 'GET', '/v1/clusters?global_project=true'
        )
        assert 'global_project' in detail
    admin.expect(200, 'GET', '/v1/services')
    admin.expect(200, 'GET', '/v1/clusters?global_project=true')


def _receiver(rest: RestClient, cluster: str) -> dict[str, Any]:
    """Return a new receiver that scales out a cluster."""
    body = {
        'receiver': {
            'name': unique('r'),
            'type': 'webhook',
            'cluster_id': cluster,
            'action': 'CLUSTER_SCALE_OUT',
        }
    }
    document = rest.expect(201, 'POST', '/v1/receivers', body).json()
    receiver: dict[str, Any] = document['receiver']
    return receiver


def test_webhook_acts_for_its_owner_while_the_owner_has_a_role(
    service: Deployment, identity: Keystone, as_: Clients
) -> None:
    owner = 'web-' + unique('owner')
    identity.add_user(owner, 'web', 'member')
    rest = as_(owner)
    cluster = rest.create_cluster(rest.create_profile(), 0)
    receiver = _receiver(rest, cluster)
    (trust,) = identity.trusts_of(owner)
    assert trust['impersonation'] is True
    url = receiver['channel']['alarm_url']

    # The caller needs no token.
    response = requests.post(url, timeout=TIMEOUT)
    assert response.status_code == 202, response.text
    action = rest.wait_for_success(response.json()['action'])
    assert action['user'] == identity.id_of('users', owner)

    identity.assign('DELETE', owner, 'web', 'member')
    response = requests.post(url, timeout=TIMEOUT)
    assert response.status_code == 403, response.text
    identity.assign('PUT', owner, 'web', 'member')
    assert requests.post(url, timeout=TIMEOUT).status_code in (202, 409)

    # Database, responses and logs contain neither trust nor token.
    (credential,) = _credentials_of(service, receiver['id'])
    token = str(rest._session.headers['X-Auth-Token'])
    for text in (credential.sealed, json.dumps(receiver), *_logs(service)):
        assert trust['id'] not in text
        assert token not in text
    # Another member may delete it, which deletes the trust.
    as_('web-member').expect(204, 'DELETE', f'/v1/receivers/{receiver["id"]}')
    assert identity.trusts_of(owner) == []
    assert _credentials_of(service, receiver['id']) == []

    _receiver(rest, cluster)
    assert len(identity.trusts_of(owner)) == 1
    rest.wait_for_success(
        rest.delete(f'/v1/clusters/{cluster}', {'force': True})
    )
    wait_for(
        'the trust of a receiver that went with its cluster is gone',
        lambda: identity.trusts_of(owner) == [],
    )


def _credentials_of(service: Deployment, receiver: str) -> Any:
    return service.rows(
        'SELECT sealed FROM receiver_credentials WHERE receiver_id = :id',
        id=receiver,
    )


def _logs(service: Deployment) -> Iterator[str]:
    for _name, path in service.group.logs():
        yield path.read_text(errors='replace')
