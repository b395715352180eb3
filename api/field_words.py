# SPDX-License-Identifier: Apache-2.0
"""Senlin's error messages for invalid fields.

Senlin validates a value with its field class, then with jsonschema; the
messages of both are here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, fields
from vobjects.microversions import errors, query

#: Fields with the size of a cluster; Senlin's message for other numbers
#: differs.
_SIZES = ('min_size', 'max_size', 'desired_capacity')

#: Body fields whose boolean error message is that of query parameters.
_PLAIN_TRUTH = ('force',)

#: Fields that Senlin requires to be a map before any other check.
_MAPS = ('nodes',)

NO_MAP = 'The data provided is not a map'


def of_fault(fault: errors.FieldFault, *, in_query: bool) -> str:
    """Return Senlin's message for a fault; empty if it has none.

    :param in_query: whether the field is in the query rather than the body
    """
    if fault.kind == 'unknown':
        return _unknown(fault.names)
    (name,) = fault.names
    kind = fault.field._type
    if fault.kind == 'missing':
        return _required(name, kind)
    if fault.value is None:
        return f"Field `{name}' cannot be None"
    if isinstance(kind, fields.StrictBoolean):
        plain = in_query or name in _PLAIN_TRUTH
        return _truth(name, fault.value, plain=plain)
    say = _OF_TYPE.get(type(kind))
    said = say(kind, name, fault.value, fault.at_fault) if say else ''
    return said or fault.of_schema


def _required(name: str, kind: Any) -> str:
    if isinstance(kind, fields.IdentityList):
        return _too_few(name, kind)  # Senlin's default is an empty list
    if isinstance(kind, fields.Json) and name in _MAPS:
        return NO_MAP
    return f'{exceptions.cut(name)} is a required property'


def _unknown(names: Collection[str]) -> str:
    were = 'was' if len(names) == 1 else 'were'
    shown = ', '.join(map(exceptions.cut, sorted(names)))
    return f'Additional properties are not allowed ({shown} {were} unexpected)'


def _name(kind: Any, name: str, value: Any, _: Any) -> str:
    if not isinstance(value, str):
        return ''
    if len(value) < kind.minimum:
        return (
            f'The value for the {name} field must be at least {kind.minimum}'
            ' characters long.'
        )
    if len(value) > kind.maximum:
        return (
            f'The value for the {name} field must be less than {kind.maximum}'
            ' characters long.'
        )
    return (
        f"The value for the '{name}' ({bare(value)}) contains illegal"
        ' characters. It must contain only alphanumeric or "_-.~" characters'
        ' and must start with letter.'
    )


def _number(kind: Any, name: str, value: Any, _: Any) -> str:
    try:
        number = fields.whole_number(name, value)
    except ValueError:
        return f"The value for {name} must be an integer: '{bare(value)}'."
    if name not in _SIZES:
        low = number < kind.minimum
        return f"Value must be >= 0 for field '{name}'." if low else ''
    limit, than = (
        (kind.minimum, 'greater')
        if number < kind.minimum
        else (kind.maximum, 'less')
    )
    return (
        f'The value for the {name} field must be {than} than or equal to'
        f' {limit}.'
    )


def _map(_: Any, name: str, value: Any, __: Any) -> str:
    return NO_MAP if name in _MAPS else ''


def _sort(kind: Any, name: str, value: Any, _: Any) -> str:
    if not isinstance(value, str):
        return ''
    for item in value.split(','):
        key, _, direction = item.partition(':')
        if not key:
            return f"Missing sort key for '{name}'."
        if direction not in ('', 'asc', 'desc'):
            return f"Unsupported sort dir '{bare(direction)}' for '{name}'."
        if key not in kind.keys:
            return f"Unsupported sort key '{bare(key)}' for '{name}'."
    return ''


def _uuid(_: Any, name: str, value: Any, __: Any) -> str:
    return f"The value for {name} is not a valid UUID: '{bare(value)}'."


def _truth(name: str, value: Any, *, plain: bool) -> str:
    if plain:
        return f"Invalid value '{bare(value)}' specified for '{name}'"
    return (
        f"Unrecognized value '{bare(value)}', acceptable values are: "
        + ', '.join(map(repr, sorted(query.WORDS)))
    )


def _enum(_: Any, name: str, value: Any, __: Any) -> str:
    return f"Value '{bare(value)}' is not acceptable for field '{name}'."


def _list(kind: Any, name: str, value: Any, at_fault: Any) -> str:
    if not isinstance(value, list):
        return _no_list(name, value)
    if at_fault is value or not isinstance(
        kind._element_type._type, ovo_fields.Enum
    ):
        return ''
    return f'Field value {bare(at_fault)} is invalid'


def _identities(kind: Any, name: str, value: Any, at_fault: Any) -> str:
    if not isinstance(value, (dict, list, str)):
        return _no_list(name, value)
    if len(value) < kind.minimum:
        return _too_few(name, kind)
    # Senlin reads a string as a list of its characters.
    repeats = isinstance(value, str) and len(set(value)) < len(value)
    if repeats or (isinstance(value, list) and at_fault is value):
        return f"Items for '{name}' must be unique"
    return ''


def _no_list(name: str, value: Any) -> str:
    return f'A list is required in field {name}, not a {type(value).__name__}'


def _too_few(name: str, kind: fields.IdentityList) -> str:
    return f"Value for '{name}' must have at least {kind.minimum} item(s)."


def bare(value: Any) -> str:
    """Return a value as ``%s`` shows it, shortened, in one line."""
    text = value if isinstance(value, str) else repr(value)
    return exceptions.cut_text(re.sub(r'[^\x20-\x7e\u00a0-\uffff]', '?', text))


_OF_TYPE: Mapping[type, Callable[[Any, str, Any, Any], str]] = {
    fields.AnyCaseEnum: _enum,
    fields.Capacity: _number,
    fields.Enum: _enum,
    fields.IdentityList: _identities,
    fields.Json: _map,
    fields.List: _list,
    fields.Name: _name,
    fields.Sort: _sort,
    fields.UUID: _uuid,
}
