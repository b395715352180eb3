# SPDX-License-Identifier: Apache-2.0
"""Error responses of each operation that the API reference lists.

``fails`` in ``doc/source/api_reference.yaml`` lists the statuses. These tests
cause each status in the same way for all operations; ``test_api_reference``
covers errors of single operations. Error types and messages are Senlin's.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
import sqlalchemy

from tests import api_sig
from tests.api_reference import DISCOVERY, OPERATIONS, Operation
from tests.functional import deployments, endpoints
from tests.functional.deployments import Deployment, Platform, deployed
from tests.functional.processes import TIMEOUT
from tests.functional.rest import SPEC, RestClient, action_id_of

#: An admin, and a user without any permission.
ADMIN, UNPRIVILEGED = 'root', 'eve'

#: Name of two resources of each kind.
AMBIGUOUS = 'ambiguous'

#: Kinds of resources with two of that name.
NAMED = ('profiles', 'policies', 'clusters', 'nodes', 'receivers')

#: Errors that other tests cover.
COVERED_ELSEWHERE = {
    # The owner has lost its role: test_identity.
    ('Trigger webhook action', 403),
    # Resources in use and running actions: test_api_reference.
    *((operation.operation, 409) for operation in OPERATIONS),
    # No engine: test_crash.
    *((operation.operation, 503) for operation in OPERATIONS),
}

LISTED = [
    pytest.param(operation, status, id=f'{operation.operation}-{status}')
    for operation in OPERATIONS
    if operation.path not in DISCOVERY
    for status in operation.fails
    if (operation.operation, status) not in COVERED_ELSEWHERE
]


class ErrorClient:
    """Send requests that cause errors."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._clients = contextlib.ExitStack()
        self._admin = self.as_user(ADMIN)
        _create_ambiguous(self._admin)

    def as_user(self, name: str) -> RestClient:
        """Return a client for a user; empty: without credentials."""
        rest = self._deployment.rest()
        if name:
            rest._session.auth = (name, name)
        return self._clients.enter_context(rest)

    def close(self) -> None:
        """Close the connections."""
        self._clients.close()

    def unknown(self, operation: Operation) -> requests.Response:
        """Name a resource that does not exist."""
        return self._ask(self._admin, operation, endpoints.MISSING_ID)

    def ambiguous(self, operation: Operation) -> requests.Response:
        """Use a name that two resources have."""
        return self._ask(self._admin, operation, AMBIGUOUS)

    def malformed(self, operation: Operation) -> requests.Response:
        """Send an unknown field or query parameter."""
        path, body = _filled(operation, endpoints.MISSING_ID)
        if operation.method in ('GET', 'DELETE') or body is None:
            path = endpoints.with_query(path, 'bogus=1')
        elif 'trigger' in path:
            path = path.replace('V=2', 'V=x')
        else:
            body = {**body, 'bogus': 1}
        return self._admin.request(operation.method, path, body)

    def by(self, name: str, operation: Operation) -> requests.Response:
        """Send a request as a user."""
        return self._ask(self.as_user(name), operation, endpoints.MISSING_ID)

    def _ask(
        self, rest: RestClient, operation: Operation, identity: str
    ) -> requests.Response:
        path, body = _filled(operation, identity)
        return rest.request(operation.method, path, body)


@pytest.fixture(scope='module')
def client(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ErrorClient]:
    """A client of a service with an admin and an unprivileged user."""
    directory = tmp_path_factory.mktemp('errors')
    users = directory / 'users'
    passwords = {ADMIN: ADMIN, UNPRIVILEGED: UNPRIVILEGED}
    deployments.write_users(users, **passwords)
    rules = directory / 'policy.yaml'
    rules.write_text(
        'member_or_above: rule:context_is_admin\n'
        'reader_or_above: rule:context_is_admin\n'
    )
    settings = {
        'api': {'auth_strategy': 'http_basic', 'http_basic_admins': ADMIN},
        'oslo_middleware': {'http_basic_auth_user_file': users},
        'oslo_policy': {'policy_file': rules},
    }
    platform = deployments.Platform('embedded', 'sqlite')
    with deployments.deployed(platform, directory, settings) as deployment:
        deployment.start_engines(1)
        deployment.start_api()
        client = ErrorClient(deployment)
        yield client
        client.close()


def _create_ambiguous(rest: RestClient) -> None:
    """Create two resources of each kind with the same name."""
    for _ in range(2):
        ids: dict[str, str] = {}
        for kind in NAMED:
            body = {_key(kind): {'name': AMBIGUOUS, **_content(kind, ids)}}
            response = rest.request('POST', f'/v1/{kind}', body)
            assert response.status_code in (201, 202), response.text
            if response.status_code == 202:
                rest.wait_for_success(action_id_of(response))
            ids[kind] = response.json()[_key(kind)]['id']


