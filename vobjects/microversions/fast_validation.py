# SPDX-License-Identifier: Apache-2.0
"""Fast validation of JSON values that ``jsonschema`` would also accept.

jsonschema-rs validates in one microsecond, ``jsonschema`` in about fifty, but
their results differ in some cases. This module therefore only accepts values.
If it does not accept a value, ``jsonschema`` decides and reports the fault; it
decides about all values if jsonschema-rs, which is optional, is not installed.
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

try:
    import jsonschema_rs
except ImportError:
    _compile: Any = None  # jsonschema decides about all values, but slower
else:
    _compile = jsonschema_rs.Draft4Validator

Accepts = Callable[[Any], bool]

#: Listed by name, because the other formats that jsonschema checks depend on
#: the installed packages. Dates are checked by their fields.
FORMATS = jsonschema.FormatChecker(
    ('email', 'idn-email', 'ipv4', 'ipv6', 'regex')
)

#: Annotations: keywords that do not restrict the value.
_ANNOTATIONS = frozenset(
    ('$schema', 'default', 'description', 'id', 'readonly', 'title')
)
_COPIED = frozenset(
    (
        'enum',
        'exclusiveMaximum',
        'exclusiveMinimum',
        'maxItems',
        'maxLength',
        'maxProperties',
        'maximum',
        'minItems',
        'minLength',
        'minimum',
        'required',
        'type',
        'uniqueItems',
    )
)
_SCHEMA_KEYWORDS = frozenset(('additionalProperties', 'items'))
_SCHEMA_LIST_KEYWORDS = frozenset(('allOf', 'anyOf'))


class _UnsupportedKeyword(Exception):
    """The schema has a keyword that only ``jsonschema`` may evaluate."""


def compile_schema(schema: Mapping[str, Any]) -> Accepts:
    """Return a function that accepts valid values in about a microsecond.

    :param schema: valid schema of draft 4, with patterns in Python's syntax
    :returns: function of a value: True if it is valid, False if ``jsonschema``
        must decide; it raises no errors. :func:`accepts_nothing` if it cannot
        validate the schema
    """
    if _compile is None:
        return accepts_nothing
    callbacks: dict[str, Callable[[str], bool]] = {}
    try:
        valid: Accepts = _compile(
            _translate(schema, callbacks),
            formats=callbacks,
            validate_formats=True,
        ).is_valid
    except (_UnsupportedKeyword, ValueError):
        return accepts_nothing

    def accepts(value: Any) -> bool:
        try:
            return valid(value)
        except ValueError:  # a nested value is not JSON
            return False

    return accepts


def accepts_nothing(value: Any) -> bool:
    """Let ``jsonschema`` decide about a value."""
    return False


def _translate(
    schema: Any, callbacks: dict[str, Callable[[str], bool]]
) -> dict[str, Any]:
    """Return a schema for jsonschema-rs.

    :param callbacks: filled with the callbacks, by name of the format
    :raises _UnsupportedKeyword: a keyword may have another meaning in
        jsonschema-rs
    """
    if not isinstance(schema, dict):
        raise _UnsupportedKeyword
    result: dict[str, Any] = {}
    formats: list[str] = []
    for keyword, value in schema.items():
        if keyword in _COPIED:
            result[keyword] = value
        elif keyword == 'pattern':
            formats.append(f'pattern {value}')
            callbacks[formats[-1]] = functools.partial(
                _matches, re.compile(value).search
            )
        elif keyword == 'format':
            formats.append(f'format {value}')
            callbacks[formats[-1]] = functools.partial(
                FORMATS.conforms, format=value
            )
        elif keyword == 'properties':
            result[keyword] = {
                name: _translate(inner, callbacks)
                for name, inner in value.items()
            }
        elif keyword in _SCHEMA_LIST_KEYWORDS:
            result[keyword] = [_translate(inner, callbacks) for inner in value]
        elif keyword in _SCHEMA_KEYWORDS:
            is_open = isinstance(value, bool)
            result[keyword] = (
                value if is_open else _translate(value, callbacks)
            )
        elif keyword not in _ANNOTATIONS:
            raise _UnsupportedKeyword
    if formats:
        checks = [{'format': name} for name in formats]
        result['allOf'] = [*result.get('allOf', ()), *checks]
    return result


def _matches(search: Callable[[str], object], text: str) -> bool:
    return search(text) is not None
