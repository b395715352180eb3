# SPDX-License-Identifier: Apache-2.0
"""Write the contract of one microversion as an OpenAPI 3.1 document.

The extension ``x-openstack`` gives the first microversion of an operation and,
if the operation was removed, the last one (``min-ver``, ``max-ver``), as
OpenStack's own descriptions do. Properties that were added later than their
operation have ``min-ver``, too. A part that this microversion accepts before
its ``min-ver`` is marked as ``early``. Operations with the same method and
path, which differ by the action in the body, become one operation whose body
is a ``oneOf``.

If the microversion is being retired, all its operations are ``deprecated``,
and ``info`` gives the dates and the successor.

Schemas with a ``title`` become components and are referenced.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any

from vobjects.microversions import error_formats, retirement
from vobjects.microversions.version_policy import HEADER
from vobjects.versions import Version
from vobjects_contract import schema_tree, standard_schemas
from vobjects_contract.registry import (
    Contract,
    Operation,
    OperationShape,
    parts,
)
from vobjects_contract.schema_tree import Schema

OPENAPI = '3.1.0'
DIALECT = 'https://json-schema.org/draft/2020-12/schema'

#: Name of OpenStack's OpenAPI extension.
EXTENSION = 'x-openstack'

_JSON = 'application/json'

#: Characters that the name of a component may not contain.
_FORBIDDEN = re.compile(r'[^A-Za-z0-9._-]+')

Document = dict[str, Any]


def document(contract: Contract, version: Version) -> Document:
    """Return the OpenAPI document of a microversion.

    :raises vobjects.exceptions.VobjectsError: the microversion does not exist
    """
    contract.at(version)  # raises for an unknown microversion
    return _Writer(contract, version).document()


class _Writer:
    """Writes one document and collects its components."""

    def __init__(self, contract: Contract, version: Version) -> None:
        self._contract = contract
        self._version = version
        self._policy = contract.policy
        self._retired = retirement.retirement_of(self._policy.retired, version)
        self._schemas: Document = {}
        self._locations = functools.cache(self._locations_at)

    def document(self) -> Document:
        paths: Document = {}
        for operations in self._grouped_operations():
            path = paths.setdefault(operations[0].path, {})
            path[operations[0].method.lower()] = self._operation(operations)
        policy = self._policy
        return {
            'openapi': OPENAPI,
            'jsonSchemaDialect': DIALECT,
            'info': {
                'title': f'OpenStack {policy.service_type} API',
                'version': str(self._version),
                'license': {
                    'name': 'Apache 2.0',
                    'identifier': 'Apache-2.0',
                },
                EXTENSION: {
                    'min-ver': str(policy.minimum),
                    'max-ver': str(policy.maximum),
                    **self._retirement(),
                },
            },
            'externalDocs': {'url': policy.help_url},
            'servers': [{'url': '/'}],
            # Not required: the service may use Keystone tokens, or no
            # authentication.
            'security': [],
            'paths': paths,
            'components': {
                'schemas': self._schemas,
                'parameters': {'Microversion': self._microversion()},
                'headers': self._headers(),
            },
        }

    def _retirement(self) -> Document:
        retired = self._retired
        if retired is None:
            return {}
        dates = {'deprecated': retired.deprecated, 'sunset': retired.sunset}
        result: Document = {
            key: moment.isoformat()
            for key, moment in dates.items()
            if moment is not None
        }
        if retired.successor:
            result['successor'] = retired.successor
        return result

    def _grouped_operations(self) -> list[list[Operation]]:
        """Return the operations, grouped by method and path."""
        shapes = self._contract.accepted.at(self._version)
        groups: dict[tuple[str, str], list[Operation]] = {}
        for operation in self._contract.accepted.operations:
            if operation.name in shapes:
                key = (operation.path, operation.method)
                groups.setdefault(key, []).append(operation)
        return list(groups.values())

    def _operation(self, operations: list[Operation]) -> Document:
        first = operations[0]
        shapes = [self._shape(operation) for operation in operations]
        several = len(operations) > 1 or bool(first.key)
        result: Document = {
            'operationId': _id(first),
            'summary': 'Start an action' if several else first.summary,
            'parameters': self._parameters(first, shapes[0]),
            'responses': self._responses(operations, shapes),
            EXTENSION: self._version_range(operations),
        }
        if first.key:
            result[EXTENSION]['discriminator'] = 'action'
        if first.tag:
            result['tags'] = [first.tag]
        if body := self._body(operations, shapes):
            result['requestBody'] = body
        if self._retired:
            result['deprecated'] = True
        return result

    def _shape(self, operation: Operation) -> OperationShape:
        return self._contract.accepted.at(self._version)[operation.name]

    def _version_range(self, operations: list[Operation]) -> Document:
        ranges = [
            self._contract.since(operation.name) for operation in operations
        ]
        result = self._from(min(first for first, _last in ranges))
        lasts = [last for _first, last in ranges if last is not None]
        if len(lasts) == len(ranges):
            result['max-ver'] = str(max(lasts))
        return result

    # Requests

    def _parameters(
        self, operation: Operation, shape: OperationShape
    ) -> list[Document]:
        result: list[Document] = [
            {'$ref': '#/components/parameters/Microversion'}
        ]
        for name, schema in shape.path.items():
            result.append(
                {
                    'name': name,
                    'in': 'path',
                    'required': True,
                    'schema': self._reference(schema),
                }
            )
        required = shape.query.get('required', ())
        for name, schema in shape.query.get('properties', {}).items():
            parameter = {
                'name': name,
                'in': 'query',
                'required': name in required,
                'schema': self._reference(schema),
            }
            parameter |= self._since(operation, f'query.{name}')
            result.append(parameter)
        return result

    def _microversion(self) -> Document:
        """Return the header parameter that requests this microversion."""
        policy = self._policy
        return {
            'name': HEADER,
            'in': 'header',
            'description': f'Without it, {policy.minimum} is served',
            'required': self._version != policy.minimum,
            'schema': {
                'type': 'string',
                'enum': [f'{policy.service_type} {self._version}'],
            },
        }

    def _body(
        self, operations: list[Operation], shapes: list[OperationShape]
    ) -> Document | None:
        bodies = []
        for operation, shape in zip(operations, shapes, strict=True):
            if shape.body is None:
                continue
            body = self._reference(
                self._add_first_versions(operation, shape.body, 'body')
            )
            if operation.key:
                body = {
                    **body,
                    'description': operation.summary,
                    EXTENSION: {
                        **self._version_range([operation]),
                        'action-name': operation.key,
                    },
                }
            bodies.append(body)
        if not bodies:
            return None
        schema = bodies[0] if len(bodies) == 1 else {'oneOf': bodies}
        return {
            'required': all(shape.body_required for shape in shapes),
            'content': {_JSON: {'schema': schema}},
        }

    def _add_first_versions(
        self, operation: Operation, schema: Schema, location: str
    ) -> Schema:
        """Return a schema whose later properties carry their first version.

        :param location: location of the schema within the shape
        """

        def add(step: str, inner: Schema) -> Schema:
            sublocation = location + step
            result = self._add_first_versions(operation, inner, sublocation)
            if (
                sublocation == location
                or sublocation != schema_tree.drop_unnamed_steps(sublocation)
            ):
                return result
            return {**result, **self._since(operation, sublocation)}

        return schema_tree.map_subschemas(schema, add)

    def _since(self, operation: Operation, location: str) -> Document:
        """Return the extension with the first version of a part.

        :returns: an empty mapping if the part is as old as its operation
        """
        first, _last = self._contract.since(operation.name)
        for version in self._contract.versions:
            shape = self._contract.at(version).get(operation.name)
            if shape is not None and location in self._locations(
                operation, version
            ):
                if version == first:
                    break
                return {EXTENSION: self._from(version)}
        return {}

    def _from(self, version: Version) -> Document:
        """Return ``min-ver``, and ``early`` if it is a later version."""
        early = {'early': True} if version > self._version else {}
        return {'min-ver': str(version), **early}

    def _locations_at(
        self, operation: Operation, version: Version
    ) -> frozenset[str]:
        return frozenset(
            sublocation
            for location, schema in parts(
                self._contract.at(version)[operation.name]
            )
            for sublocation, _schema in schema_tree.walk(schema, location)
        )

    # Responses

    def _responses(
        self, operations: list[Operation], shapes: list[OperationShape]
    ) -> Document:
        result: Document = {}
        for status in sorted({s for shape in shapes for s in shape.responses}):
            pairs = [
                (operation, shape)
                for operation, shape in zip(operations, shapes, strict=True)
                if status in shape.responses
            ]
            result[str(status)] = self._response(status, pairs)
        return result

    def _response(
        self, status: int, pairs: list[tuple[Operation, OperationShape]]
    ) -> Document:
        headers: Document = {
            name: {'$ref': f'#/components/headers/{name}'}
            for name in standard_schemas.headers(self._policy, self._version)
        }
        for name, schema in pairs[0][1].headers.get(status, {}).items():
            headers[name] = {
                'required': True,
                'schema': self._reference(schema),
            }
        result: Document = {
            'description': error_formats.status_phrase(status),
            'headers': headers,
        }
        bodies = _distinct(
            self._reference(
                self._add_first_versions(operation, body, f'response {status}')
            )
            for operation, shape in pairs
            if (body := shape.responses[status]) is not None
        )
        if bodies:
            schema = bodies[0] if len(bodies) == 1 else {'anyOf': bodies}
            result['content'] = {_JSON: {'schema': schema}}
        return result

    def _headers(self) -> Document:
        headers = standard_schemas.headers(self._policy, self._version)
        return {
            name: {'required': True, 'schema': schema}
            for name, schema in headers.items()
        }

    # Components

    def _reference(self, schema: Schema) -> Document:
        """Return a schema whose titled parts are references to components."""
        result = schema_tree.map_subschemas(
            schema, lambda _step, inner: self._reference(inner)
        )
        if result.get('default', '') is None:
            del result['default']
        title = result.get('title')
        if not isinstance(title, str) or 'type' not in result:
            return result
        name = _FORBIDDEN.sub('_', title)
        if self._schemas.setdefault(name, result) != result:
            return result  # another schema has the name: keep this inline
        return {'$ref': f'#/components/schemas/{name}'}


def _id(operation: Operation) -> str:
    """Return an identifier for programs, such as ``get_v1_x_id``."""
    words = re.findall('[A-Za-z0-9]+', f'{operation.method} {operation.path}')
    return '_'.join(words).lower()


def _distinct(schemas: Iterable[Document]) -> list[Document]:
    distinct: list[Document] = []
    for schema in schemas:
        if schema not in distinct:
            distinct.append(schema)
    return distinct
