# SPDX-License-Identifier: Apache-2.0
"""Requests to every endpoint, derived from the route table.

Tests cover a new endpoint automatically. Each required field must be in
:data:`VALUES`; otherwise the tests of its route fail.
"""

from __future__ import annotations

import re
import uuid
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


def content_of(route: Route, content: Any) -> Any:
    """Return the body of a request, given its content."""
    key = OPERATION if route.params.key_field else route.params.key
    return {key: content} if key else content


def open_field(route: Route) -> str:
    """Return the field that holds the whole content, if there is one."""
    return 'body' if route.params.webhook else route.params.body_field


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


def _value(route: Route, name: str, field: Any) -> Any:
    if name == 'nodes':
        is_list = isinstance(field, fields.IdentityListField)
        return [MISSING_ID] if is_list else {MISSING_ID: MISSING_ID}
    resource = route.path.split('/')[2]
    return VALUES_BY_RESOURCE.get((resource, name)) or VALUES[name]
