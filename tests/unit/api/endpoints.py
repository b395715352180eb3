# SPDX-License-Identifier: Apache-2.0
"""The endpoints of the route table, as parameters of tests.

A new endpoint is tested as soon as it is in the table. What is tried at each
of them is tried in one test: a test for each attempt would take longer to
begin and to end than the attempt itself.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from api import routes
from tests.unit.api import http

LATEST = '1.14'

#: How a server that can tell where chunks end says so.
CHUNKED = {'CONTENT_LENGTH': '', 'wsgi.input_terminated': True}
MARKER = '6f3b3bd6-d1ef-4b6b-9d4b-7b1f0e0f4c8e'


def name_of(route: routes.Route) -> str:
    return f'{route.method} {route.path} {route.params.key}'.strip()


def every(kind) -> Any:
    """Return the routes of a kind as parameters."""
    return pytest.mark.parametrize(
        'route', [r for r in routes.ROUTES if kind(r)], ids=name_of
    )


def path_of(route: routes.Route, identity: str = 'x') -> str:
    return re.sub(r'\{\w+\}', lambda match: identity, route.path)


has_body = every(lambda route: route.params.body)
needs_body = every(
    lambda route: route.params.body and not route.params.body_optional
)
has_key = every(
    lambda route: route.params.key and not route.params.dispatch_on_key
)
has_identity = every(lambda route: '{identity}' in route.path)
all_routes = every(lambda route: True)
lists = every(lambda route: 'marker' in route.request.fields)


def send(
    api: http.Api, route: routes.Route, raw: bytes, **more
) -> http.Answer:
    return api(route.method, path_of(route), raw=raw, version=LATEST, **more)


def wrapped(route: routes.Route, text: str) -> bytes:
    """Return a body whose fields are ``text``, a JSON value."""
    if route.params.key_field:
        text = f'{{"reboot": {text}}}'
    if route.params.key:
        text = f'{{"{route.params.key}": {text}}}'
    return text.encode()
