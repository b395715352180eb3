# SPDX-License-Identifier: Apache-2.0
"""Requests that a browser sends for pages of other sites."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest
from oslo_middleware import cors

from api import app, browsers
from tests.unit.api import client, conftest
from tests.unit.api.client import ApiClient, Response
from tests.unit.api.fake_engine import FakeEngine, FakeFleet
from tests.unit.api.test_basic_auth import (
    PASSWORD,
    basic_auth_conf,
    basic_auth_header,
    users,
)

__all__ = ('users',)

PROFILE = {'profile': {'name': 'p', 'spec': {}}}
OWN = f'http://{client.HOST}'
ALLOWED = 'https://panel.example.org'


def post(api: ApiClient, **headers: str) -> int:
    named = {name.replace('_', '-'): value for name, value in headers.items()}
    response = api('POST', '/v1/profiles', PROFILE, headers=named)
    if response.status == 403:
        assert response.code == 'clustering.cross-origin'
        assert 'allowed_origin' in response.detail
    return response.status


@pytest.mark.parametrize(
    ('headers', 'status'),
    [
        ({}, 201),
        ({'Sec_Fetch_Site': 'none'}, 201),
        ({'Sec_Fetch_Site': 'same-origin', 'Origin': OWN}, 201),
        ({'Origin': OWN.upper()}, 201),
        ({'Sec_Fetch_Site': 'cross-site'}, 403),
        ({'Sec_Fetch_Site': 'same-site'}, 403),
        ({'Sec_Fetch_Site': 'Same-Site', 'Origin': OWN}, 403),
        ({'Origin': 'http://evil.example'}, 403),
        ({'Origin': f'{OWN}:8080'}, 403),
        ({'Origin': f'http://evil.{client.HOST}'}, 403),
        ({'Origin': f'http://{client.HOST}.evil.example'}, 403),
        ({'Origin': 'null'}, 403),
        ({'Origin': ''}, 403),
        ({'Origin': 'http://'}, 403),
        ({'Sec_Fetch_Site': 'same-origin', 'Origin': 'http://evil'}, 403),
    ],
)
def test_write_when_from_another_origin_is_403(
    api: ApiClient, headers: dict[str, str], status: int
) -> None:
    assert post(api, **headers) == status


@pytest.mark.parametrize('method', ['DELETE', 'PATCH', 'PUT'])
def test_method_when_unsafe_and_cross_origin_is_403(
    api: ApiClient, method: str
) -> None:
    headers = {'Origin': 'http://evil.example'}
    assert api(method, '/v1/clusters/c', headers=headers).status == 403


@pytest.mark.parametrize('method', ['GET', 'HEAD'])
def test_read_when_from_another_origin_works(
    api: ApiClient, method: str
) -> None:
    headers = {'Origin': 'http://evil.example', 'Sec-Fetch-Site': 'cross-site'}
    assert api(method, '/v1/clusters', headers=headers).status == 200


def test_write_when_the_origin_is_configured_works(
    engine: FakeEngine, fleet: FakeFleet
) -> None:
    conf = conftest.make_conf(public_endpoint='https://Cloud.example.org/v/')
    conf.register_opts(cors.OPTS, group=browsers.CORS)
    conf.set_override('allowed_origin', [ALLOWED], browsers.CORS)
    api = ApiClient(app.build(conf, engine, fleet))
    assert post(api, Origin=ALLOWED, Sec_Fetch_Site='cross-site') == 201
    assert post(api, Origin='https://cloud.example.org') == 201
    assert post(api, Origin='https://other.example.org') == 403


def test_write_when_cross_site_with_credentials_is_403(
    users: Any, engine: FakeEngine, fleet: FakeFleet
) -> None:
    api = ApiClient(app.build(basic_auth_conf(users), engine, fleet))
    credentials = basic_auth_header('alice', PASSWORD)
    assert post(api, **credentials) == 201
    assert post(api, **credentials, Sec_Fetch_Site='same-site') == 403


@pytest.mark.parametrize(
    ('headers', 'status'),
    [
        ({}, 201),
        ({'Origin': OWN}, 415),
        ({'Sec-Fetch-Site': 'same-origin'}, 415),
        ({'Origin': OWN, 'Content-Type': 'application/json'}, 201),
        ({'Origin': OWN, 'Content-Type': 'text/plain'}, 415),
    ],
)
def test_body_when_a_page_does_not_declare_json_is_415(
    api: ApiClient, headers: dict[str, str], status: int
) -> None:
    raw = b'{"profile": {"name": "p", "spec": {}}}'
    response = api('POST', '/v1/profiles', raw=raw, headers=headers)
    assert response.status == status


def get_as_host(
    api: ApiClient, name: str, path: str = '/v1/clusters'
) -> Response:
    return api('GET', path, environ={'HTTP_HOST': name})


@pytest.mark.parametrize(
    ('name', 'status'),
    [
        ('', 200),
        ('localhost', 200),
        ('LocalHost.:8777', 200),
        ('127.0.0.1:8777', 200),
        ('127.9.9.9', 200),
        ('[::1]:8777', 200),
        (f'{client.HOST}:80', 200),
        ('evil.example', 421),
        (f'evil.{client.HOST}', 421),
        ('localhost.evil.example:8777', 421),
        ('192.0.2.1', 421),
        ('0.0.0.0', 421),
        ('localhost, evil.example', 400),
        ('localhost,localhost', 400),
        ('localhost:x', 400),
        ('local host', 400),
        ('localhost/evil', 400),
        ('evil@localhost', 400),
        ('[::1', 400),
    ],
)
def test_host_when_unknown_without_authentication_is_421(
    api: ApiClient, name: str, status: int
) -> None:
    response = get_as_host(api, name)
    assert response.status == status
    if status == 421:
        assert '[api] allowed_hosts' in response.detail


@pytest.mark.parametrize('path', ['/', '/v1', '/ui/fleet', '/metrics'])
def test_page_when_the_host_is_rebound_is_421(
    api: ApiClient, path: str
) -> None:
    assert get_as_host(api, 'evil.example', path).status == 421


def test_host_when_remote_access_is_on_may_be_an_address(
    make_api: Callable[..., ApiClient],
) -> None:
    api = make_api(
        none_beyond_loopback=True,
        public_endpoint='https://cloud.example.org:8443/v',
        host='0.0.0.0',
    )
    for name in ('192.0.2.1', '[2001:db8::1]:80', socket.gethostname()):
        assert get_as_host(api, name).status == 200
    assert get_as_host(api, 'cloud.example.org').status == 200
    assert get_as_host(api, 'evil.example').status == 421


def test_host_when_callers_are_authenticated_is_any_name(
    users: Any, engine: FakeEngine, fleet: FakeFleet
) -> None:
    api = ApiClient(app.build(basic_auth_conf(users), engine, fleet))
    assert get_as_host(api, 'any.example.org').status == 401
    assert get_as_host(api, 'any, example.org').status == 400


def test_forwarded_host_when_trusted_is_checked(
    engine: FakeEngine, fleet: FakeFleet
) -> None:
    conf = conftest.make_conf()
    app.build(conf, engine, fleet)
    conf.set_override('enable_proxy_headers_parsing', True, 'oslo_middleware')
    api = ApiClient(app.build(conf, engine, fleet))
    for name, forwarded, status in (
        ('localhost', 'evil.example', 421),
        ('evil.example', 'localhost', 421),
        ('localhost', client.HOST, 200),
    ):
        response = api(
            'GET',
            '/v1/clusters',
            headers={'X-Forwarded-Host': forwarded},
            environ={'HTTP_HOST': name},
        )
        assert response.status == status
