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
ONE: Mapping[str, str] = {
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
BRANCHES = ('anyOf', 'oneOf', 'allOf')
_LISTS = (*BRANCHES, 'prefixItems')

#: Keywords whose value is a mapping of schemas.
_NAMED = ('properties', 'patternProperties', 'dependentSchemas', '$defs')

#: Patterns that match every name.
_ANY_NAME = ('', '.*', '^.*$')

#: Steps at the end of a place that contain no property name.
_NAMELESS = re.compile(r'(\[\d*\]|\.\*|\.<.*>)+$')


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
    return ONE.get(keyword, '')


def drop_unnamed_steps(place: str) -> str:
    """Return a place without trailing steps that contain no property name."""
    return _NAMELESS.sub('', place)


def subschemas(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the direct subschemas of a schema, each with its step."""
    for keyword, value in schema.items():
        for key, found in _inside(keyword, value):
            if isinstance(found, Mapping):
                yield step(keyword, key), found


def walk(schema: Schema, place: str = '') -> Iterator[tuple[str, Schema]]:
    """Yield the subschemas of a schema at any depth, with their places.

    :param place: place of the schema itself, which is not yielded
    """
    for one, found in subschemas(schema):
        yield place + one, found
        yield from walk(found, place + one)


def map_subschemas(
    schema: Schema, change: Callable[[str, Schema], Schema]
) -> dict[str, Any]:
    """Return a copy of a schema with its direct subschemas replaced.

    :param change: called with the step and the subschema; returns the
        replacement
    """

    def changed(keyword: str, key: Any, found: Any) -> Any:
        if not isinstance(found, Mapping):
            return found
        return change(step(keyword, key), found)

    made: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in ONE:
            made[keyword] = changed(keyword, None, value)
        elif keyword in _LISTS:
            made[keyword] = [
                changed(keyword, key, one) for key, one in enumerate(value)
            ]
        elif keyword in _NAMED:
            made[keyword] = {
                key: changed(keyword, key, one) for key, one in value.items()
            }
        else:
            made[keyword] = value
    return made


def _inside(keyword: str, value: Any) -> Iterator[tuple[Any, Any]]:
    if keyword in ONE:
        yield None, value
    elif keyword in _LISTS:
        yield from enumerate(value)
    elif keyword in _NAMED:
        yield from value.items()
