# SPDX-License-Identifier: Apache-2.0
"""Requests to every endpoint, derived from the route table.

Tests cover a new endpoint automatically. Each required field must be in
:data:`VALUES`; otherwise the tests of its route fail.
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

#: ID of no resource.
MISSING_ID = str(uuid.UUID(int=0))

#: Values of required fields.
VALUES: dict[str, Any] = {
    'name': 'name',
    'profile_id': MISSING_ID,
    'policy_id': MISSING_ID,
    'identity': MISSING_ID,
    'path': 'name',
    'status': 'CANCELLED',
    'lifecycle_action_token': MISSING_ID,
}

#: Values of required fields by resource.
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

#: Name of the operation in a body whose key is an operation.
OPERATION = 'reboot'


def path_of(route: Route, identity: str = MISSING_ID, field: str = '') -> str:
    """Return a path of a route, with the query if it is required.

    :param identity: name or ID of the resource
    :param field: part of the path for it; empty: ``identity``
    """
    values = VALUES | {field or 'identity': identity}
    path = re.sub(r'\{(\w+)\}', lambda m: str(values[m[1]]), route.path)
    return f'{path}?V=2' if route.params.webhook else path


def with_query(path: str, query: str) -> str:
    """Return a path with more query parameters."""
    return f'{path}{"&" if "?" in path else "?"}{query}'


def content_of(route: Route, content: Any, operation: str = OPERATION) -> Any:
    """Return the body of a request, given its content."""
    key = operation if route.params.key_field else route.params.key
    return {key: content} if key else content


def open_field(route: Route) -> str:
    """Return the field that holds the whole content, if there is one."""
    return 'body' if route.params.webhook else route.params.body_field


def body_fields(route: Route) -> list[str]:
    """Return the fields that a body may have.

    Query parameters of a webhook are not declared individually.
    """
    if route.params.webhook:
        return [open_field(route)]
    return route.client_fields()


def required_of(route: Route) -> dict[str, Any]:
    """Return the required content of a body.

    :raises KeyError: :data:`VALUES` lacks a required field
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
    """Return required content to which unknown fields cannot be added."""
    flat = route.params.flat_field
    return required_of(route) | ({flat: {}} if flat else {})


def bodies(route: Route, field: str, value: Any) -> Iterator[Any]:
    """Yield the body that has a value for a field, if it can have one."""
    if field == open_field(route):
        yield content_of(route, value)
    elif field != route.params.key_field:
        yield content_of(route, {**required_of(route), field: value})
    elif isinstance(value, str):
        yield content_of(route, required_of(route), value)


def matching_paths(path: str) -> set[str]:
    """Return the paths of the route table that match a path.

    For example, ``/v1/profiles/{identity}`` matches ``/v1/profiles/validate``.
    """
    return {r.path for r in ROUTES if _matches(r.path, path)}


def _value(route: Route, name: str, field: Any) -> Any:
    if name == 'nodes':
        is_list = isinstance(field, fields.IdentityListField)
        return [MISSING_ID] if is_list else {MISSING_ID: MISSING_ID}
    resource = route.path.split('/')[2]
    return VALUES_BY_RESOURCE.get((resource, name)) or VALUES[name]


def _matches(template: str, other: str) -> bool:
    parts, others = template.split('/'), other.split('/')
    return len(parts) == len(others) and all(
        a == b or a.startswith('{') for a, b in zip(parts, others, strict=True)
    )
