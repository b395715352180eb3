# SPDX-License-Identifier: Apache-2.0
"""Accept a JSON value fast, where ``jsonschema`` would accept it too.

jsonschema-rs takes a microsecond where ``jsonschema`` takes fifty, but the
two do not agree on everything. So it only accepts: what it does not accept,
``jsonschema`` judges, and says what is wrong. What is left to see to is that
it accepts nothing that ``jsonschema`` refuses:

- patterns and formats are Python's own, called back, for the regular
  expressions of Rust and the optional format checkers of ``jsonschema`` each
  have ways of their own;
- only keywords for which "accepts less" stays "accepts less" are used: a
  schema with ``not`` or ``oneOf``, or one not listed here, is left to
  ``jsonschema``.

Known to be refused here and accepted there: NaN and infinities, lone
surrogates, subclasses of ``str``, keys that are no text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

import jsonschema
import jsonschema_rs

Accepts = Callable[[Any], bool]

#: By name: what else jsonschema checks depends on the packages that happen to
#: be installed. A date is judged by its field.
FORMATS = jsonschema.FormatChecker(
    ('email', 'idn-email', 'ipv4', 'ipv6', 'regex')
)

#: They say nothing of the value.
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
    """A schema that only ``jsonschema`` is to judge."""


def of(schema: Mapping[str, Any]) -> Accepts:
    """Return a function that accepts values, in about a microsecond.

    :param schema: of draft 4, checked; its patterns are Python's
    :returns: True: valid; False: ask ``jsonschema``. It raises nothing
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
        except ValueError:  # something inside is no JSON
            return False

    return accepts


def is_used(accepts: Accepts) -> bool:
    """Tell whether :func:`of` found a schema it can work with."""
    return accepts is not _never


def _never(value: Any) -> bool:
    return False


def _translated(
    schema: Any, called: dict[str, Callable[[str], bool]]
) -> dict[str, Any]:
    """Return a schema for jsonschema-rs.

    :param called: gets what Python is to be asked, by name of format
    :raises _Unlike: it has a keyword that is not known to be the same
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
