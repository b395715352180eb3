# SPDX-License-Identifier: Apache-2.0
"""Two APIs behind HAProxy, as the deployment guide describes."""

from __future__ import annotations

import contextlib
import http.client
import pathlib
import socket
import threading
import types
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests import raw_server, requirements
from tests.functional.deployments import Deployment, Platform, deployed
from tests.functional.haproxy import HAProxy, require
from tests.functional.processes import (
    TIMEOUT,
    Process,
    ProcessGroup,
    free_port,
    wait_for,
)
from tests.functional.rest import RestClient
from tests.programs import run_program
from tests.upgrade.workload import Workload

pytestmark = pytest.mark.haproxy

SETTINGS = {
    'api': {'metrics': 'all'},
    'oslo_middleware': {'enable_proxy_headers_parsing': 'true'},
    'engine': {'max_clusters_per_project': 1_000_000},
}

#: Headers of a client that pretends to be a proxy.
FORGED = {
    'Forwarded': 'for=192.0.2.1;host=evil.example.org;proto=http',
    'X-Forwarded-Host': 'evil.example.org',
    'X-Forwarded-Proto': 'http',
    'X-Forwarded-Prefix': '/evil',
}


class Apis:
    """Two APIs behind HAProxy.

    :ivar ports: by name of the API
    """

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._running: dict[str, Process] = {}
        self.ports = {name: free_port() for name in ('api1', 'api2')}
        for name in self.ports:
            self.start(name)
        self.proxy = HAProxy(deployment, [*self.ports.values()])

    def start(self, name: str) -> None:
        """Start an API and wait until it serves."""
        settings = {
            'api': {'port': self.ports[name]},
            'healthcheck': {
                'backends': 'disable_by_file,vobjects_fleet',
                'disable_by_file_path': self.disable_file(name),
            },
        }
        self._running[name] = self._deployment.group.start(
            name,
            *self._deployment.command('api', name=name, settings=settings),
        )
        url = f'http://127.0.0.1:{self.ports[name]}'
        self._deployment.wait_until_served(url=url)

    def disable_file(self, name: str) -> pathlib.Path:
        """Return the path of the file that disables an API."""
        return self._deployment.directory / f'{name}-is-out'

    def stop(self, name: str) -> None:
        process = self._running.pop(name)
        assert process.stop() == 0
        self._deployment.group.remove(process)

    def kill(self, name: str) -> None:
        process = self._running.pop(name)
        process.kill()
        self._deployment.group.remove(process)


@pytest.fixture(
    scope='module', params=[Platform('pyamqp', 'postgresql').parameter()]
)
def apis(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Apis]:
    require()
    directory = tmp_path_factory.mktemp('proxy')
    with deployed(request.param, directory, SETTINGS) as deployment:
        deployment.start_engines(2)
        both = Apis(deployment)
        yield both
        both.proxy.close()


def test_links_have_the_address_of_the_proxy_despite_forged_headers(
    apis: Apis,
) -> None:
    proxy = apis.proxy
    with RestClient(proxy.secure_url) as rest:
        rest._session.verify = str(proxy.certificate)
        rest._session.headers.update(FORGED)
        link = rest.request('GET', '/v1').json()['version']['links'][0]
        assert link['href'].startswith(f'{proxy.secure_url}/v1')
        created = rest.expect(
            202,
            'POST',
            '/v1/clusters',
            {'cluster': {'name': 'c', 'profile_id': rest.create_profile()}},
        )
        location = created.headers['Location']
        assert location.startswith(f'{proxy.secure_url}/v1/actions/')


def test_forged_headers_reach_no_server_that_believes_them(
    tmp_path: pathlib.Path,
) -> None:
    require()

    def echo(connection: socket.socket, head: bytes) -> None:
        body = head if b'/healthcheck' not in head else b''
        length = f'Content-Length: {len(body)}\r\n\r\n'.encode()
        connection.sendall(raw_server.OK + length + body)

    # A WSGI server may take an underscore for a hyphen.
    forged = FORGED | {key.replace('-', '_'): FORGED[key] for key in FORGED}
    group = ProcessGroup(tmp_path, str(tmp_path))
    with raw_server.serving(echo) as port:
        place: Any = types.SimpleNamespace(directory=tmp_path, group=group)
        proxy = HAProxy(place, [port, port])
        response = requests.get(
            f'{proxy.url}/v1', headers={**forged, 'X-Other': 'evil'}, timeout=9
        )
        proxy.close()
    assert group.close() == []
    lines = response.text.splitlines()
    assert [line for line in lines if 'evil' in line] == ['x-other: evil']


#: Host of a request -> whether the proxy forwards the request.
HOSTS = {
    'api.example.org': True,
    'api_1.example.org:8777': True,
    '192.0.2.1': True,
    '[2001:db8::1]:8777': True,
    'api/metrics': False,
    'api/metrics#': False,
    'api/metrics?': False,
    'api//metrics?': False,
    'api#': False,
    'user@api': False,
    'api,evil': False,
}


