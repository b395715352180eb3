# SPDX-License-Identifier: Apache-2.0
"""Each operation refused with every status that the API reference lists.

``fails`` in ``doc/source/api_reference.yaml`` says with which. What a status
takes to come is the same for all operations; what one alone refuses is asked
by ``test_api_reference``. Type and message of an error are Senlin's.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import bcrypt
import pytest
import requests
import sqlalchemy

from tests.api_reference import DISCOVERY, OPERATIONS, Operation
from tests.functional import deployments, endpoints
from tests.functional.deployments import Deployment, Platform, deployed
from tests.functional.processes import TIMEOUT
from tests.functional.rest import SPEC, RestClient, action_id_of
from vobjects.testing import api_sig

#: An admin, and one who may not even look.
ADMIN, STRANGER = 'root', 'eve'

#: Name of two resources of each kind that has names.
TWICE = 'twice'

#: Kinds of which there are two of that name.
NAMED = ('profiles', 'policies', 'clusters', 'nodes', 'receivers')

#: What takes more than one request to come.
ELSEWHERE = {
    # Of one who may not act for its owner any more: test_identity.
    ('Trigger webhook action', 403),
    # Of what is used or being done: test_api_reference.
    *((one.operation, 409) for one in OPERATIONS),
    # When no engine is there: test_crash.
    *((one.operation, 503) for one in OPERATIONS),
}

LISTED = [
    pytest.param(one, status, id=f'{one.operation}-{status}')
    for one in OPERATIONS
    if one.path not in DISCOVERY
    for status in one.fails
    if (one.operation, status) not in ELSEWHERE
]


class Asking:
    """Asks operations as somebody, each in a way that a status follows."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._made = contextlib.ExitStack()
        self._admin = self.who(ADMIN)
        _make_twins(self._admin)

    def who(self, name: str) -> RestClient:
        """Return a client of a user; empty: of nobody."""
        rest = self._deployment.rest()
        if name:
            rest._session.auth = (name, name)
        return self._made.enter_context(rest)

    def close(self) -> None:
        """Close the connections."""
        self._made.close()

    def unknown(self, operation: Operation) -> requests.Response:
        """Name nothing that exists."""
        return self._ask(self._admin, operation, endpoints.MISSING_ID)

    def twice(self, operation: Operation) -> requests.Response:
        """Name two things at once."""
        return self._ask(self._admin, operation, TWICE)

    def malformed(self, operation: Operation) -> requests.Response:
        """Give what no operation knows."""
        path, body = _filled(operation, endpoints.MISSING_ID)
        if operation.method in ('GET', 'DELETE') or body is None:
            path = endpoints.with_query(path, 'bogus=1')
        elif 'trigger' in path:
            path = path.replace('V=2', 'V=x')
        else:
            body = {**body, 'bogus': 1}
        return self._admin.request(operation.method, path, body)

    def by(self, name: str, operation: Operation) -> requests.Response:
        """Ask as a user."""
        return self._ask(self.who(name), operation, endpoints.MISSING_ID)

    def _ask(
        self, rest: RestClient, operation: Operation, identity: str
    ) -> requests.Response:
        path, body = _filled(operation, identity)
        return rest.request(operation.method, path, body)


@pytest.fixture(scope='module')
def asking(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Asking]:
    """Return who asks the service."""
    directory = tmp_path_factory.mktemp('errors')
    users = directory / 'users'
    with users.open('wb') as file:
        for name in (ADMIN, STRANGER):
            digest = bcrypt.hashpw(name.encode(), bcrypt.gensalt(4))
            file.write(name.encode() + b':' + digest + b'\n')
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
    with deployments.deployed(platform, directory, settings) as made:
        made.start_engines(1)
        made.start_api()
        found = Asking(made)
        yield found
        found.close()


def _make_twins(rest: RestClient) -> None:
    """Make two resources of one name of each kind."""
    for _ in range(2):
        ids: dict[str, str] = {}
        for kind in NAMED:
            body = {_key(kind): {'name': TWICE, **_content(kind, ids)}}
            answer = rest.request('POST', f'/v1/{kind}', body)
            assert answer.status_code in (201, 202), answer.text
            if answer.status_code == 202:
                rest.wait_for_success(action_id_of(answer))
            ids[kind] = answer.json()[_key(kind)]['id']


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
    """Return path and body with an identity wherever there is one."""
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
    """Return what a path is about, as errors call it."""
    kind = operation.path.split('/')[2]
    if kind == 'webhooks':
        return 'receiver'
    return _key(kind).replace('-', '_')


def _says(response: requests.Response) -> tuple[str, str]:
    error = response.json()['error']
    assert error['code'] == response.status_code
    return error['type'], error['message']


def _not_found(asking: Asking, operation: Operation) -> None:
    response = asking.unknown(operation)
    assert response.status_code == 404, response.text
    kind = _kind(operation)
    assert _says(response) == (
        'ResourceNotFound',
        f"The {kind} '{endpoints.MISSING_ID}' could not be found.",
    )


def _bad_request(asking: Asking, operation: Operation) -> None:
    response = asking.malformed(operation)
    assert response.status_code == 400, response.text
    assert _says(response)[0] == 'HTTPBadRequest'
    if '{' in operation.path and operation.path.split('/')[2] in NAMED:
        response = asking.twice(operation)
        assert response.status_code == 400, response.text
        assert _says(response) == (
            'MultipleChoices',
            f"Multiple results found matching the query criteria '{TWICE}'."
            ' Please be more specific.',
        )


def _unauthorized(asking: Asking, operation: Operation) -> None:
    response = asking.by('', operation)
    assert response.status_code == 401, response.text
    assert response.headers['WWW-Authenticate']
    assert _says(response)[0] == 'HTTPUnauthorized'


def _forbidden(asking: Asking, operation: Operation) -> None:
    response = asking.by(STRANGER, operation)
    assert response.status_code == 403, response.text
    assert _says(response) == (
        'Forbidden',
        'You are not authorized to complete this operation.',
    )


PRODUCED: dict[int, Callable[[Asking, Operation], None]] = {
    400: _bad_request,
    401: _unauthorized,
    403: _forbidden,
    404: _not_found,
}


@pytest.mark.parametrize(('operation', 'status'), LISTED)
def test_operation_is_refused_as_the_reference_lists(
    asking: Asking, operation: Operation, status: int
) -> None:
    PRODUCED[status](asking, operation)


def test_text_of_an_exception_in_an_engine_reaches_no_client(
    tmp_path: pathlib.Path,
) -> None:
    platform, debug = (
        Platform('embedded', 'sqlite'),
        {'DEFAULT': {'debug': True}},
    )
    # All that the processes log of it is wanted.
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
