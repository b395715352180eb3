# SPDX-License-Identifier: Apache-2.0
"""Fast validation of JSON values that ``jsonschema`` would also accept.

jsonschema-rs validates in one microsecond, ``jsonschema`` in about fifty, but
their results differ in some cases. This module therefore only accepts values.
If it does not accept a value, ``jsonschema`` decides and reports the fault.
Two rules ensure that it accepts nothing that ``jsonschema`` rejects:

- Patterns and formats run in Python, through callbacks. The regular
  expressions of Rust and the optional format checkers of ``jsonschema`` differ
  from them.
- A schema may use only keywords for which a stricter subschema makes the whole
  schema stricter. A schema with another keyword, such as ``not`` or ``oneOf``,
  is left to ``jsonschema``.

Values that only ``jsonschema`` accepts: NaN and infinities, lone surrogates,
subclasses of ``str``, and keys that are not strings.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

import jsonschema
import jsonschema_rs

Accepts = Callable[[Any], bool]

#: Listed by name, because the other formats that jsonschema checks depend on
#: the installed packages. Dates are checked by their fields.
FORMATS = jsonschema.FormatChecker(
    ('email', 'idn-email', 'ipv4', 'ipv6', 'regex')
)

#: Annotations: keywords that do not restrict the value.
_NOTES = frozenset(
    ('$schema', 'default', 'description', 'id', 'readonly', 'title')
)
_SAME = frozenset(
    (
        'enum',
        'exclusiveMaximum',
        'exclusiveMinimum',
        'maxItems',
        'maxLength',
        'maximum',
        'minItems',
        'minLength',
        'minimum',
        'required',
        'type',
        'uniqueItems',
    )
)
_ONE_INSIDE = frozenset(('additionalProperties', 'items'))
_LISTS_INSIDE = frozenset(('allOf', 'anyOf'))


class _Unlike(Exception):
    """The schema has a keyword that only ``jsonschema`` may evaluate."""


def compile_schema(schema: Mapping[str, Any]) -> Accepts:
    """Return a function that accepts valid values in about a microsecond.

    :param schema: valid schema of draft 4, with patterns in Python's syntax
    :returns: function of a value: True if it is valid, False if ``jsonschema``
        must decide; it raises no errors
    """
    called: dict[str, Callable[[str], bool]] = {}
    try:
        valid = jsonschema_rs.Draft4Validator(
            _translated(schema, called),
            formats=called,
            validate_formats=True,
        ).is_valid
    except (_Unlike, ValueError):
        return _never

    def accepts(value: Any) -> bool:
        try:
            return valid(value)
        except ValueError:  # a nested value is not JSON
            return False

    return accepts


def is_supported(accepts: Accepts) -> bool:
    """Return whether :func:`compile_schema` can validate a schema itself."""
    return accepts is not _never


def _never(value: Any) -> bool:
    return False


def _translated(
    schema: Any, called: dict[str, Callable[[str], bool]]
) -> dict[str, Any]:
    """Return a schema for jsonschema-rs.

    :param called: filled with the callbacks, by name of the format
    :raises _Unlike: a keyword may mean something else in jsonschema-rs
    """
    if not isinstance(schema, dict):
        raise _Unlike
    result: dict[str, Any] = {}
    asked: list[str] = []
    for keyword, value in schema.items():
        if keyword in _SAME:
            result[keyword] = value
        elif keyword == 'pattern':
            asked.append(f'pattern {value}')
            called[asked[-1]] = functools.partial(
                _is_found, re.compile(value).search
            )
        elif keyword == 'format':
            asked.append(f'format {value}')
            called[asked[-1]] = functools.partial(_conforms, value)
        elif keyword == 'properties':
            result[keyword] = {
                name: _translated(inner, called)
                for name, inner in value.items()
            }
        elif keyword in _LISTS_INSIDE:
            result[keyword] = [_translated(inner, called) for inner in value]
        elif keyword in _ONE_INSIDE:
            is_open = isinstance(value, bool)
            result[keyword] = value if is_open else _translated(value, called)
        elif keyword not in _NOTES:
            raise _Unlike
    if asked:
        every = [{'format': name} for name in asked]
        result['allOf'] = [*result.get('allOf', ()), *every]
    return result


def _is_found(search: Callable[[str], object], text: str) -> bool:
    return search(text) is not None


def _conforms(name: str, text: str) -> bool:
    return bool(FORMATS.conforms(text, name))
