# SPDX-License-Identifier: Apache-2.0
"""Bad bodies of every kind at every endpoint: always a precise 4xx.

``client.check_response`` holds every response against the API-SIG schema.
"""

from __future__ import annotations

import io
import itertools
import json
from typing import Any

import pytest

from api import routes
from tests.unit.api.client import ApiClient
from tests.unit.api.endpoints import (
    CHUNKED,
    LATEST,
    has_body,
    has_key,
    needs_body,
    route_id,
    send,
    wrap_body,
)
from tests.unit.api.fake_engine import FakeEngine

# Bodies that are not JSON, or not safe

BODIES = {
    'no json': b'{"cluster": ',
    'words': b'hello',
    'form': b'name=x&profile_id=y',
    'array': b'[]',
    'string': b'"x"',
    'number': b'12',
    'true': b'true',
    'null': b'null',
    'blanks': b'   ',
    'not utf-8': b'{"\xff": 1}',
    'utf-16': '{}'.encode('utf-16'),
    'nan': b'{"x": NaN}',
    'infinity': b'{"x": -Infinity}',
    'two values': b'{} {}',
    'duplicate': b'{"x": 1, "x": 2}',
    'deep': b'[' * 100_000 + b']' * 100_000,
    'deep objects': b'{"x":' * 500 + b'1' + b'}' * 500,
    'huge integer': b'{"x": ' + b'9' * 5000 + b'}',
    'huge number': b'{"x": 1e999}',
}


@has_body
def test_body_when_it_is_not_a_safe_json_object_is_400(
    api: ApiClient, engine: FakeEngine, route: routes.Route
) -> None:
    for name, raw in BODIES.items():
        assert send(api, route, raw).status == 400, name
        assert engine.calls == [], name


@needs_body
def test_body_when_missing_is_400(api: ApiClient, route: routes.Route) -> None:
    response = send(api, route, b'')
    assert response.status == 400
    assert 'empty' in response.detail


UNSTORABLE = ['"\\u0000"', '"a\\ud800b"', '"\\udc00"', '{"a\\u0000": 1}']
AROUND = ['%s', '[[%s]]', '{"a": [{"b": %s}]}']


@has_body
def test_body_when_a_character_cannot_be_stored_is_400(
    api: ApiClient, route: routes.Route
) -> None:
    for around, text in itertools.product(AROUND, UNSTORABLE):
        raw = wrap_body(route, '{"metadata": ' + around % text + '}')
        response = send(api, route, raw)
        assert response.status == 400, raw
        assert 'cannot be stored' in response.detail


MEDIA_TYPES = [
    'text/html',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'jsonp',
    '\xff',
]


@has_body
def test_body_when_content_type_is_not_json_is_415(
    api: ApiClient, route: routes.Route
) -> None:
    for media_type in MEDIA_TYPES:
        response = send(
            api, route, b'{}', headers={'Content-Type': media_type}
        )
        assert response.status == 415, media_type
        assert 'application/json' in response.detail


@pytest.mark.parametrize(
    'media_type',
    [
        '',
        'application/json',
        'Application/JSON; charset=utf-8',
        'application/vnd.openstack.clustering-v1+json',
    ],
)
def test_body_when_content_type_is_json_or_missing_is_read(
    api: ApiClient, media_type: str
) -> None:
    raw = json.dumps({'profile': {'name': 'p', 'spec': {}}}).encode()
    response = api(
        'POST', '/v1/profiles', raw=raw, headers={'Content-Type': media_type}
    )
    assert response.status == 201


@pytest.mark.parametrize('chunked', [False, True])
def test_body_when_too_large_is_413(make_api, chunked: bool) -> None:
    api = make_api(max_body_size=1024)
    environ = CHUNKED if chunked else {}
    headers = {'Transfer-Encoding': 'chunked'} if chunked else {}
    for route in routes.ROUTES:
        if not route.params.body:
            continue
        raw = b' ' * 1000 + wrap_body(
            route, '{"metadata": "%s"}' % ('x' * 1000)
        )
        response = send(api, route, raw, environ=environ, headers=headers)
        assert response.status == 413, route_id(route)
        assert '1024' in response.detail


