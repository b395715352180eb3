# SPDX-License-Identifier: Apache-2.0
"""Invalid input at every endpoint, as far as an engine or a type decides.

``test_bad_bodies`` and ``test_bad_requests`` have input that the API rejects
without an engine. The endpoints come from the route table, so that new ones
are covered. :mod:`tests.functional.rest` checks every error against the
API-SIG schema; the tests here check status and detail.
"""

from __future__ import annotations

from typing import Any

import pytest

from api.routes import ROUTES
from tests.functional.deployments import Deployment, embedded_sqlite_only
from tests.functional.endpoints import (
    BY_NAME,
    MISSING_ID,
    bodies,
    body_fields,
    closed_of,
    content_of,
    matching_paths,
    open_field,
    path_of,
    required_of,
    with_query,
)
from tests.functional.rest import RestClient, error_message
from vobjects.clustering import history
from vobjects.versions import Version

WITH_BODY = [name for name, r in BY_NAME.items() if r.params.body]
#: Endpoints whose whole content is one field with any value.
OPEN = [name for name in WITH_BODY if open_field(BY_NAME[name])]
CLOSED = [name for name in WITH_BODY if name not in OPEN]
NAMED = [name for name, r in BY_NAME.items() if '{' in r.path]

#: A JSON value of each type, and extreme values.
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

#: Query with an unknown parameter -> text in the error.
UNKNOWN = {'pony=1': 'query.pony', '=': ''}


@embedded_sqlite_only
@pytest.mark.parametrize(
    'name', [name for name in WITH_BODY if BY_NAME[name].params.key_field]
)
def test_body_when_it_names_not_one_operation_is_rejected(
    rest: RestClient, name: str
) -> None:
    route = BY_NAME[name]
    shapes: list[Any] = [
        {},
        {'reboot': {}, 'rebuild': {}},
        {'reboot': []},
        {'reboot': 'x'},
    ]
    if not route.params.body_field:
        shapes.append({'reboot': None})
    for body in shapes:
        rest.expect_error(400, route.method, path_of(route), body)


@embedded_sqlite_only
@pytest.mark.parametrize('name', CLOSED)
def test_field_when_unknown_is_rejected_by_name(
    rest: RestClient, name: str
) -> None:
    route = BY_NAME[name]
    known = body_fields(route)
    implied = [field for field, _value in route.params.implied]
    names = ['pony', 'id', 'identity', '__class__', 'Name', ' name', *implied]
    for field in (name for name in names if name not in known):
        body = content_of(route, {**closed_of(route), field: 1})
        status = 404 if route.lookup_first else 400
        reason = rest.expect_error(status, route.method, path_of(route), body)
        assert (MISSING_ID if status == 404 else field.strip()) in reason, body


@pytest.mark.parametrize('name', OPEN)
def test_content_when_it_is_one_field_accepts_any_keys(
    rest: RestClient, name: str
) -> None:
    route = BY_NAME[name]
    for field in ('pony', 'id', 'identity', '__class__', 'Name', ' name', ''):
        body = content_of(route, {field: 1})
        reason = rest.expect_error(404, route.method, path_of(route), body)
        assert MISSING_ID in reason, body


@pytest.mark.parametrize('name', WITH_BODY)
def test_field_with_any_invalid_value_causes_no_server_error(
    rest: RestClient, name: str
) -> None:
    route = BY_NAME[name]
    for field in body_fields(route):
        refusals = 0
        for value in VALUES:
            for body in bodies(route, field, value):
                response = rest.request(route.method, path_of(route), body)
                # With a valid value, the target does not exist.
                assert response.status_code in (200, 201, 400, 404), (
                    f'{body}: {response.status_code} {response.text}'
                )
                if response.status_code == 201:
                    ((_kind, resource),) = response.json().items()
                    rest.expect(
                        204, 'DELETE', f'{route.path}/{resource["id"]}'
                    )
                if response.status_code == 400:
                    refusals += 1
                    assert len(error_message(response)) < 1000
        assert refusals or route.params.webhook, f'{field} takes everything'


