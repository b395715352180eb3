# SPDX-License-Identifier: Apache-2.0
"""JSON schemas of requests and resources, derived from their types.

The dialect is JSON Schema 2020-12, as in OpenAPI 3.1. Objects are closed: a
schema lists all their properties. The ``title`` of a resource's schema is the
name of its type. Schemas contain no references.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vobjects import field_values, objects, unregistered
from vobjects.field_schemas import types_of
from vobjects.microversions import nested_objects
from vobjects.microversions import schema as request_schemas
from vobjects.versions import Version
from vobjects_contract import schema_tree
from vobjects_contract.schema_tree import Schema as Schema

#: Schema of content that the user defines.
ANYTHING: Schema = {'description': 'Any JSON value'}

#: Keywords of draft 4 that 2020-12 does not use.
_DROPPED = ('$schema', 'id', 'readonly')


def resource(
    cls: type[objects.Resource],
    microversion: Version,
    *,
    early: bool = False,
    outer: tuple[type[objects.Object], ...] = (),
) -> Schema | None:
    """Return the schema of a resource at a microversion.

    A field is required unless it is nullable: fields that are not nullable are
    always set.

    :param early: see :meth:`vobjects.objects.object.Object.version_at`
    :param outer: the types around ``cls``; the schema does not contain theirs
        again, because it cannot be infinite
    :returns: None if the microversion lacks the type
    """
    version = cls.version_at(microversion, early=early)
    if version is None:
        return None
    if cls in outer:
        return {'type': 'object', 'description': summary(cls)}
    outer = (*outer, cls)
    known = cls.fields_at(version)

    def inner_schema(inner: Any) -> Any:
        return resource(inner, microversion, early=early, outer=outer) or {}

    properties = {}
    for name, field in known.items():
        with unregistered.named(f'{cls.obj_name()}.{name}'):
            properties[name] = (
                nested_objects.map_schema(field, inner_schema) or {}
                if field_values.holds_objects(field._type)
                else to_2020_12(request_schemas.field_schema(field))
            )
    required = [name for name, field in known.items() if not field.nullable]
    return {
        **closed(properties, required),
        'title': cls.obj_name(),
        'description': summary(cls),
    }


def request_part(
    cls: type[objects.Request],
    microversion: Version,
    names: Iterable[str],
    *,
    early: bool = False,
) -> Schema | None:
    """Return the schema of a part of a request, such as its body.

    :param names: the fields of the part, at any version
    :param early: see :meth:`vobjects.objects.object.Object.version_at`
    :returns: None if the microversion lacks the type
    """
    schema = request_schemas.body_schema(cls, microversion, names, early=early)
    return None if schema is None else to_2020_12(schema)


def query(
    cls: type[objects.Request],
    microversion: Version,
    names: Iterable[str],
    *,
    early: bool = False,
) -> Schema | None:
    """Return the schema of a query, whose values are never null."""
    schema = request_part(cls, microversion, names, early=early)
    if schema is None:
        return None
    properties = {
        name: _without_null(value)
        for name, value in schema['properties'].items()
    }
    return {**schema, 'properties': properties}


def closed(
    properties: Mapping[str, Schema], required: Iterable[str] = ()
) -> Schema:
    """Return the schema of an object with these properties and no others."""
    schema: dict[str, Any] = {
        'type': 'object',
        'properties': dict(properties),
        'additionalProperties': False,
    }
    if names := list(required):
        schema['required'] = names
    return schema


def under_keys(*keys: str, content: Schema | None) -> Schema | None:
    """Return the schema of ``{key: content}``; None for no content.

    :param keys: one or more keys, each with the same content
    """
    if content is None:
        return None
    return closed(dict.fromkeys(keys, content), list(keys))


def list_of(content: Schema | None) -> Schema | None:
    """Return the schema of a list; None for no content."""
    return None if content is None else {'type': 'array', 'items': content}


def summary(cls: type[objects.Object]) -> str:
    """Return the first line of a type's docstring, without its full stop."""
    text = (cls.__doc__ or cls.obj_name()).strip()
    return text.partition('\n')[0].rstrip('.')


def to_2020_12(schema: Schema) -> dict[str, Any]:
    """Convert a schema from draft 4 to 2020-12."""
    result = schema_tree.map_subschemas(
        schema, lambda _step, inner: to_2020_12(inner)
    )
    for keyword in _DROPPED:
        result.pop(keyword, None)
    for keyword in ('enum', 'type'):
        if keyword in result and not isinstance(result[keyword], str):
            result[keyword] = list(result[keyword])
    if isinstance(result.get('items'), list):
        # A list of items: first the positions, then the rest.
        result['prefixItems'] = [
            to_2020_12(item) if isinstance(item, Mapping) else item
            for item in result.pop('items')
        ]
        if 'additionalItems' in result:
            result['items'] = result.pop('additionalItems')
    if isinstance(result.get('type'), list) and len(result['type']) == 1:
        (result['type'],) = result['type']
    for exclusive, limit in (
        ('exclusiveMinimum', 'minimum'),
        ('exclusiveMaximum', 'maximum'),
    ):
        if result.get(exclusive) is True:
            result[exclusive] = result.pop(limit)
        elif result.get(exclusive) is False:
            del result[exclusive]
    return result


def _without_null(schema: Schema) -> Schema:
    types = [name for name in types_of(schema) if name != 'null']
    result = dict(schema)
    if types:
        result['type'] = types[0] if len(types) == 1 else types
    if 'enum' in result:
        result['enum'] = [
            value for value in result['enum'] if value is not None
        ]
    return result
