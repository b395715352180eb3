# SPDX-License-Identifier: Apache-2.0
"""Query strings: text to the values of a request type's fields.

A query has no types, so each value is read as its field's schema says, and
the result then has to satisfy the same schema as a body.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vobjects import exceptions
from vobjects.microversions import body, errors, schema
from vobjects.versions import Version

MAX_LENGTH = 8192
MAX_PARAMETERS = 256

#: The words that OpenStack's services take for a truth value, in any case.
WORDS: Mapping[str, bool] = {
    **dict.fromkeys(('1', 'on', 't', 'true', 'y', 'yes'), True),
    **dict.fromkeys(('0', 'off', 'f', 'false', 'n', 'no'), False),
}

_INTEGER = re.compile(r'-?[0-9]{1,18}', re.ASCII)
_NUMBER = re.compile(r'-?[0-9]{1,18}(\.[0-9]{1,18})?', re.ASCII)


def pairs(query_string: str) -> list[tuple[str, str]]:
    """Split a WSGI ``QUERY_STRING``; names may repeat.

    :raises vobjects.microversions.errors.MalformedQuery: too long, too many
        parameters, not UTF-8, or characters that cannot be stored
    """
    if len(query_string) > MAX_LENGTH:
        raise errors.MalformedQuery(
            f'The query string has {len(query_string)} characters;'
            f' {MAX_LENGTH} are read.'
        )
    if query_string.count('&') >= MAX_PARAMETERS:
        raise errors.MalformedQuery(
            f'The query string has more than {MAX_PARAMETERS} parameters.'
        )
    try:
        query_string.encode('ascii')
        found = urllib.parse.parse_qsl(
            query_string, keep_blank_values=True, errors='strict'
        )
    except UnicodeError:
        raise errors.MalformedQuery(
            f'The query string {exceptions.cut(query_string)} is not'
            ' percent-encoded UTF-8.'
        ) from None
    for text in (text for pair in found for text in pair):
        if bad := body.unstorable(text):
            raise errors.MalformedQuery(
                f'The query string has the character {bad}, which cannot be'
                ' stored.'
            )
    return found


def coerce_query(
    cls: schema.RequestType,
    microversion: Version,
    names: Sequence[str],
    given: Iterable[tuple[str, str]],
    where: str = 'query',
) -> dict[str, Any]:
    """Return field name to value, checked.

    :param names: every field the query had at any version
    :param given: as :func:`pairs` returns, or ``items()`` of a multidict
    :param where: the part, in error messages
    :raises vobjects.microversions.errors.ValidationError: the first fault
    :raises vobjects.microversions.errors.MethodNotAtVersion: the whole type
        belongs to a later version
    """
    compiled = schema.compiled_at(cls, microversion, names)
    values: dict[str, Any] = {}
    for name, text in given:
        shape = compiled.properties.get(name)
        if shape is None:
            raise schema.unknown(cls, microversion, names, [name], where)
        put(values, name, text, shape, where)
    schema.validate(cls, microversion, names, values, where, nulls=False)
    return values


def put(
    values: dict[str, Any],
    name: str,
    text: str,
    shape: Mapping[str, Any],
    where: str,
) -> None:
    """Add a parameter to what was read of a query.

    :param shape: the parameter's schema; a list may be given repeatedly
    :raises vobjects.microversions.errors.ValidationError: another may not
    """
    if 'array' in _types(shape):
        items = values.setdefault(name, [])
        items.append(_read(text, shape.get('items', {})))
    elif name in values:
        raise errors.ValidationError(
            f'{where}.{name}', 'is given more than once'
        )
    else:
        values[name] = _read(text, shape)


def _types(shape: Mapping[str, Any]) -> Sequence[str]:
    types: str | list[str] = shape.get('type', ())
    return (types,) if isinstance(types, str) else types


def _read(text: str, shape: Mapping[str, Any]) -> Any:
    """Return the value; the text as it is where nothing else fits."""
    types = _types(shape)
    if 'integer' in types and _INTEGER.fullmatch(text):
        return int(text)
    if 'string' in types:
        return text
    if 'number' in types and _NUMBER.fullmatch(text):
        return float(text)
    if 'boolean' in types:
        return WORDS.get(text.lower(), text)
    return text
