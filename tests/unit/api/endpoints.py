# SPDX-License-Identifier: Apache-2.0
"""The endpoints of the route table, as parameters of tests.

New endpoints are tested without further code. One test tries all values at an
endpoint, because a test per value would take much longer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from api import routes
from tests.unit.api.client import ApiClient, Response
from vobjects.clustering import history

LATEST = str(history.MAXIMUM)

#: Environ of a chunked body, on a server that marks its end.
CHUNKED = {'CONTENT_LENGTH': '', 'wsgi.input_terminated': True}
MARKER = '6f3b3bd6-d1ef-4b6b-9d4b-7b1f0e0f4c8e'


def route_id(route: routes.Route) -> str:
    return f'{route.method} {route.path} {route.params.key}'.strip()


def routes_where(predicate: Callable[[routes.Route], Any]) -> Any:
    """Return a mark that runs a test with each of these routes."""
    return pytest.mark.parametrize(
        'route', [r for r in routes.ROUTES if predicate(r)], ids=route_id
    )


def route_path(route: routes.Route, identity: str = 'x') -> str:
    return re.sub(r'\{\w+\}', lambda match: identity, route.path)


has_body = routes_where(lambda route: route.params.body)
needs_body = routes_where(
    lambda route: route.params.body and not route.params.body_optional
)
has_key = routes_where(
    lambda route: route.params.key and not route.params.dispatch_on_key
)
has_identity = routes_where(lambda route: '{identity}' in route.path)
all_routes = routes_where(lambda route: True)
lists = routes_where(lambda route: 'marker' in route.request.fields)


def send(
    api: ApiClient, route: routes.Route, raw: bytes, **options
) -> Response:
    return api(
        route.method, route_path(route), raw=raw, version=LATEST, **options
    )


def wrap_body(route: routes.Route, text: str) -> bytes:
    """Return a body whose fields are ``text``, a JSON value."""
    if route.params.key_field:
        text = f'{{"reboot": {text}}}'
    if route.params.key:
        text = f'{{"{route.params.key}": {text}}}'
    return text.encode()
