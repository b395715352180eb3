# SPDX-License-Identifier: Apache-2.0
"""The API contract of each microversion, derived from the route table.

Each route declares its success status. :data:`ERRORS` derives the error
statuses from the properties of a route. Tests that send requests generated
from these schemas verify that the service answers with no other status.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from api import routes
from vobjects.clustering import consts, history
from vobjects.clustering.service import SERVICE
from vobjects.microversions.version_policy import VersionPolicy
from vobjects.versions import Version
from vobjects_contract import registry, standard_schemas, type_schemas

#: Error status -> predicate of the routes that may return it.
ERRORS: Mapping[int, Callable[[routes.Route], bool]] = {
    HTTPStatus.BAD_REQUEST: lambda route: True,
    HTTPStatus.UNAUTHORIZED: lambda route: not route.public,
    HTTPStatus.FORBIDDEN: lambda route: True,
    HTTPStatus.NOT_FOUND: lambda route: (
        # A spec names its type.
        '{' in route.path or 'spec' in route.request.fields
    ),
    HTTPStatus.NOT_ACCEPTABLE: lambda route: True,
    HTTPStatus.CONFLICT: lambda route: route.method != routes.GET,
    HTTPStatus.LENGTH_REQUIRED: lambda route: route.params.body,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: lambda route: route.params.body,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: lambda route: route.params.body,
    HTTPStatus.SERVICE_UNAVAILABLE: lambda route: True,
}

_IDENTITY = {
    'type': 'string',
    'minLength': 1,
    'maxLength': consts.MAX_TEXT,
    'description': 'A name, an ID, or the beginning of an ID',
}

_URI = {'type': 'string', 'format': 'uri'}

#: Query of a webhook: the parameters of any action.
_WEBHOOK: type_schemas.Schema = {
    'type': 'object',
    'properties': {'V': {'type': 'string', 'enum': ['1', '2']}},
    'patternProperties': {'': {'type': 'string'}},
    'required': ['V'],
    'additionalProperties': False,
}

#: A JSON object with arbitrary content as the value of a field.
_MAP: type_schemas.Schema = {
    'type': 'object',
    'patternProperties': {'': type_schemas.ANYTHING},
    'additionalProperties': False,
}


def contract(policy: VersionPolicy = history.POLICY) -> registry.Contract:
    """Return the contract of the API.

    :param policy: the supported microversions, and whether fields are accepted
        early
    :raises vobjects.exceptions.DeclarationError: a route is declared twice
    """
    accepted = _contract(policy, early=True) if policy.accepts_early else None
    return _contract(policy, early=False, accepted=accepted)


def _contract(
    policy: VersionPolicy,
    *,
    early: bool,
    accepted: registry.Contract | None = None,
) -> registry.Contract:
    return registry.Contract(
        policy,
        [
            *standard_schemas.discovery_operations(policy),
            *(_operation(route, policy, early) for route in routes.ROUTES),
        ],
        SERVICE.history,
        accepted,
    )


def _operation(
    route: routes.Route, policy: VersionPolicy, early: bool
) -> registry.Operation:
    errors = [int(s) for s, applies in ERRORS.items() if applies(route)]
    if route.request.introduced():  # for requests that send no version
        errors.append(policy.method_missing_status)
    return registry.Operation(
        route.method,
        route.path,
        lambda version: _shape(route, version, errors, early),
        key=route.params.key if route.params.dispatch_on_key else '',
        summary=type_schemas.summary(route.request),
        tag=registry.tag_of(policy, route.path),
    )


def _shape(
    route: routes.Route,
    version: Version,
    errors: Sequence[int],
    early: bool,
) -> registry.OperationShape | None:
    params, cls = route.params, route.request
    names = route.client_fields()
    query = type_schemas.query(cls, version, route.query_fields(), early=early)
    body = type_schemas.request_part(cls, version, names, early=early)
    if query is None or body is None:
        return None
    if params.body_field:
        body = _MAP
    if params.webhook:
        query = _WEBHOOK
        body = _MAP
    if params.key_field:
        body = _keyed(body, params.key_field, flat=bool(params.flat_field))
    if params.key:
        body = type_schemas.closed({params.key: body}, [params.key])
    headers: dict[int, Mapping[str, Any]] = {}
    if route.renderer.starts_action:
        headers[route.status] = {'Location': _URI}
    return registry.OperationShape(
        path=dict.fromkeys(route.path_fields, _IDENTITY),
        query=query,
        body=body if params.body else None,
        body_required=not params.body_optional,
        responses={
            route.status: route.renderer.schema(version, early),
            **dict.fromkeys(errors, standard_schemas.ERROR),
        },
        headers=headers,
    )


def _keyed(
    content: type_schemas.Schema, name: str, *, flat: bool = False
) -> type_schemas.Schema:
    """Return the schema of an object whose single key is a field's value."""
    if name in content.get('properties', {}):
        properties = dict(content['properties'])
        del properties[name]
        required = [n for n in content.get('required', ()) if n != name]
        content = type_schemas.closed(properties, required)
    if flat:
        content = {'anyOf': [content, _MAP]}
    return {
        'type': 'object',
        'patternProperties': {'': content},
        'additionalProperties': False,
        'minProperties': 1,
        'maxProperties': 1,
    }


#: What ``vobjects contract`` prints: without the options of an installation.
CONTRACT = contract()
