# SPDX-License-Identifier: Apache-2.0
"""Derive the contract from request types.

For services whose controllers read requests with
:mod:`vobjects.controllers.request_parsing`::

    ROUTES = (
        TypedRoute('GET', '/v1/boxes', BoxListRequest, 200, list_of_boxes),
        TypedRoute('POST', '/v1/boxes', BoxCreateRequest, 201, Box, (409,)),
        TypedRoute('DELETE', '/v1/boxes/{name}', BoxDeleteRequest, 204,
                   errors=(404,)),
    )
    CONTRACT = Contract(POLICY, operations(POLICY, ROUTES), SERVICE.history)

The fields that the path names come from the path. All others come from the
query of a GET, HEAD or DELETE, and from the body of any other request.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import TypeAlias

from vobjects import objects
from vobjects.microversions import schema
from vobjects.microversions.version_policy import VersionPolicy
from vobjects.versions import Version
from vobjects_contract import standard_schemas, type_schemas
from vobjects_contract.registry import Operation, OperationShape, tag_of
from vobjects_contract.schema_tree import Schema

#: Returns the schema of a body at a microversion; None: there is no body.
SchemaAt: TypeAlias = Callable[[Version], Schema | None]

_QUERY_METHODS = ('GET', 'HEAD', 'DELETE')


def no_body(version: Version) -> None:
    """Return that a response has no body."""


@dataclasses.dataclass(frozen=True, slots=True)
class TypedRoute:
    """A route whose request is an object of a type.

    :ivar method: HTTP method
    :ivar path: path, in which ``{name}`` stands for the field of that name
    :ivar request: type of the request
    :ivar status: status of a successful response
    :ivar response: its body: a type, or a function that returns the schema
    :ivar errors: statuses of errors of this route, in addition to those that
        any route may have
    :ivar body: schema of a request body in a format of the service's own, such
        as JSON Patch; None: an object with the fields of the type
    """

    method: str
    path: str
    request: type[objects.Request]
    status: int
    response: SchemaAt | type[objects.Resource] = no_body
    errors: tuple[int, ...] = ()
    body: SchemaAt | None = None


def operations(
    policy: VersionPolicy, routes: Iterable[TypedRoute]
) -> list[Operation]:
    """Return the operations of the routes, in their order."""
    return [
        Operation(
            route.method,
            route.path,
            _shape_function(policy, route),
            summary=type_schemas.summary(route.request),
            tag=tag_of(policy, route.path),
        )
        for route in routes
    ]


def _shape_function(
    policy: VersionPolicy, route: TypedRoute
) -> Callable[[Version], OperationShape | None]:
    in_path = re.findall(r'{(\w+)}', route.path)
    others = [
        name
        for name in schema.all_field_names(route.request)
        if name not in in_path
    ]
    statuses = {HTTPStatus.SERVICE_UNAVAILABLE, *route.errors}
    if route.request.introduced() is not None:
        statuses.add(policy.method_missing_status)
    failures = standard_schemas.errors(policy, statuses)
    no_query = type_schemas.closed({})
    success: SchemaAt = (
        functools.partial(type_schemas.resource, route.response)
        if isinstance(route.response, type)
        else route.response
    )

    def shape_at(version: Version) -> OperationShape | None:
        path = type_schemas.query(route.request, version, in_path)
        if path is None:
            return None
        query: Schema | None = no_query
        body: Schema | None = None
        if route.method in _QUERY_METHODS:
            query = type_schemas.query(route.request, version, others)
        elif route.body is not None:
            body = route.body(version)
        else:
            body = type_schemas.request_part(route.request, version, others)
        return OperationShape(
            path=path['properties'],
            query=query or no_query,
            body=body,
            responses={route.status: success(version), **failures},
        )

    return shape_at
