# SPDX-License-Identifier: Apache-2.0
"""A REST client that checks every response.

Every response must have the version headers and a request ID and match the
contract of the API. An error must have a body that matches the API-SIG schema.
A server error other than 503 fails the test.
"""

from __future__ import annotations

import re
import urllib.parse
import uuid
from types import TracebackType
from typing import Any, Self

import requests

from api.contract import contract
from tests import api_sig
from tests.functional.processes import TIMEOUT, wait_for
from vobjects.clustering import consts, history
from vobjects_testing.contract_checks import ContractChecker

NEWEST = str(history.MAXIMUM)
#: The same, as keystoneauth shows it.
MAXIMUM = (history.MAXIMUM.major, history.MAXIMUM.minor)
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


def check_response(response: requests.Response) -> None:
    """Check a response.

    :raises AssertionError: with the request and the problem
    """
    request = f'{response.request.method} {response.request.url}'
    summary = f'{request}: {response.status_code} {response.text[:1000]}'
    assert response.status_code < 500 or response.status_code == 503, summary
    version = response.headers.get(HEADER, '')
    assert version.startswith('clustering '), f'{summary}: version {version!r}'
    vary = [part.strip() for part in response.headers['Vary'].split(',')]
    assert HEADER in vary, f'{summary}: Vary {vary}'
    request_id = response.headers.get('X-OpenStack-Request-ID', '')
    assert REQUEST_ID.fullmatch(request_id), f'{summary}: id {request_id!r}'
    if response.status_code >= 400 and response.request.method != 'HEAD':
        try:
            api_sig.assert_error_document(
                response.json(), response.status_code, response.headers
            )
        except (AssertionError, ValueError) as error:
            raise AssertionError(f'{summary}: {error}') from None
    PROMISES.check(
        response.request.method or '',
        urllib.parse.unquote(
            urllib.parse.urlsplit(response.request.url or '').path
        ),
        version.removeprefix('clustering '),
        response.status_code,
        response.json() if response.content else None,
    )


def error_message(response: requests.Response) -> str:
    """Return the detail of an error response."""
    return str(response.json()['errors'][0]['detail'])


