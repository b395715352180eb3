# SPDX-License-Identifier: Apache-2.0
"""JSON schemas (draft 4) of the values of fields."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Set, ValuesView
from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, field_values


def field_schema(field: ovo_fields.Field[Any]) -> dict[str, Any]:
    """Return the schema (draft 4) of a field's values, including null.

    :param field: a field that does not hold objects
    :raises vobjects.exceptions.DeclarationError: its type has no schema; the
        message names the type and the fix
    """
    try:
        schema: dict[str, Any] = _as_json(field.get_schema())
    except (
        AttributeError,
        LookupError,
        NotImplementedError,
        TypeError,
    ) as error:
        raise no_schema_error(field, error) from error
    if 'default' in schema:
        default = field_values.default_primitive('default', field)
        schema['default'] = _as_json(default)
    return schema


def types_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the JSON types that a schema names; empty if it allows all."""
    types: str | Collection[str] = schema.get('type', ())
    return (types,) if isinstance(types, str) else tuple(types)


def no_schema_error(
    field: ovo_fields.Field[Any], error: Exception
) -> exceptions.DeclarationError:
    """Return the error for a field without a valid schema."""
    *_, field_type = field_values.types_in(field._type)
    reason = str(error).partition('\n')[0] or 'not implemented'
    return exceptions.DeclarationError(
        f'{type(field_type).__name__} has no valid JSON schema'
        f' ({type(error).__name__}: {exceptions.cut_text(reason)}), which'
        ' requests need; implement get_schema(), with a list of types as'
        " 'type', or use another field type"
    )


def _as_json(value: Any) -> Any:
    """Return a copy of a schema with a list for each collection.

    Field types repeat what they were declared with: the values of an enum
    may be a tuple or a set, or repeat a value; but a schema must have a list
    of unique values.
    """
    if isinstance(value, Mapping):
        schema = {key: _as_json(inner) for key, inner in value.items()}
        if isinstance(schema.get('enum'), list):
            schema['enum'] = _enum(schema['enum'], schema.get('type', ()))
        return schema
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    # No other collections: a network is one of all its addresses.
    if isinstance(value, (list, tuple, Set, ValuesView)):
        return list(map(_as_json, value))
    return value


def _enum(values: list[Any], types: Collection[str]) -> list[Any]:
    unique = {json.dumps(value, default=str): value for value in values}
    if 'null' in types:
        unique['null'] = None
    return [*unique.values()]
