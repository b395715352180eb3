# SPDX-License-Identifier: Apache-2.0
"""Convert fields of oslo.versionedobjects to the notation of a lock.

The parameters of other field types are their public attributes with JSON
values; private attributes are not included.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects.lock.model import FieldSchema, FieldType, json_text
from vobjects.objects import history

_ADDRESS = re.compile(r' at 0x[0-9a-fA-F]+')


def field_schema(name: str, field: ovo_fields.Field[Any]) -> FieldSchema:
    """Return a field in the notation of a lock."""
    return FieldSchema(
        name,
        field_type(field._type),
        bool(field.nullable),
        _default(name, field),
    )


def field_type(kind: Any) -> FieldType:
    """Return a field type in the notation of a lock.

    :param kind: an instance of a FieldType
    """
    name = type(kind).__name__
    if isinstance(kind, ovo_fields.Object):
        options = (('subclasses', 'true'),) if kind._subclasses else ()
        return FieldType(name, (FieldType(kind._obj_name),), options)
    if isinstance(kind, ovo_fields.CompoundFieldType):
        element = getattr(kind, '_element_type', None)
        args = () if element is None else (_element(element),)
        return FieldType(name, args, tuple(_options(kind)))
    if isinstance(kind, ovo_fields.Enum):
        words = sorted({_value(word) for word in kind.valid_values})
        return FieldType(name, tuple(words))
    return FieldType(name, (), tuple(_options(kind)))


def _element(field: Any) -> FieldType:
    """Return the type of the items of a container, which may be nullable."""
    kind = field_type(field._type)
    if not field.nullable:
        return kind
    return FieldType(
        kind.name,
        kind.args,
        tuple(sorted((*kind.options, ('nullable', 'true')))),
    )


def _options(kind: Any) -> Iterator[tuple[str, str]]:
    for name, value in sorted(vars(kind).items()):
        if name.startswith('_') or callable(value):
            continue
        text = _json(value)
        if text is not None:
            yield name, text


def _default(name: str, field: ovo_fields.Field[Any]) -> str:
    if field.default is ovo_fields.UnspecifiedDefault:
        return ''
    try:
        return json_text(history.default_primitive(name, field))
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
