# SPDX-License-Identifier: Apache-2.0
"""Convert fields of oslo.versionedobjects to field schemas of a lock.

The parameters of other field types are their public attributes with JSON
values; private attributes are not included.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import re
from collections.abc import Iterator
from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects import field_values
from vobjects.lock.model import FieldSchema, FieldType, json_text

_ADDRESS = re.compile(r' at 0x[0-9a-fA-F]+')


def field_schema(name: str, field: ovo_fields.Field[Any]) -> FieldSchema:
    """Return the schema of a field."""
    return FieldSchema(
        name,
        field_type_of(field._type),
        bool(field.nullable),
        _default(name, field),
    )


def field_type_of(ovo_type: Any) -> FieldType:
    """Return the lock's description of a field type.

    :param ovo_type: an instance of a FieldType of oslo.versionedobjects
    """
    name = type(ovo_type).__name__
    if isinstance(ovo_type, ovo_fields.Object):
        options = (('subclasses', 'true'),) if ovo_type._subclasses else ()
        return FieldType(name, (FieldType(ovo_type._obj_name),), options)
    if isinstance(ovo_type, ovo_fields.CompoundFieldType):
        element = getattr(ovo_type, '_element_type', None)
        args = () if element is None else (_item_type(element),)
        return FieldType(name, args, tuple(_options(ovo_type)))
    if isinstance(ovo_type, ovo_fields.Enum):
        return FieldType(name, tuple(sorted({*enum_values(ovo_type)})))
    return FieldType(name, (), tuple(_options(ovo_type)))


def enum_values(ovo_type: Any) -> list[str]:
    """Return the values of an enum, as JSON text, in their order."""
    return [_value(value) for value in ovo_type.valid_values]


def _item_type(field: Any) -> FieldType:
    """Return the type of the items of a container, which may be nullable."""
    item_type = field_type_of(field._type)
    if not field.nullable:
        return item_type
    options = sorted((*item_type.options, ('nullable', 'true')))
    return dataclasses.replace(item_type, options=tuple(options))


def _options(ovo_type: Any) -> Iterator[tuple[str, str]]:
    for name, value in sorted(vars(ovo_type).items()):
        if name.startswith('_') or callable(value):
            continue
        text = _json(value)
        if text is not None:
            yield name, text


def _default(name: str, field: ovo_fields.Field[Any]) -> str:
    if field.default is ovo_fields.UnspecifiedDefault:
        return ''
    try:
        return json_text(field_values.default_primitive(name, field))
    except Exception:  # noqa: BLE001 - whatever a service's own type raises
        return _value(field.default)


def _value(value: Any) -> str:
    """Return a value as JSON text, or else its repr as a JSON string."""
    return _json(value) or json.dumps(_ADDRESS.sub('', repr(value)))


def _json(value: Any) -> str | None:
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=repr)
    if isinstance(value, datetime.datetime):
        value = value.isoformat()
    try:
        return json_text(value)
    except (TypeError, ValueError):
        return None
