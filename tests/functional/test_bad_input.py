# SPDX-License-Identifier: Apache-2.0
"""Bad input of every kind at every endpoint, over a real socket.

The endpoints are those of the route table, so that a new one is tested from
its first day. Every refusal is held against the API-SIG errors schema by
:mod:`tests.functional.rest`; here it must also be the right one.
"""

from __future__ import annotations

import json
import string
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from api.routes import ROUTES, Route
from tests.functional.harness import Deployment, of_the_api
from tests.functional.rest import HEADER, SPEC, Rest, message, unique
from vobjects.clustering import history

BY_NAME = {
    f'{r.method} {r.path}' + (f' {r.given.key}' if r.given.selects else ''): r
    for r in ROUTES
}
WITH_BODY = [name for name, r in BY_NAME.items() if r.given.body]
WITH_QUERY = [name for name, r in BY_NAME.items() if r.given.query]
NAMED = [name for name, r in BY_NAME.items() if '{' in r.path]
REQUIRED_BODY = [
    name for name in WITH_BODY if not BY_NAME[name].given.optional
]

#: Of nothing that exists.
NOBODY = str(uuid.UUID(int=0))

#: Bodies that are no JSON one could act on, and what is said of them.
MALFORMED: dict[bytes, str] = {
    b'pony': 'not JSON',
    b'{': 'not JSON',
    b'{"cluster": {"name": "a",}}': 'not JSON',
    b"{'cluster': {}}": 'not JSON',
    b'{"a": NaN}': 'not JSON',
    b'{"a": Infinity}': 'not JSON',
    b'{"a": 1, "a": 2}': 'twice',
    b'{"a": 1e999}': 'too large',
    b'{"a": 18446744073709551616}': '64 bits',
    b'{"a": ' + b'9' * 5000 + b'}': '64 bits',
    b'{"a": "\\u0000"}': 'U+0000',
    b'{"a": "\\ud800"}': 'U+D800',
    b'{"a": "\xff"}': 'UTF-8',
    b'\xff\xfe{\x00}\x00': 'UTF-8',
    b'\xef\xbb\xbf{}': 'byte order mark',
    b' \n\t ': 'empty',
    b'[' * 10_000 + b']' * 10_000: 'nested',
    b'{"a":' * 100 + b'1' + b'}' * 100: 'nested',
}

#: JSON values, one of each type and some extremes.
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**31,
    -(2**63),
    2**63 - 1,
    1.5,
    '',
    'x',
    ' ',
    'tab\tin it',
    'é' * 300,
    '💥',
    '-99999999999',
    [],
    [1],
    [[]],
    {},
    {'a': None},
)

QUERIES: dict[str, str] = {
    'pony=1': 'query.pony',
    '%ff=1': 'UTF-8',
    'a=%ff': 'UTF-8',
    'a=%00': 'U+0000',
    '&'.join(['a=1'] * 300): '',
    'a=' + 'x' * 9000: '',
    '=': '',
}

#: Query fields that several lists have, with values that they refuse.
BAD_PAGING = {
    'limit': ('-1', 'pony', '1.5', '', '99999999999999999999', '0x10'),
    'marker': ('pony', '', '%20', 'x' * 300),
    'sort': ('pony', 'name:up', 'name;drop', 'name,', ':', 'id'),
    'global_project': ('maybe', '', '2'),
}


def path_of(route: Route, identity: str = NOBODY) -> str:
    return route.path.replace('{identity}', identity)


def content_of(route: Route, content: Any) -> Any:
    """Return the body of a route's requests with some content."""
    return {route.given.key: content} if route.given.key else content


def required_of(route: Route) -> dict[str, Any]:
    """Return what a body needs to be complete, but for what it acts on."""
    known: dict[str, Any] = {
        'name': 'name',
        'profile_id': NOBODY,
        'spec': SPEC,
    }
    return {
        name: known[name]
        for name, field in route.request.fields.items()
        if name in known and not field.nullable
    }


@of_the_api
@pytest.mark.parametrize('name', REQUIRED_BODY)
def test_malformed_body_is_refused_with_the_reason(
    rest: Rest, name: str
) -> None:
    route = BY_NAME[name]
    for raw, reason in MALFORMED.items():
        response = rest.ask(route.method, path_of(route), data=raw)
        assert response.status_code == 400, (raw[:50], response.text)
        assert reason in message(response), raw[:50]


