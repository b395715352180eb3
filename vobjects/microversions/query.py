# SPDX-License-Identifier: Apache-2.0
"""Parse query strings into the values of a request type's fields.

A query has no types: each value is converted as the schema of its field
requires. The result is then validated like a body.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterable, Mapping
from typing import Any

from vobjects.field_schemas import types_of
from vobjects.microversions import errors, json_body, schema, validation
from vobjects.microversions.nested_objects import ObjectType
from vobjects.versions import Version

MAX_LENGTH = 8192
MAX_PARAMETERS = 256

#: Spellings of booleans that OpenStack services accept, in any case.
BOOLEANS: Mapping[str, bool] = {
    **dict.fromkeys(('1', 'on', 't', 'true', 'y', 'yes'), True),
    **dict.fromkeys(('0', 'off', 'f', 'false', 'n', 'no'), False),
}

_INTEGER = re.compile(r'-?[0-9]{1,18}', re.ASCII)
_NUMBER = re.compile(r'-?[0-9]{1,18}(\.[0-9]{1,18})?', re.ASCII)


def parse_pairs(query_string: str) -> list[tuple[str, str]]:
    """Split a WSGI ``QUERY_STRING`` into pairs; names may repeat.

    :raises vobjects.microversions.errors.MalformedQuery: the query is too
        long, has too many parameters, is not UTF-8, or has characters that
        cannot be stored
    """
    if len(query_string) > MAX_LENGTH:
        raise errors.MalformedQuery(
            f'The query string has {len(query_string)} characters; the'
            f' maximum is {MAX_LENGTH}.'
        )
    if query_string.count('&') >= MAX_PARAMETERS:
        raise errors.MalformedQuery(
            f'The query string has more than {MAX_PARAMETERS} parameters.'
        )
    try:
        query_string.encode('ascii')
        pairs = urllib.parse.parse_qsl(
            query_string, keep_blank_values=True, errors='strict'
        )
    except UnicodeError:
        raise errors.MalformedQuery(
            'The query string is not percent-encoded UTF-8.'
        ) from None
    for text in (text for pair in pairs for text in pair):
        if bad := json_body.unstorable(text):
            raise errors.MalformedQuery(
                f'The query string has the character {bad}, which cannot be'
                ' stored.'
            )
    return pairs


def coerce_query(
    cls: ObjectType,
    microversion: Version,
    names: tuple[str, ...],
    pairs: Iterable[tuple[str, str]],
    where: str = 'query',
    *,
    early: bool = False,
    by_fields: bool = True,
) -> dict[str, Any]:
    """Return the values of a query by field name, validated.

    :param cls: the request type
    :param microversion: version of the request
    :param names: every field that the query had at any version
    :param pairs: pairs as returned by :func:`parse_pairs`, or ``items()`` of a
        multidict
    :param where: name of the part, for error messages
    :param early: see :meth:`vobjects.objects.object.Object.version_at`
    :param by_fields: see ``validation.validate``
    :raises vobjects.microversions.errors.ValidationError: the first fault
    :raises vobjects.microversions.errors.MethodNotAtVersion: the whole type
        belongs to a later version
    """
    compiled = schema.request_schema_at(cls, microversion, names, early)
    values: dict[str, Any] = {}
    for name, text in pairs:
        field_schema = compiled.properties.get(name, {})
        add_parameter(values, name, text, field_schema, where)
    validation.validate(
        *(cls, microversion, names, values, where),
        early=early,
        by_fields=by_fields,
    )
    return values


def add_parameter(
    values: dict[str, Any],
    name: str,
    text: str,
    parameter_schema: Mapping[str, Any],
    where: str,
) -> None:
    """Convert a query parameter and add it to the values.

    :param values: values so far, changed in place
    :param name: name of the parameter
    :param text: its text
    :param parameter_schema: schema of the parameter; a list may be repeated
    :param where: name of the part, for error messages
    :raises vobjects.microversions.errors.ValidationError: a parameter that is
        not a list occurs twice
    """
    if 'array' in types_of(parameter_schema):
        items = values.setdefault(name, [])
        items.append(_convert(text, parameter_schema.get('items', {})))
    elif name in values:
        raise errors.ValidationError(
            f'{where}.{name}', 'is given more than once'
        )
    else:
        values[name] = _convert(text, parameter_schema)


def _convert(text: str, value_schema: Mapping[str, Any]) -> Any:
    """Convert a text by its schema; keep the text if no type matches."""
    types = types_of(value_schema)
    if 'integer' in types and _INTEGER.fullmatch(text):
        return int(text)
    if 'string' in types:
        return text
    if 'number' in types and _NUMBER.fullmatch(text):
        return float(text)
    if 'boolean' in types:
        return BOOLEANS.get(text.lower(), text)
    return text
