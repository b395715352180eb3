# SPDX-License-Identifier: Apache-2.0
"""CORS: preflight requests, and headers of responses."""

from __future__ import annotations

from typing import Any

import pytest
import webob
from oslo_middleware import cors

from api import app, browsers
from tests.unit.api import conftest
from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeEngine, FakeFleet

HERE, ELSEWHERE = 'https://panel.example.org', 'https://evil.example.org'


@pytest.fixture
def application(engine: FakeEngine, fleet: FakeFleet) -> Any:
    conf = conftest.make_conf()
    conf.register_opts(cors.OPTS, group=browsers.CORS)
    conf.set_override('allowed_origin', [HERE], browsers.CORS)
    return app.build(conf, engine, fleet)


@pytest.fixture
def api(application: Any) -> ApiClient:
    return ApiClient(application)


def preflight(
    application: Any, origin: str, method: str = 'PATCH', headers: str = ''
) -> dict[str, str]:
    """Send a preflight request and return the headers of its response."""
    sent = {'Origin': origin, 'Access-Control-Request-Method': method}
    if headers:
        sent['Access-Control-Request-Headers'] = headers
    response = webob.Request.blank(
        '/v1/clusters/c', method='OPTIONS', headers=sent
    ).get_response(application)
    assert response.status_code == 204
    assert not response.body
    return {name.lower(): value for name, value in response.headers.items()}


def test_preflight_when_allowed_lists_methods_and_headers(
    application: Any,
) -> None:
    requested = 'x-auth-token, openstack-api-version, content-type'
    allowed = preflight(application, HERE, headers=requested)
    assert allowed['access-control-allow-origin'] == HERE
    assert allowed['access-control-allow-methods'] == 'PATCH'
    assert 'x-auth-token' in allowed['access-control-allow-headers']
    assert 'access-control-allow-credentials' not in allowed


@pytest.mark.parametrize(
    ('origin', 'method', 'headers'),
    [
        (ELSEWHERE, 'GET', ''),
        (HERE, 'TRACE', ''),
        (HERE, 'GET', 'x-roles'),
    ],
)
def test_preflight_when_not_allowed_has_no_cors_headers(
    application: Any, origin: str, method: str, headers: str
) -> None:
    allowed = preflight(application, origin, method, headers)
    assert not [name for name in allowed if name.startswith('access-control')]


@pytest.mark.parametrize(
    ('path', 'status'),
    [('/v1/clusters', 200), ('/v1/clusters/nothing', 404), ('/', 300)],
)
def test_response_when_the_origin_is_allowed_is_readable(
    api: ApiClient, path: str, status: int
) -> None:
    response = api('GET', path, headers={'Origin': HERE})
    assert response.status == status
    assert response.headers['access-control-allow-origin'] == HERE
    exposed = response.headers['access-control-expose-headers'].split(',')
    assert 'OpenStack-API-Version' in exposed
    assert 'Origin' in response.headers['vary']
    other = api('GET', path, headers={'Origin': ELSEWHERE})
    assert 'access-control-allow-origin' not in other.headers


def test_response_when_cors_is_off_has_no_cors_headers(
    shared_api: ApiClient, engine: FakeEngine, fleet: FakeFleet
) -> None:
    response = shared_api('GET', '/v1/clusters', headers={'Origin': HERE})
    assert 'access-control-allow-origin' not in response.headers
    preflight_headers = {
        'Access-Control-Request-Method': 'GET',
        'Origin': HERE,
    }
    response = shared_api('OPTIONS', '/v1/clusters', headers=preflight_headers)
    assert response.status == 200
    assert not [n for n in response.headers if n.startswith('access-control')]
