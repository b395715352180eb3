# SPDX-License-Identifier: Apache-2.0
"""Senlin's error messages for invalid bodies, queries and fields.

Automation built on Senlin compares the whole sentence in ``error.message``.
Where Senlin has a message, it is used there; ``errors`` still names the place
and the accepted values. Senlin's controllers differ in quotes and full stops.
Senlin validates a value with its field class, then with jsonschema; the
messages of both are here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, fields
from vobjects.clustering.fields import Name
from vobjects.microversions import errors, query

#: Fields with the size of a cluster; Senlin's message for other numbers
#: differs.
_SIZE_FIELDS = ('min_size', 'max_size', 'desired_capacity')

#: Body fields whose boolean error message is that of query parameters.
_QUERY_STYLE_BOOLEANS = ('force',)

#: Fields that Senlin requires to be a map before any other check.
_MAP_FIELDS = ('nodes',)

_NOT_A_MAP = 'The data provided is not a map'

_CLUSTERS = '/v1/clusters'
_NODES = '/v1/nodes'

#: Words for the single key of a body, singular and plural.
ACTION = ('action', 'actions')
OPERATION = ('operation', 'operations')


def missing_key(verb: str, key: str) -> str:
    """Return the message for a body without its top-level key."""
    if verb == 'PATCH':
        return f"Malformed request data, missing '{key}' key in request body."
    return f"Request body missing '{key}' key."


def not_a_map(path: str) -> str:
    """Return the message for an action whose value is not a map."""
    if path.startswith(_NODES):
        return 'The params provided is not a map.'
    return _NOT_A_MAP


def field_message(
    fault: errors.FieldFault, path: str, *, in_query: bool
) -> str:
    """Return the message for a field; empty if Senlin has none.

    :param in_query: whether the field is in the query rather than the body
    """
    if in_query and fault.kind == 'unknown':
        name = _one_line(fault.names[0])
        # Only the list of clusters quotes names.
        shown = f"'{name}'" if path == _CLUSTERS else name
        return f'Invalid parameter {shown}'
    if fault.kind == 'unknown':
        return _unknown(fault.names)
    (name,) = fault.names
    kind = fault.field._type
    if fault.kind == 'missing':
        return _required(name, kind)
    if fault.value is None:
        return f"Field `{name}' cannot be None"
    if isinstance(kind, fields.StrictBoolean):
        query_style = in_query or name in _QUERY_STYLE_BOOLEANS
        return _boolean(name, fault.value, query_style=query_style)
    format_message = _MESSAGE_BY_TYPE.get(type(kind))
    if format_message is None:
        return fault.type_message
    message = format_message(kind, name, fault.value, fault.invalid_part)
    return message or fault.type_message


def not_one_action(
    path: str, names: Collection[str], words: tuple[str, str] = ACTION
) -> str:
    """Return the message for a body that names no, several or unknown actions.

    :param names: the names in the body
    :param words: :data:`ACTION` or :data:`OPERATION`
    """
    singular, plural = words
    stop = '.' if path.startswith(_NODES) else ''
    if not names:
        return f'No {singular} specified{stop}'
    if len(names) > 1:
        return f'Multiple {plural} specified{stop}'
    (name,) = names
    return f'Unrecognized {singular} {exceptions.cut(name)} specified'


def _required(name: str, kind: Any) -> str:
    if isinstance(kind, fields.IdentityList):
        return _too_few(name, kind)  # Senlin's default is an empty list
    if isinstance(kind, fields.Json) and name in _MAP_FIELDS:
        return _NOT_A_MAP
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
        f"The value for the '{name}' ({_one_line(value)}) contains illegal"
        ' characters. It must contain only alphanumeric or "_-.~" characters'
        ' and must start with letter.'
    )


def _number(kind: Any, name: str, value: Any, _: Any) -> str:
    try:
        number = fields.parse_integer(name, value)
    except ValueError:
        return (
            f"The value for {name} must be an integer: '{_one_line(value)}'."
        )
    if name not in _SIZE_FIELDS:
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
    return _NOT_A_MAP if name in _MAP_FIELDS else ''


def _sort(kind: Any, name: str, value: Any, _: Any) -> str:
    if not isinstance(value, str):
        return ''
    for item in value.split(','):
        key, _, direction = item.partition(':')
        if not key:
            return f"Missing sort key for '{name}'."
        if direction not in ('', 'asc', 'desc'):
            return (
                f"Unsupported sort dir '{_one_line(direction)}' for '{name}'."
            )
        if key not in kind.keys:
            return f"Unsupported sort key '{_one_line(key)}' for '{name}'."
    return ''


def _uuid(_: Any, name: str, value: Any, __: Any) -> str:
    return f"The value for {name} is not a valid UUID: '{_one_line(value)}'."


def _boolean(name: str, value: Any, *, query_style: bool) -> str:
    if query_style:
        return f"Invalid value '{_one_line(value)}' specified for '{name}'"
    return (
        f"Unrecognized value '{_one_line(value)}', acceptable values are: "
        + ', '.join(map(repr, sorted(query.BOOLEANS)))
    )


def _enum(_: Any, name: str, value: Any, __: Any) -> str:
    return f"Value '{_one_line(value)}' is not acceptable for field '{name}'."


def _list(kind: Any, name: str, value: Any, invalid_part: Any) -> str:
    if not isinstance(value, list):
        return _not_a_list(name, value)
    if invalid_part is value or not isinstance(
        kind._element_type._type, ovo_fields.Enum
    ):
        return ''
    return f'Field value {_one_line(invalid_part)} is invalid'


def _identities(kind: Any, name: str, value: Any, invalid_part: Any) -> str:
    if not isinstance(value, (dict, list, str)):
        return _not_a_list(name, value)
    if len(value) < kind.minimum:
        return _too_few(name, kind)
    # Senlin reads a string as a list of its characters.
    repeats = isinstance(value, str) and len(set(value)) < len(value)
    if repeats or (isinstance(value, list) and invalid_part is value):
        return f"Items for '{name}' must be unique"
    return ''


def _not_a_list(name: str, value: Any) -> str:
    return f'A list is required in field {name}, not a {type(value).__name__}'


def _too_few(name: str, kind: fields.IdentityList) -> str:
    return f"Value for '{name}' must have at least {kind.minimum} item(s)."


def _one_line(value: Any) -> str:
    """Return a value as ``%s`` shows it, shortened, in one line."""
    text = value if isinstance(value, str) else repr(value)
    return exceptions.cut_text(re.sub(r'[^\x20-\x7e\u00a0-\uffff]', '?', text))


_MESSAGE_BY_TYPE: Mapping[type, Callable[[Any, str, Any, Any], str]] = {
    fields.AnyCaseEnum: _enum,
    fields.Capacity: _number,
    fields.Enum: _enum,
    fields.IdentityList: _identities,
    fields.Json: _map,
    fields.List: _list,
    Name: _name,
    fields.Sort: _sort,
    fields.UUID: _uuid,
}
