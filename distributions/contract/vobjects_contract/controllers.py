# SPDX-License-Identifier: Apache-2.0
"""Derive the contract from decorated controllers.

::

    ROUTES = (
        ('GET', '/v1/boxes', boxes.index),
        ('POST', '/v1/boxes', boxes.create),
        ('POST', '/v1/boxes/{name}/actions', Actions(boxes)),
    )
    CONTRACT = Contract(POLICY, operations(POLICY, ROUTES), HISTORY)

A method with an argument ``body`` reads a body, and one with an argument
``query`` reads the query. If the decorators give no schema for these, or for
the response body, the part is undeclared, and
:meth:`~vobjects_contract.registry.Contract.undeclared` lists it. A method with
neither argument reads neither body nor query.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, TypeAlias

from vobjects.controllers import dispatch
from vobjects.controllers.actions import Actions
from vobjects.controllers.method_spec import spec_of, success_status
from vobjects.controllers.ranges import RangeMap
from vobjects.controllers.wrapper import ALWAYS_EXPECTED
from vobjects.microversions.version_policy import VersionPolicy
from vobjects.versions import Version
from vobjects_contract import standard_schemas, type_schemas
from vobjects_contract.registry import (
    UNDECLARED,
    Operation,
    OperationShape,
    tag_of,
)
from vobjects_contract.schema_tree import Schema

#: HTTP method; path, in which ``{name}`` stands for a segment; and handler: a
#: function, a method or :class:`Actions`.
Route: TypeAlias = tuple[str, str, Callable[..., Any]]

#: Statuses of successful responses without a body.
_NO_BODY_STATUSES = (
    HTTPStatus.NO_CONTENT,
    HTTPStatus.RESET_CONTENT,
    HTTPStatus.NOT_MODIFIED,
)

_SEGMENT: Schema = {'type': 'string', 'minLength': 1}


def operations(
    policy: VersionPolicy, routes: Iterable[Route]
) -> list[Operation]:
    """Return the operations of the routes, in their order."""
    return [
        operation
        for route in routes
        for operation in _route_operations(policy, route)
    ]


def _route_operations(
    policy: VersionPolicy, route: Route
) -> Iterator[Operation]:
    method, path, handler = route
    by_key: Mapping[str, Callable[..., Any]] = (
        handler.methods if isinstance(handler, Actions) else {'': handler}
    )
    for key, method_handler in by_key.items():
        yield Operation(
            method,
            path,
            _shape_function(policy, path, method_handler),
            key=key,
            summary=_summary(method_handler),
            tag=tag_of(policy, path),
        )


def _shape_function(
    policy: VersionPolicy, path: str, handler: Callable[..., Any]
) -> Callable[[Version], OperationShape | None]:
    segments = dict.fromkeys(re.findall(r'{(\w+)}', path), _SEGMENT)
    unversioned = policy.default_for(policy.limit())

    def shape_at(version: Version) -> OperationShape | None:
        function = _function_at(handler, version)
        if function is None:
            return None
        may_be_missing = _function_at(handler, unversioned) is None
        return _shape(policy, function, version, segments, may_be_missing)

    return shape_at


def _function_at(
    handler: Callable[..., Any], version: Version
) -> Callable[..., Any] | None:
    """Return the function that serves a version, or None."""
    versioned = dispatch.versioned_of(handler)
    function = versioned.functions.at(version) if versioned else handler
    if function is None:
        return None
    spec = spec_of(function)
    is_removed = spec.removal and version >= spec.removal.version
    return None if is_removed else function


def _shape(
    policy: VersionPolicy,
    function: Callable[..., Any],
    version: Version,
    segments: Mapping[str, Schema],
    may_be_missing: bool,
) -> OperationShape:
    spec = spec_of(function)
    parameters = inspect.signature(function).parameters
    status = success_status(function, version)
    response_body = _schema_at(spec.response_schemas, version)
    error_statuses = {
        *(spec.error_statuses.at(version) or ()),
        *ALWAYS_EXPECTED,
    }
    if may_be_missing:  # for requests without a version
        error_statuses.add(policy.method_missing_status)
    return OperationShape(
        path=segments,
        query=(
            _schema_at(spec.query_schemas, version)
            if spec.query_schemas or 'query' in parameters
            else type_schemas.closed({})
        ),
        body=(
            _schema_at(spec.request_schemas, version)
            if spec.request_schemas or 'body' in parameters
            else None
        ),
        responses={
            status: None if status in _NO_BODY_STATUSES else response_body,
            **standard_schemas.errors(policy, error_statuses),
        },
    )


def _schema_at(ranges: RangeMap[Any], version: Version) -> Schema:
    schema = ranges.at(version)
    return (
        UNDECLARED
        if schema is None
        else type_schemas.to_2020_12(schema.definition)
    )


def _summary(handler: Callable[..., Any]) -> str:
    versioned = dispatch.versioned_of(handler)
    newest = versioned.newest if versioned else handler
    text = inspect.getdoc(newest) or ''
    return text.partition('\n')[0].rstrip('.')
