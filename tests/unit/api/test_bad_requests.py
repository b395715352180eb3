# SPDX-License-Identifier: Apache-2.0
"""Bad queries, paths and methods at every endpoint: a precise 4xx.

``client.check_response`` holds every response against the API-SIG schema.
"""

from __future__ import annotations

import json

import pytest

from api import routes
from tests.unit.api.client import ApiClient
from tests.unit.api.endpoints import (
    LATEST,
    MARKER,
    all_routes,
    has_identity,
    lists,
    route_path,
    wrap_body,
)
from tests.unit.api.fake_engine import FakeEngine

QUERIES = [
    'no_such=1',
    'a%zz=1',
    'x=%ff',
    'x=%00',
    '%00=x',
    'x',
    '=x',
    'x=\xff',
    'a&' * 300,
    'x=' + 'y' * 9000,
]


@all_routes
def test_query_when_it_cannot_be_is_400(
    api: ApiClient, engine: FakeEngine, route: routes.Route
) -> None:
    body = json.loads(wrap_body(route, '{}')) if route.params.key else None
    for query in QUERIES:
        response = api(
            route.method,
            route_path(route),
            body,
            version=LATEST,
            environ={'QUERY_STRING': query},
        )
        assert response.status == 400, query
        assert engine.calls == [], query


LIST_QUERIES = [
    'limit=-1',
    'limit=x',
    'limit=1.5',
    'limit=9999999999',
    'limit=99999999999999999999',
    'limit=%EF%BC%91',
    'marker=x',
    f'marker={MARKER}%0A',
    'sort=no_such',
    'sort=name:up',
    'sort=name,',
    'sort=' + 'name,' * 100 + 'name',
    'global_project=maybe',
    'global_project=2',
    'name=' + 'x' * 256,
]


@lists
def test_list_query_when_wrong_is_400_and_named(
    api: ApiClient, route: routes.Route
) -> None:
    for query in LIST_QUERIES:
        response = api('GET', f'{route_path(route)}?{query}', version=LATEST)
        assert response.status == 400, query
        assert f'query.{query.partition("=")[0]}' in response.detail


@pytest.mark.parametrize(
    'path',
    [
        '/v1/clusters?status=BROKEN',
        '/v1/nodes?status=active',
        '/v1/actions?action=DANCE',
        '/v1/nodes/x?show_details=maybe',
        '/v1/nodes/x?show_details=1&show_details=maybe',
        '/v1/profile-types?name=x',
        '/v1/build-info?x',
    ],
)
def test_query_value_when_unknown_is_400(api: ApiClient, path: str) -> None:
    assert api('GET', path, version=LATEST).status == 400


def test_cancelling_when_forced_has_the_status_in_the_body(
    api: ApiClient, engine: FakeEngine
) -> None:
    body = {'action': {'status': 'CANCELLED'}}
    api('PATCH', '/v1/actions/x?force=true', body, version='1.12')
    assert (engine.last_request.force, engine.last_request.status) == (
        True,
        'CANCELLED',
    )
    response = api(
        'PATCH', '/v1/actions/x?status=CANCELLED', body, version='1.12'
    )
    assert response.status == 400


def test_force_when_in_query_and_body_is_400(api: ApiClient) -> None:
    response = api(
        'DELETE', '/v1/clusters/x?force=true', {'force': True}, version='1.8'
    )
    assert response.status == 400
    assert 'in the query or in the body' in response.detail


# Paths and methods


IDENTITIES = {
    'x' * 256: 'at most 255',
    'x' * 60_000: 'at most 255',
    'a%00b': 'U+0000',
    'a%0Ab': 'U+000A',
    'a%7F': 'U+007F',
    '%C2%85': 'U+0085',
    '%FF': 'not percent-encoded UTF-8',
    '%ED%A0%80': 'not percent-encoded UTF-8',
}


@has_identity
def test_identity_when_it_cannot_be_one_is_400(
    api: ApiClient, engine: FakeEngine, route: routes.Route
) -> None:
    raw = wrap_body(route, '{}') if route.params.body else b''
    for identity, message in IDENTITIES.items():
        response = api(
            route.method, route_path(route, identity), raw=raw, version=LATEST
        )
        assert response.status == 400, identity[:20]
        assert message in response.detail
        assert engine.calls == [], identity[:20]


@pytest.mark.parametrize(
    'identity', ['no', '%E2%82%AC', '%F0%9F%98%80', "'; DROP TABLE", '..']
)
def test_identity_when_nothing_has_it_is_404(
    api: ApiClient, identity: str
) -> None:
    assert api('GET', f'/v1/clusters/{identity}').status == 404


@pytest.mark.parametrize(
    'path',
    [
        '/nope',
        '/v2',
        '/v1/nope',
        '/V1/clusters',
        '//',
        '//v1/clusters',
        '/v1//clusters',
        '/v1/clusters/',
        '/v1/clusters//actions',
        '/v1/clusters/x/actions/y',
        '/v1/clusters/x%2Fy/z',
        '/v1/clusters.json',
        '/v1/../v1/clusters',
        '*',
        'v1/clusters',
        '/' * 5000,
        '/v1/' + 'x' * 60_000,
    ],
)
@pytest.mark.parametrize('method', ['GET', 'POST', 'DELETE'])
def test_path_when_unknown_is_404(
    api: ApiClient, path: str, method: str
) -> None:
    environ = {'PATH_INFO': path.replace('%2F', '/')}
    response = api.unlinted(method, '/', environ)
    assert response.status == 404
    assert len(response.content) < 2000


@all_routes
def test_method_when_the_path_lacks_it_is_405_with_allow(
    api: ApiClient, route: routes.Route
) -> None:
    environ = {'HTTP_OPENSTACK_API_VERSION': f'clustering {LATEST}'}
    for method in ('PUT', 'TRACE', 'FROB', 'get'):
        response = api.unlinted(method, route_path(route), dict(environ))
        assert response.status == 405, method
        assert route.method in response.headers['allow'].split(', ')


@pytest.mark.parametrize('path', ['/', '/v1', '/v1/'])
def test_method_when_discovery_lacks_it_is_405(
    api: ApiClient, path: str
) -> None:
    response = api('POST', path, {})
    assert response.status == 405
    assert response.headers['allow'] == 'GET, HEAD'


def test_method_override_when_smuggled_is_not_heard(
    api: ApiClient, engine: FakeEngine
) -> None:
    response = api('GET', '/v1/clusters/x?_method=DELETE', version=LATEST)
    assert response.status == 400
    headers = {'X-HTTP-Method-Override': 'DELETE'}
    api('GET', '/v1/clusters/x', headers=headers)
    assert type(engine.last_request).__name__ == 'ClusterGetRequest'


def test_body_when_sent_with_get_is_not_read(api: ApiClient) -> None:
    assert api('GET', '/v1/clusters', raw=b'\xff{').status == 200
