# SPDX-License-Identifier: Apache-2.0
"""Traverse the subschemas of a JSON schema (2020-12).

Each subschema is reached by a *step*: ``.NAME`` for a property, ``.*`` for
properties without a name, ``.<PATTERN>`` for properties whose names match,
``[]`` for items, ``[2]`` for the third item. An empty step stays at the same
value. Boolean schemas, which have no subschemas, are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

#: Keyword whose value is a schema -> step to that schema.
SCHEMA_KEYWORDS: Mapping[str, str] = {
    'items': '[]',
    'contains': '[]',
    'unevaluatedItems': '[]',
    'additionalItems': '[]',  # draft 4 only
    'additionalProperties': '.*',
    'unevaluatedProperties': '.*',
    'propertyNames': '',
    'not': '',
    'if': '',
    'then': '',
    'else': '',
}

#: Keywords whose value is a list of schemas: alternatives, or items.
ALTERNATIVES = ('anyOf', 'oneOf', 'allOf')
_SCHEMA_LISTS = (*ALTERNATIVES, 'prefixItems')

#: Keywords whose value is a mapping of schemas.
_SCHEMA_MAPS = ('properties', 'patternProperties', 'dependentSchemas', '$defs')

#: Patterns that match every name.
_ANY_NAME = ('', '.*', '^.*$')

#: Steps at the end of a location that contain no property name.
_UNNAMED_STEPS = re.compile(r'(\[\d*\]|\.\*|\.<.*>)+$')


def step(keyword: str, key: Any = None) -> str:
    """Return the step to a subschema.

    :param key: name or position of the subschema below the keyword, if any
    """
    if keyword == 'properties':
        return f'.{key}'
    if keyword == 'patternProperties':
        return '.*' if key in _ANY_NAME else f'.<{key}>'
    if keyword == 'prefixItems':
        return f'[{key}]'
    return SCHEMA_KEYWORDS.get(keyword, '')


def drop_unnamed_steps(location: str) -> str:
    """Return a location without its trailing steps that name no property."""
    return _UNNAMED_STEPS.sub('', location)


def subschemas(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the direct subschemas of a schema, each with its step."""
    for keyword, value in schema.items():
        for key, subschema in _keyed_schemas(keyword, value):
            if isinstance(subschema, Mapping):
                yield step(keyword, key), subschema


def walk(schema: Schema, location: str = '') -> Iterator[tuple[str, Schema]]:
    """Yield the subschemas of a schema at any depth, with their locations.

    :param location: location of the schema itself, which is not yielded
    """
    for step_, subschema in subschemas(schema):
        yield location + step_, subschema
        yield from walk(subschema, location + step_)


def map_subschemas(
    schema: Schema, function: Callable[[str, Schema], Schema]
) -> dict[str, Any]:
    """Return a copy of a schema with its direct subschemas replaced.

    :param function: called with the step and the subschema; returns the
        replacement
    """

    result: dict[str, Any] = {}
    for keyword, value in schema.items():
        replaced = {
            key: function(step(keyword, key), subschema)
            if isinstance(subschema, Mapping)
            else subschema
            for key, subschema in _keyed_schemas(keyword, value)
        }
        if keyword in SCHEMA_KEYWORDS:
            result[keyword] = replaced[None]
        elif keyword in _SCHEMA_LISTS:
            result[keyword] = list(replaced.values())
        else:
            result[keyword] = replaced if keyword in _SCHEMA_MAPS else value
    return result


def _keyed_schemas(keyword: str, value: Any) -> Iterator[tuple[Any, Any]]:
    if keyword in SCHEMA_KEYWORDS:
        yield None, value
    elif keyword in _SCHEMA_LISTS:
        yield from enumerate(value)
    elif keyword in _SCHEMA_MAPS:
        yield from value.items()
