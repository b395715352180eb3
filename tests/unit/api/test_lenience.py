# SPDX-License-Identifier: Apache-2.0
"""Requests that the API accepts because Senlin accepts them."""

from __future__ import annotations

from typing import Any

import pytest

from api import routes
from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeEngine

CLUSTER = {'cluster': {'name': 'c', 'profile_id': 'p'}}
RECEIVER = {
    'receiver': {
        'name': 'r',
        'type': 'webhook',
        'cluster_id': 'c',
        'action': 'CLUSTER_SCALE_OUT',
    }
}
ID = '11111111-aaaa-4444-8888-00000000000a'


@pytest.fixture
def strict_requests_api(make_api: Any) -> ApiClient:
    """Return an API with ``strict_requests``."""
    api: ApiClient = make_api(strict_requests=True)
    return api


@pytest.mark.parametrize('media_type', ['text/plain; charset=utf-8', 'JSON'])
def test_body_when_its_type_is_text_is_read_as_json(
    api: ApiClient,
    strict_requests_api: ApiClient,
    engine: FakeEngine,
    media_type: str,
) -> None:
    api('POST', '/v1/clusters', CLUSTER)
    sent = {
        'raw': b'{"cluster": {"name": "d"}}',
        'headers': {'Content-Type': media_type},
    }

    assert strict_requests_api('PATCH', '/v1/clusters/c', **sent).status == 415
    assert api('PATCH', '/v1/clusters/c', **sent).status == 202
    assert engine.last_request.name == 'd'


@pytest.mark.parametrize(
    ('query', 'expected'),
    [
        ('limit=&marker=&sort=&global_project=', {}),
        ('limit=1&limit=2', {'limit': 2}),
        ('limit=2&limit=', {}),
        ('marker=x&marker=', {}),
        ('sort=name&sort=status:desc', {'sort': 'status:desc'}),
        ('name=a&name=b&limit=&limit=3', {'name': ['a', 'b'], 'limit': 3}),
    ],
)
def test_query_when_empty_or_repeated_counts_as_in_senlin(
    api: ApiClient,
    strict_requests_api: ApiClient,
    engine: FakeEngine,
    query: str,
    expected: dict[str, Any],
) -> None:
    assert api('GET', f'/v1/clusters?{query}').status == 200
    filters = {
        name: getattr(engine.last_request, name)
        for name in ('limit', 'marker', 'sort', 'name')
        if name in engine.last_request
        and getattr(engine.last_request, name) is not None
    }
    # Without a limit of its client, a request has that of the API.
    assert filters == {'limit': 1000, **expected}
    assert engine.last_request.global_project is False
    engine.calls.clear()
    assert strict_requests_api('GET', f'/v1/clusters?{query}').status == 400
    assert engine.calls == []


@pytest.mark.parametrize(
    ('method', 'path'),
    [
        ('GET', '/v1/clusters?pony='),
        ('GET', '/v1/clusters?status='),
        ('GET', '/v1/nodes/n?show_details='),
        ('DELETE', '/v1/clusters/c?force='),
    ],
)
def test_query_when_senlin_refuses_its_empty_value_is_400(
    api: ApiClient, method: str, path: str
) -> None:
    api('POST', '/v1/clusters', CLUSTER)
    assert api(method, path).status == 400


def test_force_when_repeated_is_the_last(
    api: ApiClient, engine: FakeEngine
) -> None:
    api('POST', '/v1/clusters', CLUSTER)
    assert api('DELETE', '/v1/clusters/c?force=true&force=false').status == 202
    assert engine.last_request.force is False


@pytest.mark.parametrize(
    ('raw', 'media_type'),
    [
        (b'[]', 'application/json'),
        (b'null', 'application/json'),
        (b'alarm!', 'text/plain'),
        (b'state=alarm', 'application/x-www-form-urlencoded'),
    ],
)
@pytest.mark.parametrize('version', ['1.0', '1.14'])
def test_webhook_when_its_body_is_no_object_is_called_without(
    api: ApiClient,
    strict_requests_api: ApiClient,
    engine: FakeEngine,
    raw: bytes,
    media_type: str,
    version: str,
) -> None:
    created = api('POST', '/v1/receivers', RECEIVER).json['receiver']
    path = f'/v1/webhooks/{created["id"]}/trigger?V=2'
    sent: dict[str, Any] = {
        'raw': raw,
        'headers': {'Content-Type': media_type},
        'version': version,
    }

    assert api('POST', path, **sent).status == 202
    assert (engine.last_request.params, engine.last_request.body) == ({}, {})
    assert strict_requests_api('POST', path, **sent).status in (400, 415)