class RestClient:
    """Client of the clustering API.

    :param url: root URL
    :param version: microversion of all requests; None: no header
    :param timeout: of each request in seconds
    """

    #: Seconds between two polls of an action.
    POLL_INTERVAL = 0.05

    def __init__(
        self,
        url: str,
        version: str | None = NEWEST,
        timeout: float = TIMEOUT,
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
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._session.close()

    def at(self, version: str | None) -> RestClient:
        """Return a client for another microversion, with the same session."""
        client = RestClient(self.url, version, self.timeout)
        client._session = self._session
        return client

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
        data: bytes | None = None,
    ) -> requests.Response:
        """Return the checked response, whatever its status.

        :param body: sent as JSON, unless there is ``data``
        """
        all_headers = dict(headers or {})
        if self.version is not None:
            all_headers.setdefault(HEADER, f'clustering {self.version}')
        if data is not None:
            all_headers.setdefault('Content-Type', 'application/json')
        response = self._session.request(
            method,
            self.url + path,
            json=body,
            data=data,
            headers=all_headers,
            timeout=self.timeout,
            allow_redirects=False,
        )
        check_response(response)
        return response

    def expect(
        self, status: int, method: str, path: str, body: Any = None
    ) -> requests.Response:
        """Return the response, which must have this status."""
        response = self.request(method, path, body)
        assert response.status_code == status, (
            f'{method} {path}: {response.status_code} {response.text[:1000]}'
        )
        return response

    def get(self, path: str) -> Any:
        """Return the value of the only key of the response."""
        ((_key, content),) = self.expect(200, 'GET', path).json().items()
        return content

    def expect_error(
        self, status: int, method: str, path: str, body: Any = None
    ) -> str:
        """Return the detail of an error, which must have this status."""
        return error_message(self.expect(status, method, path, body))

    # The clustering service

    def maximum(self) -> str:
        """Return the highest microversion, from discovery."""
        document = self.request('GET', '/v1').json()
        api_sig.assert_version_document(document)
        return str(document['version']['max_version'])

    def create_profile(self, spec: dict[str, Any] = SPEC) -> str:
        """Return the ID of a new profile; by default, of servers."""
        body = {'profile': {'name': unique('profile'), 'spec': spec}}
        response = self.expect(201, 'POST', '/v1/profiles', body)
        return str(response.json()['profile']['id'])

    def create_policy(
        self, kind: str, version: str = '1.0', **properties: Any
    ) -> str:
        """Return the ID of a new policy."""
        spec = {
            'type': f'senlin.policy.{kind}',
            'version': version,
            'properties': properties,
        }
        body = {'policy': {'name': unique('policy'), 'spec': spec}}
        response = self.expect(201, 'POST', '/v1/policies', body)
        return str(response.json()['policy']['id'])

    def start_cluster(
        self, profile: str, size: int, **values: Any
    ) -> tuple[str, str]:
        """Create a cluster; return the IDs of the cluster and the action."""
        content = {
            'name': unique('cluster'),
            'profile_id': profile,
            'desired_capacity': size,
            **values,
        }
        response = self.expect(
            202, 'POST', '/v1/clusters', {'cluster': content}
        )
        return str(response.json()['cluster']['id']), action_id_of(response)

    def create_cluster(self, profile: str, size: int, **values: Any) -> str:
        """Return the ID of a new cluster, which is ACTIVE."""
        cluster, action = self.start_cluster(profile, size, **values)
        self.wait_for_success(action)
        resource = self.get(f'/v1/clusters/{cluster}')
        assert resource['status'] == 'ACTIVE', resource
        assert len(resource['nodes']) == size, resource
        return cluster

    def start_action(self, cluster: str, name: str, **values: Any) -> str:
        """Start an action on a cluster; return its ID."""
        response = self.expect(
            202, 'POST', f'/v1/clusters/{cluster}/actions', {name: values}
        )
        assert response.json() == {'action': action_id_of(response)}
        return action_id_of(response)

    def run(self, cluster: str, name: str, **values: Any) -> dict[str, Any]:
        """Run an action on a cluster, which must succeed."""
        return self.wait_for_success(
            self.start_action(cluster, name, **values)
        )

    def nodes(self, cluster: str) -> list[dict[str, Any]]:
        """Return the nodes of a cluster in the order of their indexes."""
        nodes: list[dict[str, Any]] = self.get(
            f'/v1/nodes?cluster_id={cluster}&sort=index'
        )
        return nodes

    def remove(self, cluster: str) -> None:
        """Delete a cluster."""
        path = f'/v1/clusters/{cluster}'
        self.wait_for_success(self.delete(path))
        self.assert_missing(path)

    def delete(self, path: str, body: Any = None) -> str:
        """Delete a resource; return the ID of the action."""
        return action_id_of(self.expect(202, 'DELETE', path, body))

    def wait_for_end(
        self, action: str, timeout: float = TIMEOUT
    ) -> dict[str, Any]:
        """Return an action after its end, whatever its status."""

        def ended_action() -> dict[str, Any] | None:
            resource: dict[str, Any] = self.get(f'/v1/actions/{action}')
            has_ended = resource['status'] in consts.ACTION_ENDS
            return resource if has_ended else None

        return (
            wait_for(
                f'action {action} ended',
                ended_action,
                timeout=timeout,
                interval=self.POLL_INTERVAL,
            )
            or {}
        )

    def wait_for_success(
        self, action: str, timeout: float = TIMEOUT
    ) -> dict[str, Any]:
        """Return an action after its end; it must have succeeded."""
        resource = self.wait_for_end(action, timeout)
        assert resource['status'] == 'SUCCEEDED', resource
        return resource

    def assert_missing(self, path: str) -> None:
        """Assert that a path returns 404."""
        self.expect(404, 'GET', path)


def action_id_of(response: requests.Response) -> str:
    """Return the ID of the action in the Location header."""
    return response.headers['Location'].rpartition('/v1/actions/')[2]
