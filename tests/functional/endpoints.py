# SPDX-License-Identifier: Apache-2.0
"""How to ask anything of each endpoint, from what its route declares.

So a new endpoint is tested from its first day. A field that a request cannot
do without has to be in :data:`VALUES`, or the tests of its route fail.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Any

from api.routes import ROUTES, Route
from tests.functional.rest import SPEC
from vobjects import fields

BY_NAME = {
    f'{r.method} {r.path}'
    + (f' {r.params.key}' if r.params.dispatch_on_key else ''): r
    for r in ROUTES
}

#: Of nothing that exists.
MISSING_ID = str(uuid.UUID(int=0))

#: Value of a field that a complete request needs.
VALUES: dict[str, Any] = {
    'name': 'name',
    'profile_id': MISSING_ID,
    'policy_id': MISSING_ID,
    'identity': MISSING_ID,
    'path': 'name',
    'status': 'CANCELLED',
    'lifecycle_action_token': MISSING_ID,
}

#: Those that depend on the resource.
VALUES_BY_RESOURCE: dict[tuple[str, str], Any] = {
    ('profiles', 'spec'): SPEC,
    ('policies', 'spec'): {
        'type': 'senlin.policy.deletion',
        'version': '1.0',
        'properties': {'criteria': 'OLDEST_FIRST'},
    },
    ('receivers', 'type'): 'webhook',
    ('nodes', 'type'): 'os.nova.server-1.0',
}

#: Name of an operation, where that is a key of the body.
OPERATION = 'reboot'


def path_of(route: Route, identity: str = MISSING_ID, field: str = '') -> str:
    """Return a path of a route, with a query if it cannot do without.

    :param identity: of what is asked for
    :param field: the part of the path that it is; empty: ``identity``
    """
    values = VALUES | {field or 'identity': identity}
    path = re.sub(r'\{(\w+)\}', lambda m: str(values[m[1]]), route.path)
    return f'{path}?V=2' if route.params.webhook else path


def with_query(path: str, query: str) -> str:
    """Return a path with more of a query."""
    return f'{path}{"&" if "?" in path else "?"}{query}'


def content_of(route: Route, content: Any, operation: str = OPERATION) -> Any:
    """Return the body of a route's requests with some content."""
    key = operation if route.params.key_field else route.params.key
    return {key: content} if key else content


def open_field(route: Route) -> str:
    """Return the field that the whole content is, whatever is in it."""
    return 'body' if route.params.webhook else route.params.body_field


def body_fields(route: Route) -> list[str]:
    """Return the fields that clients may give in the body.

    Parameters in the query of a webhook are not declared one by one.
    """
    if route.params.webhook:
        return [open_field(route)]
    return route.client_fields()


def required_of(route: Route) -> dict[str, Any]:
    """Return the content that a body cannot do without.

    :raises KeyError: nobody knows a value for a field
    """
    params = route.params
    if params.body_optional or open_field(route):
        return {}
    return {
        name: _value(route, name, field)
        for name in route.client_fields()
        if name != params.key_field
        and not (field := route.request.fields[name]).nullable
        and field.default is fields.UnspecifiedDefault
    }


def closed_of(route: Route) -> dict[str, Any]:
    """Return such content beside which no unknown field is let in."""
    flat = route.params.flat_field
    return required_of(route) | ({flat: {}} if flat else {})


def bodies(route: Route, field: str, value: Any) -> Iterator[Any]:
    """Yield the bodies, one or none, whose field has a value."""
    if field == open_field(route):
        yield content_of(route, value)
    elif field != route.params.key_field:
        yield content_of(route, {**required_of(route), field: value})
    elif isinstance(value, str):
        yield content_of(route, required_of(route), value)


def covering(path: str) -> set[str]:
    """Return the paths of the route table that reach what one reaches.

    Somebody may call a profile ``validate``.
    """
    return {r.path for r in ROUTES if _covers(r.path, path)}


def _value(route: Route, name: str, field: Any) -> Any:
    if name == 'nodes':
        one = isinstance(field, fields.IdentityListField)
        return [MISSING_ID] if one else {MISSING_ID: MISSING_ID}
    resource = route.path.split('/')[2]
    return VALUES_BY_RESOURCE.get((resource, name)) or VALUES[name]


def _covers(one: str, other: str) -> bool:
    ones, others = one.split('/'), other.split('/')
    return len(ones) == len(others) and all(
        a == b or a.startswith('{') for a, b in zip(ones, others, strict=True)
    )