@of_the_api
@pytest.mark.parametrize('name', WITH_BODY)
def test_body_of_another_shape_is_refused(rest: Rest, name: str) -> None:
    route = BY_NAME[name]
    shapes: list[Any] = [[], 1, 'x', True, [{}]]
    if route.given.key:
        shapes += [
            {'pony': {}},
            {route.given.key: {}, 'pony': {}},
            {route.given.key: []},
            {route.given.key: 'x'},
            {route.given.key: 1},
            {route.given.key: None},
            {},
        ]
    for body in shapes:
        response = rest.ask(
            route.method, path_of(route), data=json.dumps(body).encode()
        )
        assert response.status_code == 400, (body, response.text)


@of_the_api
@pytest.mark.parametrize('name', WITH_BODY)
def test_unknown_field_is_refused_by_name(rest: Rest, name: str) -> None:
    route = BY_NAME[name]
    for field in ('pony', 'id', 'identity', '__class__', 'Name', ' name'):
        body = content_of(route, {**required_of(route), field: 1})
        reason = rest.refused(400, route.method, path_of(route), body)
        assert field.strip() in reason, body


@pytest.mark.parametrize('name', WITH_BODY)
def test_field_of_any_wrong_value_is_no_fault_of_ours(
    rest: Rest, name: str
) -> None:
    route = BY_NAME[name]
    fields = [n for n in route.request.fields if f'{{{n}}}' not in route.path]
    refusals = 0
    for field in fields:
        for value in VALUES:
            body = content_of(route, {**required_of(route), field: value})
            response = rest.ask(route.method, path_of(route), body)
            # A value that suits the field meets a target that is not there.
            assert response.status_code in (200, 201, 400, 404), (
                f'{body}: {response.status_code} {response.text}'
            )
            if response.status_code == 201:
                id_ = response.json()['profile']['id']
                rest.expect(204, 'DELETE', f'/v1/profiles/{id_}')
            if response.status_code == 400:
                refusals += 1
                assert len(message(response)) < 1000
    assert refusals >= len(fields), 'no field takes everything'


@of_the_api
@pytest.mark.parametrize('name', REQUIRED_BODY)
def test_missing_field_is_refused_by_name(rest: Rest, name: str) -> None:
    route = BY_NAME[name]
    required = required_of(route)
    for field in required:
        content = {n: v for n, v in required.items() if n != field}
        reason = rest.refused(
            400, route.method, path_of(route), content_of(route, content)
        )
        assert f"'{field}' is required" in reason


@of_the_api
@pytest.mark.parametrize('name', WITH_BODY)
def test_other_media_type_is_refused(rest: Rest, name: str) -> None:
    route = BY_NAME[name]
    for media_type in (
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/xml',
        'pony',
    ):
        response = rest.ask(
            route.method,
            path_of(route),
            data=b'{}',
            headers={'Content-Type': media_type},
        )
        assert response.status_code == 415, media_type
        assert 'application/json' in message(response)


@of_the_api
@pytest.mark.parametrize('name', REQUIRED_BODY)
def test_missing_body_is_refused(rest: Rest, name: str) -> None:
    route = BY_NAME[name]

    assert 'empty' in rest.refused(400, route.method, path_of(route))


@of_the_api
@pytest.mark.parametrize('name', WITH_BODY)
def test_long_body_is_refused_unread(rest: Rest, name: str) -> None:
    route = BY_NAME[name]
    body = b'{"a": "' + b'x' * (1 << 20) + b'"}'

    response = rest.ask(route.method, path_of(route), data=body)

    assert response.status_code == 413


@of_the_api
@pytest.mark.parametrize('name', BY_NAME)
def test_bad_query_is_refused_everywhere(rest: Rest, name: str) -> None:
    route = BY_NAME[name]
    body = content_of(route, required_of(route)) if route.given.body else None
    for query, reason in QUERIES.items():
        path = f'{path_of(route)}?{query}'
        assert reason in rest.refused(400, route.method, path, body), query


