# SPDX-License-Identifier: Apache-2.0
"""Requests that a browser sends for pages of other sites."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest
from oslo_middleware import cors

from api import app, cross_origin
from tests.unit.api import conftest, http, memory
from tests.unit.api.test_basic_auth import PASSWORD, configured, sent, users

__all__ = ('users',)

PROFILE = {'profile': {'name': 'p', 'spec': {}}}
OWN = f'http://{http.HOST}'
ALLOWED = 'https://panel.example.org'


def post(api: http.Api, **headers: str) -> int:
    named = {name.replace('_', '-'): value for name, value in headers.items()}
    answer = api('POST', '/v1/profiles', PROFILE, headers=named)
    if answer.status == 403:
        assert answer.code == 'clustering.cross-origin'
        assert 'allowed_origin' in answer.detail
    return answer.status


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
        ({'Origin': f'http://evil.{http.HOST}'}, 403),
        ({'Origin': f'http://{http.HOST}.evil.example'}, 403),
        ({'Origin': 'null'}, 403),
        ({'Origin': ''}, 403),
        ({'Origin': 'http://'}, 403),
        ({'Sec_Fetch_Site': 'same-origin', 'Origin': 'http://evil'}, 403),
    ],
)
def test_page_of_another_origin_changes_nothing(
    api: http.Api, headers: dict[str, str], status: int
) -> None:
    assert post(api, **headers) == status


@pytest.mark.parametrize('method', ['DELETE', 'PATCH', 'PUT'])
def test_no_unsafe_method_passes(api: http.Api, method: str) -> None:
    headers = {'Origin': 'http://evil.example'}
    assert api(method, '/v1/clusters/c', headers=headers).status == 403


@pytest.mark.parametrize('method', ['GET', 'HEAD'])
def test_pages_may_ask_to_read(api: http.Api, method: str) -> None:
    headers = {'Origin': 'http://evil.example', 'Sec-Fetch-Site': 'cross-site'}
    assert api(method, '/v1/clusters', headers=headers).status == 200


def test_origins_of_cors_and_of_the_public_endpoint_are_allowed(
    engine: memory.Engine, fleet: memory.Fleet
) -> None:
    conf = conftest.configured(public_endpoint='https://Cloud.example.org/v/')
    conf.register_opts(cors.OPTS, group=cross_origin.GROUP)
    conf.set_override('allowed_origin', [ALLOWED], cross_origin.GROUP)
    api = http.Api(app.build(conf, engine, fleet))
    assert post(api, Origin=ALLOWED, Sec_Fetch_Site='cross-site') == 201
    assert post(api, Origin='https://cloud.example.org') == 201
    assert post(api, Origin='https://other.example.org') == 403


def test_known_name_and_password_do_not_help_another_origin(
    users: Any, engine: memory.Engine, fleet: memory.Fleet
) -> None:
    api = http.Api(app.build(configured(users), engine, fleet))
    right = sent('alice', PASSWORD)
    assert post(api, **right) == 201
    assert post(api, **right, Sec_Fetch_Site='same-site') == 403


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
def test_page_has_to_say_that_its_body_is_json(
    api: http.Api, headers: dict[str, str], status: int
) -> None:
    raw = b'{"profile": {"name": "p", "spec": {}}}'
    answer = api('POST', '/v1/profiles', raw=raw, headers=headers)
    assert answer.status == status


def host(api: http.Api, name: str, path: str = '/v1/clusters') -> http.Answer:
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
        (f'{http.HOST}:80', 200),
        ('evil.example', 421),
        (f'evil.{http.HOST}', 421),
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
def test_only_known_hosts_are_served_where_nobody_is_authenticated(
    api: http.Api, name: str, status: int
) -> None:
    answer = host(api, name)
    assert answer.status == status
    if status == 421:
        assert '[api] allowed_hosts' in answer.detail


@pytest.mark.parametrize('path', ['/', '/v1', '/ui/fleet', '/metrics'])
def test_nothing_is_read_by_a_rebound_name(api: http.Api, path: str) -> None:
    assert host(api, 'evil.example', path).status == 421


def test_addresses_and_the_machine_are_known_beyond_loopback(
    api_with: Callable[..., http.Api],
) -> None:
    api = api_with(
        none_beyond_loopback=True,
        public_endpoint='https://cloud.example.org:8443/v',
        host='0.0.0.0',
    )
    for name in ('192.0.2.1', '[2001:db8::1]:80', socket.gethostname()):
        assert host(api, name).status == 200
    assert host(api, 'cloud.example.org').status == 200
    assert host(api, 'evil.example').status == 421


def test_callers_that_are_authenticated_use_any_name(
    users: Any, engine: memory.Engine, fleet: memory.Fleet
) -> None:
    api = http.Api(app.build(configured(users), engine, fleet))
    assert host(api, 'any.example.org').status == 401
    assert host(api, 'any, example.org').status == 400


def test_forwarded_host_is_checked_like_the_header(
    engine: memory.Engine, fleet: memory.Fleet
) -> None:
    conf = conftest.configured()
    app.build(conf, engine, fleet)
    conf.set_override('enable_proxy_headers_parsing', True, 'oslo_middleware')
    api = http.Api(app.build(conf, engine, fleet))
    for name, forwarded, status in (
        ('localhost', 'evil.example', 421),
        ('evil.example', 'localhost', 421),
        ('localhost', http.HOST, 200),
    ):
        answer = api(
            'GET',
            '/v1/clusters',
            headers={'X-Forwarded-Host': forwarded},
            environ={'HTTP_HOST': name},
        )
        assert answer.status == status