@contextlib.contextmanager
def recorded(
    directory: pathlib.Path,
) -> Iterator[tuple[HAProxy, list[tuple[str, str]]]]:
    """Run the proxy before a server that responds 200 to everything.

    :returns: the proxy, and the methods and paths that the server receives
    """
    requests_: list[tuple[str, str]] = []

    def record(connection: socket.socket, head: bytes) -> None:
        method, path, _ = head.decode().split(maxsplit=2)
        if path != '/healthcheck':
            requests_.append((method, path))
        connection.sendall(raw_server.OK + b'Content-Length: 0\r\n\r\n')

    group = ProcessGroup(directory, str(directory))
    with raw_server.serving(record) as port:
        place: Any = types.SimpleNamespace(directory=directory, group=group)
        proxy = HAProxy(place, [port, port])
        yield proxy, requests_
        proxy.close()
    assert group.close() == []


def test_host_does_not_change_the_path(tmp_path: pathlib.Path) -> None:
    require()
    requirements.programs('curl')
    statuses = {}
    with recorded(tmp_path) as (proxy, received):
        for version in ('--http1.1', '--http2'):
            for host in HOSTS:
                statuses[version, host] = run_program(
                    (
                        *('curl', '--silent', version),
                        *('--cacert', str(proxy.certificate)),
                        *('--header', f'Host: {host}'),
                        *('--output', '/dev/null'),
                        *('--write-out', '%{http_code}'),
                        f'{proxy.secure_url}/v1',
                    ),
                    timeout=TIMEOUT,
                    check=True,
                ).stdout
    assert statuses == {
        (version, host): '200' if HOSTS[host] else '400'
        for version, host in statuses
    }
    paths = [path for _, path in received]
    assert paths == ['/v1'] * 2 * sum(HOSTS.values())


#: Method -> whether the proxy forwards a request.
METHODS = {
    'GET': True,
    'HEAD': True,
    'POST': True,
    'PATCH': True,
    'PUT': True,
    'DELETE': True,
    'OPTIONS': True,
    'CONNECT': False,
    'TRACE': False,
}


def test_methods_that_bypass_the_rules_are_rejected(
    tmp_path: pathlib.Path,
) -> None:
    require()
    statuses = {}
    with recorded(tmp_path) as (proxy, received):
        address = ('127.0.0.1', int(proxy.url.rpartition(':')[2]))
        for method in METHODS:
            target = 'api:443' if method == 'CONNECT' else '/v1'
            with socket.create_connection(address, timeout=TIMEOUT) as client:
                client.sendall(
                    f'{method} {target} HTTP/1.1\r\nHost: api:443\r\n'
                    'Content-Length: 0\r\nConnection: close\r\n\r\n'.encode()
                )
                statuses[method] = int(client.recv(64).split()[1])
    assert statuses == {
        method: 200 if is_forwarded else 405
        for method, is_forwarded in METHODS.items()
    }
    forwarded = [method for method, _ in received]
    assert forwarded == [method for method in METHODS if METHODS[method]]


@pytest.mark.parametrize('path', ['/metrics', '/%6detrics', '/metrics?a=b'])
def test_metrics_are_forbidden_for_clients(path: str, apis: Apis) -> None:
    proxy = int(apis.proxy.url.rpartition(':')[2])
    assert _status(proxy, path) == 403
    assert {_status(port, path) for port in apis.ports.values()} == {200}


def _status(port: int, path: str) -> int:
    """Return the status of a path, which is sent without normalization."""
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=TIMEOUT)
    try:
        connection.request('GET', path)
        return connection.getresponse().status
    finally:
        connection.close()


def test_large_body_passes(apis: Apis) -> None:
    """A body that is longer than the buffer of HAProxy."""
    with RestClient(apis.proxy.url) as rest:
        profile = rest.create_profile()
        content = {'metadata': {'text': 'x' * 100_000}}
        changed = rest.expect(
            200, 'PATCH', f'/v1/profiles/{profile}', {'profile': content}
        )
        assert changed.json()['profile']['metadata'] == content['metadata']


def test_rolling_restart_of_apis_fails_no_request(apis: Apis) -> None:
    workload = Workload(apis.proxy.url, 3)
    workload.start()
    try:
        workload.wait_for_rounds()
        for name in apis.ports:
            apis.disable_file(name).touch()
            apis.proxy.wait_for(name, 'DOWN')
            apis.stop(name)
            workload.wait_for_rounds()
            apis.disable_file(name).unlink()
            apis.start(name)
            apis.proxy.wait_for(name, 'UP')
        workload.wait_for_rounds()
    finally:
        workload.stop()
    workload.assert_no_failures()


def test_killed_api_fails_no_read(apis: Apis) -> None:
    stop = threading.Event()
    statuses: list[int] = []
    failures: list[str] = []

    def read() -> None:
        try:
            with RestClient(apis.proxy.url) as rest:
                while not stop.is_set():
                    response = rest.request('GET', '/v1/clusters?limit=1')
                    statuses.append(response.status_code)
        except Exception as error:  # noqa: BLE001 - reported below
            failures.append(repr(error))

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    try:
        wait_for('all read', lambda: len(statuses) > 20 or failures)
        apis.kill('api1')
        # Before HAProxy detects the death, and after.
        apis.proxy.wait_for('api1', 'DOWN')
        with RestClient(apis.proxy.url) as rest:
            rest.create_profile()
        apis.start('api1')
        apis.proxy.wait_for('api1', 'UP')
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert not failures
    assert {*statuses} == {200}