@of_the_api
@pytest.mark.parametrize(
    'name', [n for n in WITH_QUERY if 'limit' in BY_NAME[n].request.fields]
)
def test_bad_paging_is_refused_by_name(rest: Rest, name: str) -> None:
    route = BY_NAME[name]
    for field, values in BAD_PAGING.items():
        for value in values:
            reason = rest.refused(400, 'GET', f'{route.path}?{field}={value}')
            assert f'query.{field}' in reason, value
        good = {'limit': '1', 'marker': NOBODY, 'sort': 'name'}
        if field in good:
            twice = f'{field}={good[field]}&{field}={good[field]}'
            reason = rest.refused(400, 'GET', f'{route.path}?{twice}')
            assert 'more than once' in reason
    for field in ('status', 'action'):
        if field in route.request.fields:
            reason = rest.refused(400, 'GET', f'{route.path}?{field}=PONY')
            assert f'query.{field}' in reason


@pytest.mark.parametrize('name', NAMED)
def test_identity_of_nothing_is_not_found(rest: Rest, name: str) -> None:
    route = BY_NAME[name]
    content = dict(required_of(route))
    if route.method == 'PATCH':
        content['name'] = 'other'
    if route.given.key == 'resize':
        content['max_size'] = 1
    body = content_of(route, content) if route.given.body else None
    identities = {
        NOBODY: 404,
        'nobody': 404,
        '%F0%9F%92%A5': 404,
        'a%20b': 404,
        "';DROP%20TABLE%20clusters": 404,
        '%25': 404,
        '..': 404,
        '%2e%2e': 404,
        'x' * 255: 404,
        'x' * 256: 400,
        'x' * 5000: 400,
        'a%00b': 400,
        'a%0ab': 400,
        '%7f': 400,
        '%ff': 400,
        '%c3%28': 400,
    }
    for identity, status in identities.items():
        path = path_of(route, identity)
        if '..' in identity:  # requests would resolve it
            path = path_of(route, '%2e%2e')
        response = rest.ask(route.method, path, body)
        assert response.status_code == status, (identity, response.text)


PATHS = sorted({route.path for route in ROUTES} | {'/', '/v1'})

#: A path that another one covers: somebody may call a profile so.
COVERED = {'/v1/profiles/validate': '/v1/profiles/{identity}'}


@of_the_api
@pytest.mark.parametrize('path', PATHS)
def test_method_that_a_path_lacks_is_not_allowed(
    rest: Rest, path: str
) -> None:
    paths = {path, COVERED.get(path)}
    has = {r.method for r in ROUTES if r.path in paths} or {'GET'}
    has |= {'HEAD'} if 'GET' in has else set()
    every = {'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'}
    for method in (every | {'PONY', 'TRACE'}) - has:
        response = rest.ask(method, path.replace('{identity}', NOBODY))
        assert response.status_code == 405, (method, response.text)
        allowed = set(response.headers['Allow'].split(', '))
        assert allowed == has, method


@of_the_api
@pytest.mark.parametrize(
    'path',
    [
        '/v2',
        '/v1/pony',
        '/v1/clusters/a/b',
        '/v1/clusters/a/actions/b',
        '/v1/clusters/',
        '/v1//clusters',
        '//',
        '/v1/Clusters',
        '/v1/clusters%2f',
        '/clusters',
        '/.well-known/x',
        '/v1/' + 'a/' * 500,
        '/v1/%E2%98%83',
        '/' + string.ascii_letters * 100,
    ],
)
def test_unknown_path_is_not_found(rest: Rest, path: str) -> None:
    for method in ('GET', 'POST', 'DELETE'):
        assert rest.ask(method, path).status_code == 404


@of_the_api
@pytest.mark.parametrize('name', BY_NAME)
def test_bad_version_is_refused_before_anything_else(
    rest: Rest, name: str
) -> None:
    route = BY_NAME[name]
    for header, status in (
        ('clustering pony', 400),
        ('clustering 1.15', 406),
        ('clustering ' + '9' * 1000 + '.0', 406),
        ('clustering 1.' + '9' * 9000, 400),
        ('\u00e9', 200),
    ):
        response = rest.ask(
            route.method,
            path_of(route),
            headers={HEADER: header.encode('utf-8')},  # type: ignore[dict-item]
        )
        if status == 200:  # says nothing to us: the minimum
            assert response.headers[HEADER] == 'clustering 1.0'
        else:
            assert response.status_code == status, header