def test_body_when_content_length_is_too_large_is_413_unread(
    api: ApiClient,
) -> None:
    response = api(
        'POST',
        '/v1/clusters',
        raw=b'{',
        environ={'CONTENT_LENGTH': '9' * 15},
    )
    assert response.status == 413


def test_body_when_chunked_is_read(api: ApiClient) -> None:
    raw = json.dumps({'profile': {'name': 'p', 'spec': {}}}).encode()
    response = api(
        'POST',
        '/v1/profiles',
        raw=raw,
        environ=CHUNKED,
        headers={'Transfer-Encoding': 'chunked'},
    )
    assert response.status == 201


def test_body_when_chunked_and_the_server_has_no_end_is_411(
    api: ApiClient,
) -> None:
    headers = {'Transfer-Encoding': 'chunked'}
    response = api('POST', '/v1/profiles', raw=b'{', headers=headers)
    assert response.status == 411
    assert api('GET', '/v1/profiles', raw=b'{', headers=headers).status == 200


@has_body
def test_body_when_cut_short_is_400(
    api: ApiClient, route: routes.Route
) -> None:
    response = send(api, route, b'{}', environ={'CONTENT_LENGTH': '20'})
    assert response.status == 400
    assert 'ended after 2 of 20' in response.detail


@pytest.mark.parametrize('length', ['x', '1.5', '0x10', '+3', '\uff11'])
def test_content_length_when_it_is_no_number_is_400(
    api: ApiClient, length: str
) -> None:
    environ = {'CONTENT_LENGTH': length, 'wsgi.input': io.BytesIO(b'{}')}
    # The lint of wsgiref does not let these through, a server might.
    response = api.unlinted('POST', '/v1/clusters', environ)
    assert response.status == 400


# JSON bodies that do not match the schema


@has_key
@pytest.mark.parametrize(
    ('raw', 'expected'),
    [
        (b'{}', 'is required'),
        (b'{"KEY": {}, "more": 1}', "the body is {\"KEY\": {...}}"),
        (b'{"Key": {}}', "the body is {\"KEY\": {...}}"),
        (b'{"KEY": null}', 'body.KEY: must be a JSON object, not null'),
        (b'{"KEY": []}', 'body.KEY: must be a JSON object, not []'),
        (b'{"KEY": "x"}', "body.KEY: must be a JSON object, not 'x'"),
        (b'{"KEY": {"no such": 1}}', "body.KEY['no such']: unknown"),
        (b'{"KEY": {"identity": "x"}}', 'body.KEY.identity: unknown'),
    ],
)  # fmt: skip
def test_wrapper_when_invalid_is_400_with_its_location(
    api: ApiClient, route: routes.Route, raw: bytes, expected: str
) -> None:
    key = route.params.key
    response = send(api, route, raw.replace(b'KEY', key.encode()))
    assert response.status == 400
    assert expected.replace('KEY', key) in response.detail


ACTIONS = [routes.CLUSTER_ACTIONS, routes.NODE_ACTIONS]


@pytest.mark.parametrize('path', ACTIONS)
@pytest.mark.parametrize(
    ('body', 'expected'),
    [
        ({}, 'must name one action, not none'),
        ({'check': {}, 'recover': {}}, 'must name one action, not 2'),
        ({'explode': {}}, "body.explode: unknown action; must be one of '"),
        ({'': {}}, "body['']: unknown action; must be one of '"),
        ({'check': None}, 'body.check: must be a JSON object, not null'),
        ({'check': []}, 'body.check: must be a JSON object'),
        ({'recover': {'operation': 'EXPLODE'}}, 'body.recover.operation:'),
        ({'recover': {'check': 'maybe'}}, 'body.recover.check:'),
    ],
)
def test_action_when_unknown_is_400_and_lists_the_actions(
    api: ApiClient, path: str, body: Any, expected: str
) -> None:
    response = api(
        'POST', path.replace('{identity}', 'x'), body, version=LATEST
    )
    assert response.status == 400
    assert expected in response.detail


