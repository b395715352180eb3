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
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from vobjects.contract import documents, schema_tree
from vobjects.contract.registry import (
    Contract,
    Operation,
    OperationShape,
    parts,
)
from vobjects.contract.schema_tree import Schema
from vobjects.microversions import retirement
from vobjects.microversions.policy import HEADER
from vobjects.versions import Version

OPENAPI = '3.1.0'
DIALECT = 'https://json-schema.org/draft/2020-12/schema'

#: Name of OpenStack's OpenAPI extension.
EXTENSION = 'x-openstack'

_JSON = 'application/json'

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
        self._places = functools.cache(self._places_of)

    def document(self) -> Document:
        paths: Document = {}
        for found in self._operations():
            path = paths.setdefault(found[0].path, {})
            path[found[0].method.lower()] = self._operation(found)
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
                    **self._end(),
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

    def _end(self) -> Document:
        retired = self._retired
        if retired is None:
            return {}
        dates = {'deprecated': retired.deprecated, 'sunset': retired.sunset}
        made: Document = {
            key: moment.isoformat()
            for key, moment in dates.items()
            if moment is not None
        }
        if retired.successor:
            made['successor'] = retired.successor
        return made

    def _operations(self) -> list[list[Operation]]:
        """Return the operations, grouped by method and path."""
        there = self._contract.accepted.at(self._version)
        found: dict[tuple[str, str], list[Operation]] = {}
        for one in self._contract.accepted.operations:
            if one.name in there:
                found.setdefault((one.path, one.method), []).append(one)
        return list(found.values())

    def _operation(self, found: list[Operation]) -> Document:
        first = found[0]
        shapes = [self._shape(one) for one in found]
        several = len(found) > 1 or bool(first.key)
        made: Document = {
            'operationId': _id(first),
            'summary': 'Start an action' if several else first.summary,
            'parameters': self._parameters(first, shapes[0]),
            'responses': self._responses(found, shapes),
            EXTENSION: self._span(found),
        }
        if first.tag:
            made['tags'] = [first.tag]
        if body := self._body(found, shapes):
            made['requestBody'] = body
        if self._retired or all(shape.deprecated for shape in shapes):
            made['deprecated'] = True
        return made

    def _shape(self, one: Operation) -> OperationShape:
        return self._contract.accepted.at(self._version)[one.name]

    def _span(self, found: list[Operation]) -> Document:
        spans = [self._contract.since(one.name) for one in found]
        made = self._from(min(first for first, _last in spans))
        lasts = [last for _first, last in spans if last is not None]
        if len(lasts) == len(spans):
            made['max-ver'] = str(max(lasts))
        if found[0].key:
            made['discriminator'] = 'action'
        return made

    # Requests

    def _parameters(
        self, one: Operation, shape: OperationShape
    ) -> list[Document]:
        made: list[Document] = [
            {'$ref': '#/components/parameters/Microversion'}
        ]
        for name, schema in shape.path.items():
            made.append(
                {
                    'name': name,
                    'in': 'path',
                    'required': True,
                    'schema': self._put(schema),
                }
            )
        required = shape.query.get('required', ())
        for name, schema in shape.query.get('properties', {}).items():
            parameter = {
                'name': name,
                'in': 'query',
                'required': name in required,
                'schema': self._put(schema),
            }
            parameter |= self._since(one, f'query.{name}')
            made.append(parameter)
        return made

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
        self, found: list[Operation], shapes: list[OperationShape]
    ) -> Document | None:
        bodies = []
        for one, shape in zip(found, shapes, strict=True):
            if shape.body is None:
                continue
            body = self._put(self._dated(one, shape.body, 'body'))
            if one.key:
                span = self._span([one]) | {'action-name': one.key}
                del span['discriminator']
                body = {**body, 'description': one.summary, EXTENSION: span}
            bodies.append(body)
        if not bodies:
            return None
        schema = bodies[0] if len(bodies) == 1 else {'oneOf': bodies}
        return {
            'required': all(shape.body_required for shape in shapes),
            'content': {_JSON: {'schema': schema}},
        }

    def _dated(self, one: Operation, schema: Schema, place: str) -> Schema:
        """Return a schema whose later properties carry their first version.

        :param place: place of the schema within the shape
        """

        def dated(step: str, inner: Schema) -> Schema:
            where = place + step
            made = self._dated(one, inner, where)
            if where == place or where != schema_tree.drop_unnamed_steps(
                where
            ):
                return made
            return {**made, **self._since(one, where)}

        return schema_tree.map_subschemas(schema, dated)

    def _since(self, one: Operation, place: str) -> Document:
        """Return the extension with the first version of a part.

        :returns: an empty mapping if the part is as old as its operation
        """
        first, _last = self._contract.since(one.name)
        for version in self._contract.versions:
            shape = self._contract.at(version).get(one.name)
            if shape is not None and place in self._places(one, version):
                if version == first:
                    break
                return {EXTENSION: self._from(version)}
        return {}

    def _from(self, version: Version) -> Document:
        """Return ``min-ver``, and ``early`` if that version is a later one."""
        early = {'early': True} if version > self._version else {}
        return {'min-ver': str(version), **early}

    def _places_of(self, one: Operation, version: Version) -> frozenset[str]:
        return frozenset(
            where
            for place, schema in parts(self._contract.at(version)[one.name])
            for where, _found in schema_tree.walk(schema, place)
        )

    # Responses

    def _responses(
        self, found: list[Operation], shapes: list[OperationShape]
    ) -> Document:
        made: Document = {}
        for status in sorted({s for shape in shapes for s in shape.responses}):
            having = [
                (one, shape)
                for one, shape in zip(found, shapes, strict=True)
                if status in shape.responses
            ]
            made[str(status)] = self._response(status, having)
        return made

    def _response(
        self, status: int, having: list[tuple[Operation, OperationShape]]
    ) -> Document:
        headers: Document = {
            name: {'$ref': f'#/components/headers/{name}'}
            for name in documents.headers(self._policy, self._version)
        }
        for name, schema in having[0][1].headers.get(status, {}).items():
            headers[name] = {'required': True, 'schema': self._put(schema)}
        made: Document = {
            'description': HTTPStatus(status).phrase,
            'headers': headers,
        }
        bodies = _different(
            self._put(self._dated(one, body, f'response {status}'))
            for one, shape in having
            if (body := shape.responses[status]) is not None
        )
        if bodies:
            schema = bodies[0] if len(bodies) == 1 else {'anyOf': bodies}
            made['content'] = {_JSON: {'schema': schema}}
        return made

    def _headers(self) -> Document:
        found = documents.headers(self._policy, self._version)
        return {
            name: {'required': True, 'schema': schema}
            for name, schema in found.items()
        }

    # Components

    def _put(self, schema: Schema) -> Document:
        """Return a schema whose titled parts are references to components."""
        made = schema_tree.map_subschemas(
            schema, lambda _step, inner: self._put(inner)
        )
        if made.get('default', '') is None:
            del made['default']
        title = made.get('title')
        if not isinstance(title, str) or 'type' not in made:
            return made
        if self._schemas.setdefault(title, made) != made:
            return made  # same title, other schema: stays inline
        return {'$ref': f'#/components/schemas/{title}'}


def _id(one: Operation) -> str:
    """Return the id of an operation, without an action's key."""
    return one.id.removesuffix(f'_{one.key.lower()}') if one.key else one.id


def _different(schemas: Iterable[Document]) -> list[Document]:
    found: list[Document] = []
    for schema in schemas:
        if schema not in found:
            found.append(schema)
    return found