@of_the_api
@pytest.mark.parametrize('version', history.HISTORY)
def test_every_endpoint_refuses_an_unknown_field_at_every_version(
    rest: Rest, version: str
) -> None:
    at = rest.at(version)
    for route in ROUTES:
        body = None
        path = path_of(route)
        if route.given.body:
            body = content_of(route, {**required_of(route), 'pony': 1})
        else:
            path += '?pony=1'
        response = at.ask(route.method, path, body)
        assert response.status_code in (400, 404), (path, response.text)
        if response.status_code == 404:
            assert 'not available at API version' in message(response)
        else:
            assert 'pony' in message(response)


# What only an engine can refuse


@pytest.fixture
def cluster(rest: Rest, profile: str) -> Iterator[str]:
    """The id of a cluster of 1 to 3 nodes that has 2."""
    made = rest.create_cluster(profile, 2, min_size=1, max_size=3)
    yield made
    rest.succeeded(rest.delete(f'/v1/clusters/{made}', {'force': True}))


#: Content of a cluster, and what is said of it.
BAD_CLUSTERS: list[tuple[dict[str, Any], str]] = [
    ({'profile_id': 'no-such-profile'}, 'no-such-profile'),
    ({'min_size': 3, 'max_size': 2}, 'min_size (3)'),
    ({'min_size': 3, 'desired_capacity': 2}, 'min_size (3)'),
    ({'max_size': 3, 'desired_capacity': 4}, 'max_size (3)'),
    ({'desired_capacity': 1001}, '1000'),
    ({'min_size': 2**31 - 1}, '1000'),
    ({'desired_capacity': 2**31}, 'desired_capacity'),
    ({'desired_capacity': -1}, 'desired_capacity'),
    ({'max_size': -2}, 'max_size'),
    ({'timeout': -1}, 'timeout'),
    ({'name': ''}, 'name'),
    ({'name': 'a b'}, 'name'),
    ({'name': 'n' * 256}, 'name'),
    ({'name': '💥'}, 'name'),
    ({'metadata': [1]}, 'metadata'),
    ({'config': 'x'}, 'config'),
]


def test_cluster_that_cannot_be_is_refused(rest: Rest, profile: str) -> None:
    for content, reason in BAD_CLUSTERS:
        body = {'cluster': {'name': 'n', 'profile_id': profile, **content}}
        assert reason in rest.refused(400, 'POST', '/v1/clusters', body), body