@pytest.mark.parametrize(
    ('field', 'value'),
    [
        ('name', ''),
        ('name', 'a' * 256),
        ('name', 'a b'),
        ('name', 'a\n'),
        ('name', 7),
        ('name', None),
        ('profile_id', None),
        ('profile_id', 'x' * 256),
        ('profile_id', ['p']),
        ('min_size', -1),
        ('min_size', 'x'),
        ('min_size', '-1'),
        ('min_size', 1.5),
        ('min_size', True),
        ('min_size', 2**31),
        ('min_size', '9999999999'),
        ('min_size', 2**63),
        ('max_size', -2),
        ('max_size', '-2'),
        ('desired_capacity', [3]),
        ('desired_capacity', {'a': 1}),
        ('desired_capacity', ''),
        ('timeout', 'soon'),
        ('timeout', '1\n'),
        ('timeout', '\uff11'),
        ('metadata', 'x'),
        ('metadata', []),
        ('config', 1),
        ('nodes', []),
    ],
)
def test_cluster_field_when_wrong_is_400_and_named(
    api: ApiClient, engine: FakeEngine, field: str, value: Any
) -> None:
    fields = {'name': 'c', 'profile_id': 'p', field: value}
    response = api('POST', '/v1/clusters', {'cluster': fields}, version=LATEST)
    assert response.status == 400
    assert field in response.detail or 'integer' in response.detail
    assert engine.calls == []


@pytest.mark.parametrize('field', ['name', 'profile_id'])
def test_cluster_field_when_required_and_missing_is_400(
    api: ApiClient, field: str
) -> None:
    fields = {'name': 'c', 'profile_id': 'p'}
    del fields[field]
    response = api('POST', '/v1/clusters', {'cluster': fields})
    assert response.status == 400
    assert response.detail == f'body.cluster: {field!r} is required.'


def test_string_when_longer_than_its_column_is_400(api: ApiClient) -> None:
    fields = {'name': 'n', 'profile_id': 'p', 'role': 'r' * 256}
    response = api('POST', '/v1/nodes', {'node': fields})
    assert response.status == 400
    assert response.detail == (
        'body.node.role: must have at most 255 characters, not 256.'
    )


WRONG = [
    None, True, 'x', '', 'x' * 300, -1, 1.5, 2**31, 2**62, [], [None], {},
    {'a': [1]}, 'ACTIVE', '7', '-7', 'é', 'name:asc',
]  # fmt: skip


@has_body
def test_field_when_of_any_type_is_no_server_error(
    api: ApiClient, route: routes.Route
) -> None:
    for name, value in itertools.product(route.request.fields, WRONG):
        raw = wrap_body(route, json.dumps({name: value}))
        assert send(api, route, raw).status < 500


@pytest.mark.parametrize(
    ('operation', 'params', 'filters'),
    [
        ({}, {}, {}),
        ({'type': 'SOFT'}, {'type': 'SOFT'}, {}),
        ({'params': {'type': 'SOFT'}}, {'type': 'SOFT'}, {}),
        ({'filters': {'role': 'r'}}, {}, {'role': 'r'}),
    ],
)
def test_operation_when_flat_or_below_params_has_parameters(
    api: ApiClient,
    engine: FakeEngine,
    operation: dict[str, Any],
    params: dict[str, Any],
    filters: dict[str, Any],
) -> None:
    body = {'reboot': operation}
    api('POST', '/v1/clusters/x/ops', body, version=LATEST)
    assert engine.last_request.operation == 'reboot'
    assert engine.last_request.params == params
    assert engine.last_request.filters == filters


@pytest.mark.parametrize('params', [None, {}])
def test_operation_of_a_node_may_have_null_as_parameters(
    api: ApiClient, engine: FakeEngine, params: Any
) -> None:
    response = api('POST', '/v1/nodes/x/ops', {'lock': params}, version=LATEST)
    assert response.status != 400
    assert engine.last_request.operation == 'lock'
    assert engine.last_request.params == {}