def _content(kind: str, ids: dict[str, str]) -> dict[str, Any]:
    if kind in ('profiles', 'policies'):
        return {'spec': endpoints.VALUES_BY_RESOURCE[kind, 'spec']}
    if kind == 'receivers':
        return {
            'type': 'webhook',
            'cluster_id': ids['clusters'],
            'action': 'CLUSTER_SCALE_OUT',
        }
    return {'profile_id': ids['profiles']}


def _key(kind: str) -> str:
    return 'policy' if kind == 'policies' else kind.removesuffix('s')


def _filled(operation: Operation, identity: str) -> tuple[str, Any]:
    """Return path and body with an identity in all placeholders."""
    path = re.sub(r'\{\w+\}', identity, operation.path)
    for kind in ('profile', 'policy'):
        path = re.sub(
            f'/{kind}-types/[^/]+', f'/{kind}-types/{identity}', path
        )
    if operation.query and operation.method != 'GET':
        path += f'?{operation.query}'
    text = json.dumps(operation.body)
    return path, json.loads(re.sub(r'\{\w+\}', endpoints.MISSING_ID, text))


def _kind(operation: Operation) -> str:
    """Return the kind of resource in error messages of a path."""
    kind = operation.path.split('/')[2]
    if kind == 'webhooks':
        return 'receiver'
    return _key(kind).replace('-', '_')


def _type_and_message(response: requests.Response) -> tuple[str, str]:
    error = response.json()['error']
    assert error['code'] == response.status_code
    return error['type'], error['message']


def _not_found(client: ErrorClient, operation: Operation) -> None:
    response = client.unknown(operation)
    assert response.status_code == 404, response.text
    kind = _kind(operation)
    assert _type_and_message(response) == (
        'ResourceNotFound',
        f"The {kind} '{endpoints.MISSING_ID}' could not be found.",
    )


def _bad_request(client: ErrorClient, operation: Operation) -> None:
    response = client.malformed(operation)
    assert response.status_code == 400, response.text
    assert _type_and_message(response)[0] == 'HTTPBadRequest'
    if '{' in operation.path and operation.path.split('/')[2] in NAMED:
        response = client.ambiguous(operation)
        assert response.status_code == 400, response.text
        assert _type_and_message(response) == (
            'MultipleChoices',
            'Multiple results found matching the query criteria'
            f" '{AMBIGUOUS}'. Please be more specific.",
        )


def _unauthorized(client: ErrorClient, operation: Operation) -> None:
    response = client.by('', operation)
    assert response.status_code == 401, response.text
    assert response.headers['WWW-Authenticate']
    assert _type_and_message(response)[0] == 'HTTPUnauthorized'


def _forbidden(client: ErrorClient, operation: Operation) -> None:
    response = client.by(UNPRIVILEGED, operation)
    assert response.status_code == 403, response.text
    assert _type_and_message(response) == (
        'Forbidden',
        'You are not authorized to complete this operation.',
    )


CHECKS: dict[int, Callable[[ErrorClient, Operation], None]] = {
    400: _bad_request,
    401: _unauthorized,
    403: _forbidden,
    404: _not_found,
}


@pytest.mark.parametrize(('operation', 'status'), LISTED)
def test_operation_fails_as_the_reference_lists(
    client: ErrorClient, operation: Operation, status: int
) -> None:
    CHECKS[status](client, operation)


def test_exception_in_an_engine_does_not_leak_to_clients(
    tmp_path: pathlib.Path,
) -> None:
    platform, debug = (
        Platform('embedded', 'sqlite'),
        {'DEFAULT': {'debug': True}},
    )
    # The processes may log anything about the error.
    with deployed(platform, tmp_path, debug, allowed_errors='.') as deployment:
        deployment.start_engines(1)
        deployment.start_api()
        engine = sqlalchemy.create_engine(deployment.database_url)
        with engine.begin() as connection:
            connection.execute(
                sqlalchemy.text('ALTER TABLE profiles RENAME TO lost')
            )
        engine.dispose()
        profile = {'profile': {'name': 'p', 'spec': SPEC}}
        for method, path, body in (
            ('GET', '/v1/profiles', None),
            ('GET', '/v1/profiles/p', None),
            ('POST', '/v1/profiles', profile),
        ):
            response = requests.request(
                method, deployment.url + path, json=body, timeout=TIMEOUT
            )
            assert response.status_code == 500
            api_sig.assert_error_document(
                response.json(), 500, response.headers
            )
            shown = f'{response.headers} {response.text}'
            for word in ('Traceback', 'sqlite', 'lost', 'no such', '.py'):
                assert word not in shown
