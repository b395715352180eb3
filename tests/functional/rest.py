# SPDX-License-Identifier: Apache-2.0
"""A client that trusts nothing: each answer is held against the guidelines.

Whatever the status, an answer must carry the version headers and a request
id, and an error must have a body as the API-SIG asks. A server error other
than 503 fails the test at once.
"""

from __future__ import annotations

import re
import urllib.parse
import uuid
from types import TracebackType
from typing import Any, Self

import requests

from api.contract import contract
from tests.functional.processes import PATIENCE, wait_for
from vobjects.clustering import consts
from vobjects.testing import api_sig
from vobjects.testing.contract_checks import ContractChecker

NEWEST = '1.14'
HEADER = 'OpenStack-API-Version'
REQUEST_ID = re.compile(r'req-[0-9a-f-]{36}')

PROMISES = ContractChecker(contract())

SPEC = {
    'type': 'os.nova.server',
    'version': '1.0',
    'properties': {
        'flavor': 'm1.small',
        'image': 'cirros',
        'networks': [{'network': 'private'}],
    },
}


def unique(prefix: str) -> str:
    """Return a name that no other test uses."""
    return f'{prefix}-{uuid.uuid4().hex[:10]}'


def check(response: requests.Response) -> None:
    """Assert what holds for every answer.

    :raises AssertionError: naming the request and what is wrong
    """
    about = f'{response.request.method} {response.request.url}'
    said = f'{about}: {response.status_code} {response.text[:1000]}'
    assert response.status_code < 500 or response.status_code == 503, said
    version = response.headers.get(HEADER, '')
    assert version.startswith('clustering '), f'{said}: version {version!r}'
    vary = [part.strip() for part in response.headers['Vary'].split(',')]
    assert HEADER in vary, f'{said}: Vary {vary}'
    request_id = response.headers.get('X-OpenStack-Request-ID', '')
    assert REQUEST_ID.fullmatch(request_id), f'{said}: id {request_id!r}'
    if response.status_code >= 400 and response.request.method != 'HEAD':
        try:
            api_sig.assert_error_document(
                response.json(), response.status_code, response.headers
            )
        except (AssertionError, ValueError) as error:
            raise AssertionError(f'{said}: {error}') from None
    PROMISES.check(
        response.request.method or '',
        urllib.parse.unquote(
            urllib.parse.urlsplit(response.request.url or '').path
        ),
        version.removeprefix('clustering '),
        response.status_code,
        response.json() if response.content else None,
    )


def message(response: requests.Response) -> str:
    """Return what an error says."""
    return str(response.json()['errors'][0]['detail'])


class Rest:
    """Asks the API.

    :param url: its root
    :param version: microversion of requests that name none; None: no header
    :param timeout: seconds an answer may take
    """

    def __init__(
        self,
        url: str,
        version: str | None = NEWEST,
        timeout: float = PATIENCE,
    ) -> None:
        self.url = url
        self.version = version
        self.timeout = timeout
        self._session = requests.Session()
        self._session.trust_env = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._session.close()

    def at(self, version: str | None) -> Rest:
        """Return one that asks at another microversion."""
        other = Rest(self.url, version, self.timeout)
        other._session = self._session
        return other

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
        data: bytes | None = None,
    ) -> requests.Response:
        """Return the answer, whatever its status.

        :param body: sent as JSON, unless ``data`` is given
        """
        sent = dict(headers or {})
        if self.version is not None:
            sent.setdefault(HEADER, f'clustering {self.version}')
        if data is not None:
            sent.setdefault('Content-Type', 'application/json')
        response = self._session.request(
            method,
            self.url + path,
            json=body,
            data=data,
            headers=sent,
            timeout=self.timeout,
            allow_redirects=False,
        )
        check(response)
        return response

    def expect(
        self, status: int, method: str, path: str, body: Any = None
    ) -> requests.Response:
        """Return the answer, which must have a status."""
        response = self.ask(method, path, body)
        assert response.status_code == status, (
            f'{method} {path}: {response.status_code} {response.text[:1000]}'
        )
        return response

    def get(self, path: str) -> Any:
        """Return what is below the one key of the answer."""
        ((_key, content),) = self.expect(200, 'GET', path).json().items()
        return content

    def refused(
        self, status: int, method: str, path: str, body: Any = None
    ) -> str:
        """Return why a request is refused with a status."""
        return message(self.expect(status, method, path, body))

    # The clustering service

    def maximum(self) -> str:
        """Return the highest microversion that discovery promises."""
        document = self.ask('GET', '/v1').json()
        api_sig.assert_version_document(document)
        return str(document['version']['max_version'])

    def create_profile(self) -> str:
        """Return the id of a new profile."""
        body = {'profile': {'name': unique('profile'), 'spec': SPEC}}
        response = self.expect(201, 'POST', '/v1/profiles', body)
        return str(response.json()['profile']['id'])

    def begin_cluster(
        self, profile: str, size: int, **values: Any
    ) -> tuple[str, str]:
        """Have a cluster created; return its id and the action's."""
        content = {
            'name': unique('cluster'),
            'profile_id': profile,
            'desired_capacity': size,
            **values,
        }
        response = self.expect(
            202, 'POST', '/v1/clusters', {'cluster': content}
        )
        return str(response.json()['cluster']['id']), started(response)

    def create_cluster(self, profile: str, size: int, **values: Any) -> str:
        """Return the id of a cluster that is ACTIVE."""
        cluster, action = self.begin_cluster(profile, size, **values)
        self.succeeded(action)
        found = self.get(f'/v1/clusters/{cluster}')
        assert found['status'] == 'ACTIVE', found
        assert len(found['nodes']) == size, found
        return cluster

    def act(self, cluster: str, name: str, **values: Any) -> str:
        """Have an action done on a cluster; return the action's id."""
        response = self.expect(
            202, 'POST', f'/v1/clusters/{cluster}/actions', {name: values}
        )
        assert response.json() == {'action': started(response)}
        return started(response)

    def delete(self, path: str, body: Any = None) -> str:
        """Have something deleted; return the action's id."""
        return started(self.expect(202, 'DELETE', path, body))

    def ended(self, action: str, within: float = PATIENCE) -> dict[str, Any]:
        """Return an action when it has ended, however."""

        def look() -> dict[str, Any] | None:
            found: dict[str, Any] = self.get(f'/v1/actions/{action}')
            return found if found['status'] in consts.ACTION_ENDS else None

        return wait_for(f'action {action} ended', look, within=within) or {}

    def succeeded(
        self, action: str, within: float = PATIENCE
    ) -> dict[str, Any]:
        """Return an action when it has ended, which must be well."""
        found = self.ended(action, within)
        assert found['status'] == 'SUCCEEDED', found
        return found

    def gone(self, path: str) -> None:
        """Assert that there is nothing at a path any more."""
        self.expect(404, 'GET', path)


def started(response: requests.Response) -> str:
    """Return the id of the action that an answer's Location names."""
    return response.headers['Location'].rpartition('/v1/actions/')[2]