#: Action, its content, and what is said of it.
BAD_ACTIONS: list[tuple[str, dict[str, Any], str]] = [
    ('resize', {}, 'adjustment_type'),
    ('resize', {'number': 1}, 'adjustment_type'),
    ('resize', {'adjustment_type': 'PONY', 'number': 1}, 'adjustment_type'),
    ('resize', {'adjustment_type': 'EXACT_CAPACITY'}, 'number'),
    (
        'resize',
        {'adjustment_type': 'EXACT_CAPACITY', 'number': -1},
        'number',
    ),
    (
        'resize',
        {'adjustment_type': 'EXACT_CAPACITY', 'number': 1.5},
        'number',
    ),
    (
        'resize',
        {'adjustment_type': 'EXACT_CAPACITY', 'number': 4},
        'max_size (3)',
    ),
    (
        'resize',
        {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': -2},
        'min_size (1)',
    ),
    (
        'resize',
        {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': 1e300},
        '',
    ),
    (
        'resize',
        {'adjustment_type': 'CHANGE_IN_PERCENTAGE', 'number': 1e300},
        '',
    ),
    ('resize', {'min_size': 4}, 'min_size (4)'),
    ('resize', {'max_size': 1}, 'max_size (1)'),
    ('scale_out', {'count': 2}, 'max_size (3)'),
    ('scale_in', {'count': 2}, 'min_size (1)'),
    ('scale_out', {'count': 0}, 'Count'),
    ('scale_in', {'count': -1}, 'count'),
    ('scale_out', {'count': 'x'}, 'count'),
    ('recover', {'operation': 'PONY'}, 'operation'),
    ('recover', {'operation_params': 1}, 'operation_params'),
    ('recover', {'check': 'maybe'}, 'check'),
    ('check', {'pony': 1}, 'pony'),
    ('explode', {}, 'explode'),
]


def test_action_that_cannot_be_is_refused_and_leaves_no_trace(
    rest: Rest, cluster: str
) -> None:
    path = f'/v1/clusters/{cluster}/actions'
    before = rest.get(f'/v1/actions?target={cluster}')

    for name, content, reason in BAD_ACTIONS:
        assert reason in rest.refused(400, 'POST', path, {name: content})
    several = {'check': {}, 'recover': {}}
    assert 'one action' in rest.refused(400, 'POST', path, several)
    assert 'one action' in rest.refused(400, 'POST', path, {})

    assert rest.get(f'/v1/actions?target={cluster}') == before
    assert rest.get(f'/v1/clusters/{cluster}')['status'] == 'ACTIVE'


#: Spec of a profile, and what is said of it.
BAD_SPECS: list[tuple[Any, str]] = [
    ({}, 'spec.type'),
    ({'type': 'os.nova.server'}, 'spec.version'),
    ({'type': 'pony', 'version': '1.0'}, 'pony'),
    ({'type': 1, 'version': '1.0'}, 'type'),
    ({'type': [], 'version': {}}, ''),
    ({**SPEC, 'version': '9.9'}, '9.9'),
    ({**SPEC, 'version': True}, 'version'),
    ({**SPEC, 'version': 1e300}, 'version'),
    ({**SPEC, 'pony': 1}, 'pony'),
    ({**SPEC, 'properties': None}, 'properties'),
    ({**SPEC, 'properties': []}, 'properties'),
    ({**SPEC, 'properties': {}}, 'flavor'),
    ({**SPEC, 'properties': {'flavor': 1}}, 'flavor'),
    ({**SPEC, 'properties': {'flavor': 'f', 'pony': 1}}, 'pony'),
    (
        {**SPEC, 'properties': {'flavor': 'f', 'networks': [{'pony': 1}]}},
        'networks[0]',
    ),
    (
        {**SPEC, 'properties': {'flavor': 'f', 'security_groups': [1]}},
        'security_groups[0]',
    ),
]


def test_spec_that_does_not_fit_its_type_is_refused(rest: Rest) -> None:
    for spec, reason in BAD_SPECS:
        create = {'profile': {'name': 'n', 'spec': spec}}
        assert reason in rest.refused(400, 'POST', '/v1/profiles', create)
        validate = {'profile': {'spec': spec}}
        path = '/v1/profiles/validate'
        assert reason in rest.refused(400, 'POST', path, validate)


def test_marker_of_nothing_is_refused(rest: Rest) -> None:
    for what in ('profiles', 'clusters', 'nodes', 'actions'):
        path = f'/v1/{what}?marker={NOBODY}'
        assert NOBODY in rest.refused(400, 'GET', path)


def test_what_is_in_use_cannot_be_deleted(
    rest: Rest, profile: str, cluster: str
) -> None:
    assert 'referenced' in rest.refused(
        409, 'DELETE', f'/v1/profiles/{profile}'
    )


def test_name_of_several_is_refused(rest: Rest, profile: str) -> None:
    name = unique('twin')
    twins = [
        rest.create_cluster(profile, 0, name=name),
        rest.create_cluster(profile, 0, name=name),
    ]

    reason = rest.refused(400, 'GET', f'/v1/clusters/{name}')

    assert name in reason
    for twin in twins:
        rest.succeeded(rest.delete(f'/v1/clusters/{twin}'))


def test_node_of_no_cluster_or_profile_is_refused(
    rest: Rest, profile: str
) -> None:
    node = {'name': 'n', 'profile_id': profile, 'cluster_id': 'nobody'}
    assert 'nobody' in rest.refused(400, 'POST', '/v1/nodes', {'node': node})
    node = {'name': 'n', 'profile_id': 'nobody'}
    assert 'nobody' in rest.refused(400, 'POST', '/v1/nodes', {'node': node})
    assert 'nobody' in rest.refused(400, 'GET', '/v1/nodes?cluster_id=nobody')


def test_who_says_to_be_somebody_else_is_not_believed(
    rest: Rest, profile: str
) -> None:
    response = rest.ask(
        'GET',
        f'/v1/profiles/{profile}',
        headers={
            'X-User-Id': 'mallory',
            'X-Project-Id': 'mallory',
            'X-Roles': 'reader',
            'X-Auth-Token': 'x',
        },
    )

    assert response.json()['profile']['project'] == 'admin'


def test_service_is_well_after_all_that(
    service: Deployment, rest: Rest, profile: str
) -> None:
    rest.get(f'/v1/profiles/{profile}')
    assert service.complaints() == []
    assert service.locks() == []