@pytest.mark.parametrize(
    ('raw', 'media_type', 'status'),
    [
        (b'{"count": 2', 'application/json', 400),
        (b'{"count": 2}', 'application/xml', 415),
    ],
)
def test_webhook_when_parameters_would_be_lost_is_rejected(
    api: ApiClient, raw: bytes, media_type: str, status: int
) -> None:
    created = api('POST', '/v1/receivers', RECEIVER).json['receiver']
    path = f'/v1/webhooks/{created["id"]}/trigger?V=2'
    headers = {'Content-Type': media_type}
    assert api('POST', path, raw=raw, headers=headers).status == status


@pytest.mark.parametrize(
    ('path', 'allowed'),
    [
        ('/', 'GET, HEAD, OPTIONS'),
        ('/v1', 'GET, HEAD, OPTIONS'),
        ('/v1/clusters', 'GET, HEAD, POST, OPTIONS'),
        ('/v1/clusters/x', 'DELETE, GET, HEAD, PATCH, OPTIONS'),
        ('/v1/clusters/x/actions', 'POST, OPTIONS'),
    ],
)
def test_options_when_requested_list_the_methods_of_a_path(
    api: ApiClient, engine: FakeEngine, path: str, allowed: str
) -> None:
    response = api('OPTIONS', path)

    assert (response.status, response.content) == (200, b'')
    assert response.headers['allow'] == allowed
    assert engine.calls == []


def test_options_when_the_path_is_unknown_are_404(api: ApiClient) -> None:
    assert api('OPTIONS', '/v1/nowhere').status == 404
    early = api('OPTIONS', '/v1/profiles/validate/x', version='1.1')
    assert early.status == 404


@pytest.mark.parametrize('path', ['', '/', '/clusters', '/clusters/c'])
def test_path_when_the_minor_version_is_in_it_is_the_same(
    api: ApiClient, path: str
) -> None:
    assert api('POST', '/v1.0/clusters', CLUSTER).status == 202

    response = api('GET', f'/v1.0{path}')

    assert response.status == 200
    assert response.json == api('GET', f'/v1{path}').json


@pytest.mark.parametrize(
    'path', ['/v1.1/clusters', '/v1.00/clusters', '/v1.0clusters', '/v1.01']
)
def test_path_when_it_has_another_version_is_404(
    api: ApiClient, path: str
) -> None:
    assert api('GET', path).status == 404


@pytest.mark.parametrize('route', routes.ROUTES, ids=lambda r: r.path)
def test_unknown_field_when_the_resource_is_missing_is_404(
    api: ApiClient, engine: FakeEngine, route: routes.Route
) -> None:
    if not (route.lookup_first and route.params.body):
        return
    path = route.path.format(identity='none')
    key = route.params.key
    content = {'reboot': {'params': {}, 'pony': 1}}
    if not route.params.key_field:
        content = {key: {'pony': 1}} if key else {'pony': 1}

    response = api(route.method, path, content, version='1.14')

    assert response.status == 404
    assert 'none' in response.detail


@pytest.mark.parametrize(
    ('method', 'path', 'body'),
    [
        ('DELETE', '/v1/clusters/none?pony=1', None),
        ('POST', '/v1/clusters/c/actions', {'recover': {'identity': 'd'}}),
        ('POST', '/v1/clusters/c/actions', {'scale_in': {'pony': 1}}),
        ('POST', '/v1/clusters/c/actions', {'recover': {'pony': 1}}),
        ('DELETE', '/v1/clusters/c', {'pony': 1}),
        ('PATCH', '/v1/clusters/none', {'cluster': {'pony': 1}}),
        ('POST', '/v1/clusters/none/actions', {'policy_attach': {'pony': 1}}),
        ('POST', '/v1/clusters/none/actions', {'add_nodes': {'nodes': 'n'}}),
    ],
)
def test_unknown_field_when_the_resource_exists_is_400(
    api: ApiClient, method: str, path: str, body: Any
) -> None:
    api('POST', '/v1/clusters', CLUSTER)
    assert api(method, path, body, version='1.14').status == 400


@pytest.mark.parametrize(
    ('nodes', 'message'),
    [
        (ID, "Items for 'nodes' must be unique"),
        ('abc', "'abc' is not of type 'array'"),
        ('', "Value for 'nodes' must have at least 1 item(s)."),
        ({}, "Value for 'nodes' must have at least 1 item(s)."),
        ([ID, ID], "Items for 'nodes' must be unique"),
    ],
)
def test_nodes_when_no_list_have_the_message_of_senlin(
    api: ApiClient, nodes: Any, message: str
) -> None:
    body = {'add_nodes': {'nodes': nodes}}
    response = api('POST', '/v1/clusters/c/actions', body)
    assert response.status == 400
    assert response.json['error']['message'] == message
