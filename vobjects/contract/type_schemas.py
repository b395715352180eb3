# SPDX-License-Identifier: Apache-2.0
"""JSON schemas of requests and resources, derived from their types.

The dialect is JSON Schema 2020-12, as in OpenAPI 3.1. Objects are closed: a
schema lists all their properties. The ``title`` of a resource's schema is the
name of its type. Schemas contain no references.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects import objects
from vobjects.contract import schema_tree
from vobjects.contract.schema_tree import Schema as Schema
from vobjects.microversions import schema as versioned
from vobjects.versions import Version

#: Schema of content that the user defines.
ANYTHING: Schema = {'description': 'Any JSON value'}

#: Keywords of draft 4 that 2020-12 does not use.
_DROPPED = ('$schema', 'id', 'readonly')


def resource(
    cls: type[objects.Resource], microversion: Version, *, early: bool = False
) -> Schema | None:
    """Return the schema of a resource at a microversion.

    A field is required unless it is nullable: fields that are not nullable are
    always set.

    :param early: see :meth:`vobjects.objects.Object.version_at`
    :returns: None if the microversion lacks the type
    """
    version = cls.version_at(microversion, early=early)
    if version is None:
        return None
    known = cls.fields_at(version)
    properties = {
        name: _shown(field, microversion, early)
        for name, field in known.items()
    }
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
    :param early: see :meth:`vobjects.objects.Object.version_at`
    :returns: None if the microversion lacks the type
    """
    version = cls.version_at(microversion, early=early)
    if version is None:
        return None
    return to_2020_12(versioned.body_schema(cls, version, names))


def query(
    cls: type[objects.Request],
    microversion: Version,
    names: Iterable[str],
    *,
    early: bool = False,
) -> Schema | None:
    """Return the schema of a query, whose values are never null."""
    found = request_part(cls, microversion, names, early=early)
    if found is None:
        return None
    properties = {
        name: _without_null(schema)
        for name, schema in found['properties'].items()
    }
    return {**found, 'properties': properties}


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
    made = schema_tree.map_subschemas(
        schema, lambda _step, found: to_2020_12(found)
    )
    for keyword in _DROPPED:
        made.pop(keyword, None)
    for keyword in ('enum', 'type'):
        if keyword in made and not isinstance(made[keyword], str):
            made[keyword] = list(made[keyword])
    if isinstance(made.get('items'), list):
        # A list of items: first the positions, then the rest.
        made['prefixItems'] = [
            to_2020_12(one) if isinstance(one, Mapping) else one
            for one in made.pop('items')
        ]
        if 'additionalItems' in made:
            made['items'] = made.pop('additionalItems')
    if isinstance(made.get('type'), list) and len(made['type']) == 1:
        (made['type'],) = made['type']
    for exclusive, limit in (
        ('exclusiveMinimum', 'minimum'),
        ('exclusiveMaximum', 'maximum'),
    ):
        if made.get(exclusive) is True:
            made[exclusive] = made.pop(limit)
        elif made.get(exclusive) is False:
            del made[exclusive]
    return made


def types_of(schema: Schema) -> tuple[str, ...]:
    """Return the JSON types that a schema names; empty if it allows all."""
    found: str | Iterable[str] = schema.get('type', ())
    return (found,) if isinstance(found, str) else tuple(found)


def _shown(
    field: ovo_fields.Field[Any], microversion: Version, early: bool
) -> Schema:
    made = _shown_type(field._type, microversion, early)
    if made is None:
        return to_2020_12(versioned.field_schema(field))
    if not field.nullable:
        return made
    if 'title' in made:  # a titled type stays whole: it becomes a component
        return {'anyOf': [made, {'type': 'null'}]}
    return {**made, 'type': [made['type'], 'null']}


def _shown_type(
    kind: Any, microversion: Version, early: bool
) -> Schema | None:
    """Return the schema of a field type that may contain objects.

    :returns: None for other field types
    """
    if isinstance(kind, ovo_fields.Object):
        cls: Any = objects.registered_type(kind._obj_name)
        return resource(cls, microversion, early=early) or {}
    if isinstance(kind, (ovo_fields.List, ovo_fields.Set)):
        inner = kind._element_type
        return {'type': 'array', 'items': _shown(inner, microversion, early)}
    if isinstance(kind, ovo_fields.Dict):
        inner = kind._element_type
        return {
            'type': 'object',
            'additionalProperties': _shown(inner, microversion, early),
        }
    return None


def _without_null(schema: Schema) -> Schema:
    types = [name for name in types_of(schema) if name != 'null']
    made = dict(schema)
    if types:
        made['type'] = types[0] if len(types) == 1 else types
    if 'enum' in made:
        made['enum'] = [value for value in made['enum'] if value is not None]
    return made
