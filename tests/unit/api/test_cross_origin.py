# SPDX-License-Identifier: Apache-2.0
"""Pages of other origins."""

from __future__ import annotations

from typing import Any

import pytest
import webob
from oslo_middleware import cors

from api import app, cross_origin
from tests.unit.api import client, conftest, fake_engine

HERE, ELSEWHERE = 'https://panel.example.org', 'https://evil.example.org'


@pytest.fixture
def application(
    engine: fake_engine.FakeEngine, fleet: fake_engine.FakeFleet
) -> Any:
    conf = conftest.make_conf()
    conf.register_opts(cors.OPTS, group=cross_origin.GROUP)
    conf.set_override('allowed_origin', [HERE], cross_origin.GROUP)
    return app.build(conf, engine, fleet)


@pytest.fixture
def api(application: Any) -> client.ApiClient:
    return client.ApiClient(application)


def preflight(
    application: Any, origin: str, method: str = 'PATCH', headers: str = ''
) -> dict[str, str]:
    """Ask as a browser does; return the headers of the response."""
    sent = {'Origin': origin, 'Access-Control-Request-Method': method}
    if headers:
        sent['Access-Control-Request-Headers'] = headers
    response = webob.Request.blank(
        '/v1/clusters/c', method='OPTIONS', headers=sent
    ).get_response(application)
    assert response.status_code == 204
    assert not response.body
    return {name.lower(): value for name, value in response.headers.items()}


def test_browser_is_told_what_a_page_may_send(application: Any) -> None:
    wanted = 'x-auth-token, openstack-api-version, content-type'
    told = preflight(application, HERE, headers=wanted)
    assert told['access-control-allow-origin'] == HERE
    assert told['access-control-allow-methods'] == 'PATCH'
    assert 'x-auth-token' in told['access-control-allow-headers']
    assert 'access-control-allow-credentials' not in told


@pytest.mark.parametrize(
    ('origin', 'method', 'headers'),
    [
        (ELSEWHERE, 'GET', ''),
        (HERE, 'TRACE', ''),
        (HERE, 'GET', 'x-roles'),
    ],
)
def test_browser_is_told_nothing_of_what_is_not_allowed(
    application: Any, origin: str, method: str, headers: str
) -> None:
    told = preflight(application, origin, method, headers)
    assert not [name for name in told if name.startswith('access-control')]


@pytest.mark.parametrize(
    ('path', 'status'),
    [('/v1/clusters', 200), ('/v1/clusters/nothing', 404), ('/', 300)],
)
def test_page_may_read_answers_and_errors(
    api: client.ApiClient, path: str, status: int
) -> None:
    response = api('GET', path, headers={'Origin': HERE})
    assert response.status == status
    assert response.headers['access-control-allow-origin'] == HERE
    exposed = response.headers['access-control-expose-headers'].split(',')
    assert 'OpenStack-API-Version' in exposed
    assert 'Origin' in response.headers['vary']
    other = api('GET', path, headers={'Origin': ELSEWHERE})
    assert 'access-control-allow-origin' not in other.headers


def test_nothing_is_said_where_no_origin_is_allowed(
    shared_api: client.ApiClient,
    engine: fake_engine.FakeEngine,
    fleet: fake_engine.FakeFleet,
) -> None:
    response = shared_api('GET', '/v1/clusters', headers={'Origin': HERE})
    assert 'access-control-allow-origin' not in response.headers
    asked = {'Access-Control-Request-Method': 'GET', 'Origin': HERE}
    response = shared_api('OPTIONS', '/v1/clusters', headers=asked)
    assert response.status == 200
    assert not [n for n in response.headers if n.startswith('access-control')]
