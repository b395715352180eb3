# SPDX-License-Identifier: Apache-2.0
"""Where a schema has other schemas inside it (JSON Schema 2020-12).

Each is reached by a *step* of a place: ``.NAME`` to a property, ``.*`` to one
that is not named, ``.<PATTERN>`` to those whose names match, ``[]`` to an
item, ``[2]`` to the third one; the empty step stays where it is. What is
true or false instead of a schema has nothing inside and is not walked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

#: Keyword whose value is a schema -> the step to it.
ONE: Mapping[str, str] = {
    'items': '[]',
    'contains': '[]',
    'unevaluatedItems': '[]',
    'additionalItems': '[]',  # of draft 4
    'additionalProperties': '.*',
    'unevaluatedProperties': '.*',
    'propertyNames': '',
    'not': '',
    'if': '',
    'then': '',
    'else': '',
}

#: Keywords whose value is a list of schemas: of alternatives, or of items.
BRANCHES = ('anyOf', 'oneOf', 'allOf')
_LISTS = (*BRANCHES, 'prefixItems')

#: Keywords whose value is an object of schemas.
_NAMED = ('properties', 'patternProperties', 'dependentSchemas', '$defs')

#: Patterns that every name matches.
_ANY_NAME = ('', '.*', '^.*$')

#: The steps at the end of a place that name nothing.
_NAMELESS = re.compile(r'(\[\d*\]|\.\*|\.<.*>)+$')


def step(keyword: str, key: Any = None) -> str:
    """Return the step to a schema.

    :param key: its name or position below the keyword, if it has one
    """
    if keyword == 'properties':
        return f'.{key}'
    if keyword == 'patternProperties':
        return '.*' if key in _ANY_NAME else f'.<{key}>'
    if keyword == 'prefixItems':
        return f'[{key}]'
    return ONE.get(keyword, '')


def named(place: str) -> str:
    """Return a place without the steps at its end that name nothing."""
    return _NAMELESS.sub('', place)


def inner(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the schemas right inside a schema, with the step to each."""
    for keyword, value in schema.items():
        for key, found in _inside(keyword, value):
            if isinstance(found, Mapping):
                yield step(keyword, key), found


def places(schema: Schema, place: str = '') -> Iterator[tuple[str, Schema]]:
    """Yield the schemas inside a schema, at any depth, with their places.

    :param place: of the schema itself, which is not among them
    """
    for one, found in inner(schema):
        yield place + one, found
        yield from places(found, place + one)


def rebuilt(
    schema: Schema, change: Callable[[str, Schema], Schema]
) -> dict[str, Any]:
    """Return a schema with others in the place of those right inside it.

    :param change: gets the step to a schema, and the schema
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
