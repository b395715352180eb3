# SPDX-License-Identifier: Apache-2.0
"""Headers by which keystonemiddleware names a caller, sent by a client."""

from __future__ import annotations

import http.server
import json
import pathlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from api import app, keystone
from tests.unit.api import conftest, test_basic_auth
from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeEngine, FakeFleet

NAMES = (
    'Domain-Id',
    'Domain-Name',
    'Project-Id',
    'Project-Name',
    'Project-Domain-Id',
    'Project-Domain-Name',
    'User-Id',
    'User-Name',
    'User-Domain-Id',
    'User-Domain-Name',
    'Roles',
)

#: Every header that the middleware sets, and the names of older releases.
SPOOFED = {
    **{f'X-{name}': 'admin' for name in NAMES},
    **{f'X-Service-{name}': 'admin' for name in NAMES},
    'X-Identity-Status': 'Confirmed',
    'X-Service-Identity-Status': 'Confirmed',
    'X-Is-Admin-Project': 'True',
    'X-Role': 'admin',
    'X-User': 'admin',
    'X-Tenant': 'admin',
    'X-Tenant-Id': 'admin',
    'X-Tenant-Name': 'admin',
    'OpenStack-System-Scope': 'all',
    'Remote-User': 'admin',
    'X-Remote-User': 'admin',
}


class Keystone(http.server.BaseHTTPRequestHandler):
    """Validates the token ``good``."""

    def do_GET(self) -> None:
        content: dict[str, Any] = {
            'version': {
                'id': 'v3.14',
                'status': 'stable',
                'links': [{'rel': 'self', 'href': self.server.url}],
            }
        }
        status = 200
        if '/auth/tokens' in self.path:
            token = self.headers['X-Subject-Token']
            status = 200 if token == 'good' else 404
            domain = {'id': 'default', 'name': 'Default'}
            content = {
                'token': {
                    'methods': ['password'],
                    'user': {'id': 'u', 'name': 'u', 'domain': domain},
                    'project': {'id': 'p', 'name': 'p', 'domain': domain},
                    'roles': [{'id': 'r', 'name': 'reader'}],
                    'issued_at': '2020-01-01T00:00:00.000000Z',
                    'expires_at': '2100-01-01T00:00:00.000000Z',
                    'is_domain': False,
                }
            }
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        self.send_header('Content-Type', 'application/json')
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Print nothing."""


@pytest.fixture
def identity() -> Iterator[str]:
    """Run a Keystone; return its URL."""
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Keystone)
    server.url = f'http://127.0.0.1:{server.server_port}/v3'  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server.url  # type: ignore[attr-defined]
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def build(
    engine: FakeEngine, fleet: FakeFleet, tmp_path: pathlib.Path, identity: str
) -> Callable[[str], ApiClient]:
    def build_with(strategy: str) -> ApiClient:
        if strategy == 'http_basic':
            file = tmp_path / 'users'
            file.write_text(
                f'alice:{test_basic_auth.hashed(test_basic_auth.PASSWORD)}\n'
            )
            conf = test_basic_auth.basic_auth_conf(file)
        else:
            conf = conftest.make_conf(auth_strategy=strategy)
        if strategy == 'keystone':
            with pytest.raises(keystone.InvalidKeystoneConfig):
                keystone.check(conf)  # registers the options
            values = {
                'auth_type': 'admin_token',
                'www_authenticate_uri': identity,
            }
            for name, value in values.items():
                conf.set_override(name, value, keystone.GROUP)
            keystone.check(conf)  # registers those of the type
            conf.set_override('endpoint', identity, keystone.GROUP)
            conf.set_override('token', 'ours', keystone.GROUP)
        return ApiClient(app.build(conf, engine, fleet))

    return build_with


CREDENTIALS = {
    'none': {},
    'http_basic': test_basic_auth.basic_auth_header(
        'alice', test_basic_auth.PASSWORD
    ),
    'keystone': {'X-Auth-Token': 'good'},
}


@pytest.mark.parametrize('strategy', CREDENTIALS)
def test_identity_when_a_client_sends_its_headers_stays_the_same(
    build: Callable[[str], ApiClient], engine: FakeEngine, strategy: str
) -> None:
    api = build(strategy)
    callers = []
    for spoofed in ({}, SPOOFED):
        headers = {**spoofed, **CREDENTIALS[strategy]}
        assert api('GET', '/v1/clusters', headers=headers).status == 200
        caller = engine.calls[-1][0].to_dict()
        callers.append(
            {k: v for k, v in caller.items() if 'request_id' not in k}
        )
    assert callers[0] == callers[1]


@pytest.mark.parametrize('strategy', ['http_basic', 'keystone'])
@pytest.mark.parametrize(
    'credentials',
    [{}, {'X-Auth-Token': 'bad'}, {'X-Service-Token': 'bad'}],
)
def test_identity_when_only_headers_claim_it_is_rejected(
    build: Callable[[str], ApiClient],
    engine: FakeEngine,
    strategy: str,
    credentials: dict[str, str],
) -> None:
    api = build(strategy)
    headers = {**SPOOFED, **credentials}
    assert api('GET', '/v1/clusters', headers=headers).status == 401
    assert not engine.calls