@pytest.mark.parametrize(
    'name', [name for name, r in BY_NAME.items() if r.params.webhook]
)
def test_query_of_a_webhook_selects_how_the_body_is_read(
    rest: RestClient, name: str
) -> None:
    route = BY_NAME[name]
    path = path_of(route).partition('?')[0]
    for version in ('1.0', '1.9', '1.10', rest.version):
        at = rest.at(version)
        for query in ('', 'V=', 'V=3', 'V=x', 'v=2', 'V=1&V=2', *UNKNOWN):
            reason = at.expect_error(400, route.method, f'{path}?{query}', {})
            assert 'query.V' in reason, query
        for query in ('V=1', 'V=2', *(f'V=2&{extra}' for extra in UNKNOWN)):
            reason = at.expect_error(404, route.method, f'{path}?{query}', {})
            assert MISSING_ID in reason, query
    for value in VALUES[1:]:
        body = {'params': value}
        wrong = not isinstance(value, dict)
        reason = rest.at('1.9').expect_error(
            400 if wrong else 404, route.method, f'{path}?V=1', body
        )
        assert ('body.params' if wrong else MISSING_ID) in reason, body


@pytest.mark.parametrize('name', NAMED)
def test_identity_when_unknown_is_not_found(
    rest: RestClient, name: str
) -> None:
    route = BY_NAME[name]
    content = dict(required_of(route))
    if route.method == 'PATCH' and 'name' in body_fields(route):
        content['name'] = 'other'
    if route.params.key == 'resize':
        content['max_size'] = 1
    body = content_of(route, content) if route.params.body else None
    identities = {
        MISSING_ID: 404,
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
        # Only valid identities can be looked up: vary the others, too.
        for field in route.path_fields if status == 400 else ('identity',):
            # requests would resolve the dots
            sent = '%2e%2e' if identity == '..' else identity
            path = path_of(route, sent, field)
            response = rest.request(route.method, path, body)
            assert response.status_code == status, (path, response.text)


PATHS = sorted({route.path for route in ROUTES} | {'/', '/v1'})


@embedded_sqlite_only
@pytest.mark.parametrize('path', PATHS)
def test_method_when_a_path_lacks_it_is_not_allowed(
    rest: RestClient, path: str
) -> None:
    reached = [r for r in ROUTES if r.path in matching_paths(path)]
    has = {r.method for r in reached} or {'GET'}
    has |= {'HEAD'} if 'GET' in has else set()
    every = {'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'}
    for method in (every | {'PONY', 'TRACE'}) - has:
        sent = path_of(reached[0]) if '{' in path else path
        response = rest.request(method, sent)
        assert response.status_code == 405, (method, response.text)
        allowed = set(response.headers['Allow'].split(', '))
        assert allowed == has, method


@embedded_sqlite_only
@pytest.mark.parametrize('version', history.HISTORY)
def test_every_endpoint_refuses_an_unknown_field_at_every_version(
    rest: RestClient, version: str
) -> None:
    at, parsed = rest.at(version), Version.parse(version)
    for name, route in BY_NAME.items():
        body = None
        path = path_of(route)
        if name in CLOSED:
            body = content_of(route, {**closed_of(route), 'pony': 1})
        else:
            body = content_of(route, {}) if name in OPEN else None
            path = with_query(path, 'pony=1')
        response = at.request(route.method, path, body)
        if route.request.version_at(parsed, early=True) is None:
            assert response.status_code == 404, (name, response.text)
            assert 'needs API version' in error_message(response)
            assert f'asked for {version}.' in error_message(response)
        elif route.params.webhook or (name in CLOSED and route.lookup_first):
            assert response.status_code == 404, (name, response.text)
        else:
            assert response.status_code == 400, (name, response.text)
            assert 'pony' in error_message(response)


def test_service_works_after_all_other_tests(
    service: Deployment, rest: RestClient, profile: str
) -> None:
    rest.get(f'/v1/profiles/{profile}')
    assert service.logged_errors() == []
    assert service.locks() == []
