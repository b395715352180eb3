# SPDX-License-Identifier: Apache-2.0
"""Errors are short and printable, whatever a request contains."""

from __future__ import annotations

import itertools
import json
import unicodedata
import urllib.parse
from collections.abc import Iterator

import pytest

from api import routes
from tests.unit.api.client import ApiClient, Response
from tests.unit.api.endpoints import LATEST, all_routes, route_path, wrap_body
from tests.unit.api.fake_engine import FakeEngine
from vobjects import exceptions
from vobjects.clustering import errors as engine_errors

LONG = 'é' * 3000

#: JSON texts: long, huge or deep, or with characters that are not printable.
HOSTILE = [
    json.dumps(LONG),
    json.dumps('a b\n\x1b[31m\x85\u2028\u202e\0' * 20),
    r'"\ud800"',
    '9' * 4000,
    '9' * 5000,
    '-1e400',
    '1e308',
    f'[{", ".join(["1"] * 3000)}]',
    '[' * 30 + ']' * 30,
    '{"a":' * 30 + '1' + '}' * 30,
    json.dumps({LONG: LONG}),
    json.dumps([LONG]),
    json.dumps({f'{number}\n': LONG for number in range(300)}),
    r'{"\ud800": "\udfff\ud800"}',
]


def check(
    response: Response, longest: int = exceptions.MAX_VALUE_LENGTH
) -> None:
    """Check an error.

    :param longest: length from which a value is too long to be quoted; 0: any
        may be
    """
    if response.status < 400:
        return
    assert response.status < 500, response.content[:500]
    texts = [response.json['errors'][0]['detail']]
    if 'error' in response.json:
        texts.append(response.json['error']['message'])
    for text in texts:
        assert len(text) <= exceptions.MAX_MESSAGE_LENGTH, ascii(text)
        if longest:
            assert LONG[:longest] not in text, ascii(text)
        for character in text.replace('\n', ''):
            assert unicodedata.category(character) not in ('Cc', 'Cs'), ascii(
                text
            )


def request_bodies(route: routes.Route) -> Iterator[bytes]:
    names = [json.dumps(name) for name in (*route.request.fields, LONG, '\n')]
    for value in HOSTILE:
        yield value.encode()
        yield wrap_body(route, value)
        # Outside of the object that a route wraps, each name is unknown.
        yield f'{{{names[0]}: {value}}}'.encode()
        for name in names:
            yield wrap_body(route, f'{{{name}: {value}}}')


@all_routes
def test_error_when_the_body_is_hostile_is_short_and_printable(
    api: ApiClient, route: routes.Route
) -> None:
    if not route.params.body:
        pytest.skip('no body')
    for body in request_bodies(route):
        check(
            api(
                route.method,
                route_path(route),
                raw=body,
                version=LATEST,
            )
        )


QUERY_VALUES = [
    LONG,
    'a\nb\x1b\x7f\x85' * 20,
    '\udcff'.encode('utf-8', 'surrogatepass').decode('latin-1'),
    '9' * 5000,
    ','.join(f'name{number}:asc' for number in range(500)),
]


@all_routes
def test_error_when_the_query_is_hostile_is_short_and_printable(
    api: ApiClient, route: routes.Route
) -> None:
    names = [*route.request.fields, *QUERY_VALUES]
    # Each value in each form, and each name with each value.
    for number, (name, value) in enumerate(
        itertools.product(names, QUERY_VALUES)
    ):
        pair = urllib.parse.urlencode({name: value})
        forms = (pair, f'{pair}&{pair}', f'{name}={value}')
        query = forms[number % len(forms)]
        environ = {
            'QUERY_STRING': query.encode().decode('latin-1'),
            'HTTP_OPENSTACK_API_VERSION': 'clustering latest',
        }
        check(api.unlinted(route.method, route_path(route), environ))


@pytest.mark.parametrize('method', ['GET', 'POST', 'X' * 3000, 'A\x85\n'])
def test_error_when_the_path_is_hostile_is_short_and_printable(
    api: ApiClient, method: str
) -> None:
    for value in QUERY_VALUES:
        text = value.encode('utf-8', 'surrogateescape').decode('latin-1')
        for prefix in ('/', '/v1/', '/v1/clusters/', '/v1/clusters/x/'):
            check(api.unlinted(method, '/', {'PATH_INFO': prefix + text}))


HEADERS = [
    'HTTP_OPENSTACK_API_VERSION',
    'HTTP_HOST',
    'HTTP_ORIGIN',
    'HTTP_ACCEPT',
    'HTTP_X_OPENSTACK_REQUEST_ID',
    'HTTP_TRANSFER_ENCODING',
    'HTTP_X_FORWARDED_HOST',
    'CONTENT_TYPE',
    'CONTENT_LENGTH',
]


@pytest.mark.parametrize('name', HEADERS)
def test_error_when_a_header_is_hostile_is_short_and_printable(
    api: ApiClient, name: str
) -> None:
    for value in QUERY_VALUES:
        text = value.encode('utf-8', 'surrogateescape').decode('latin-1')
        for header in (
            text,
            f'clustering {text}',
            f'http://{text}/',
            f'{text}/json',
        ):
            for method in ('GET', 'POST'):
                check(api.unlinted(method, '/v1/clusters', {name: header}))


@pytest.mark.parametrize(
    'error',
    [
        engine_errors.BadRequest('\ud800\n' * 3000),
        engine_errors.BadRequest.advised('\0' * 3000, LONG),
        engine_errors.InvalidSpec(LONG, LONG),
    ],
)
def test_error_when_the_engine_sends_a_long_text_is_short_and_printable(
    api: ApiClient, engine: FakeEngine, error: Exception
) -> None:
    engine.error = error
    check(api('GET', '/v1/clusters/x'), 0)
