# SPDX-License-Identifier: Apache-2.0
"""Convert primitives to coerced values, by field type.

As in :mod:`vobjects.objects.codec.coercion`, unexpected values are passed to
the field's own methods.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable
from typing import Any

from oslo_versionedobjects import fields as ovo

from vobjects.objects.codec.coercion import (
    AnyField,
    Coercer,
    coercer_for,
    scalar_dict_coercer,
    scalar_list_coercer,
)
from vobjects.objects.codec.override_detection import VersionedObject

#: Converts primitives to objects; the first argument will contain them.
ObjectsDecoder = Callable[[Any, list[Any]], list[Any]]

_ONLY_LIST, _ONLY_DICT = frozenset({list}), frozenset({dict})


def decoder_for(
    field: AnyField, coerce: Coercer, decode_objects: ObjectsDecoder
) -> Coercer | None:
    """Return a function from primitive to coerced value.

    :param decode_objects: converts a list of primitives of objects
    :returns: None if the field type is unknown
    """
    if not decodes_by_default(field):
        return None
    method = type(field._type).from_primitive
    if method is ovo.FieldType.from_primitive:
        return coerce
    if method is ovo.List.from_primitive:
        return _list_decoder(field, coerce, decode_objects)
    make_decoder = _DECODERS.get(method)
    return None if make_decoder is None else make_decoder(field, coerce)


def decodes_by_default(field: AnyField) -> bool:
    """Tell whether a field decodes with the method of its type."""
    return (
        type(field).from_primitive is ovo.Field.from_primitive
        and 'from_primitive' not in vars(field)
        and 'from_primitive' not in vars(field._type)
    )


def _decode_by_field(field: AnyField, obj: Any, name: str, value: Any) -> Any:
    return field.coerce(obj, name, field.from_primitive(obj, name, value))


def _datetime_decoder(field: AnyField, coerce: Coercer) -> Coercer | None:
    if not field._type.tzinfo_aware:  # type: ignore[attr-defined]
        return None
    if type(field._type).coerce is not ovo.DateTime.coerce:
        return None

    def decode(obj: Any, name: str, value: Any) -> Any:
        # The exact format of format_time; the field parses all others.
        if (
            value.__class__ is str
            and len(value) == 20
            and value[10] == 'T'
            and value[13] == ':'
            and value[19] == 'Z'
            and value[5] != 'W'  # an ISO week date
        ):
            try:
                return datetime.datetime.fromisoformat(value)
            except ValueError:
                pass
        return _decode_by_field(field, obj, name, value)

    return decode


def _object_decoder(field: AnyField, coerce: Coercer) -> Coercer:
    def decode(obj: Any, name: str, value: Any) -> Any:
        if value is None:
            return coerce(obj, name, None)
        if not isinstance(value, VersionedObject):
            value = obj.obj_from_primitive(value, obj._context)
        return coerce(obj, name, value)

    return decode


def _list_decoder(
    field: AnyField, coerce: Coercer, decode_objects: ObjectsDecoder
) -> Coercer | None:
    element: AnyField = field._type._element_type  # type: ignore[attr-defined]
    if not decodes_by_default(element):
        return None
    if coercer_for(field)[1] == field.coerce:
        return None
    method = type(element._type).from_primitive
    if method is ovo.FieldType.from_primitive:
        return scalar_list_coercer(
            element, functools.partial(_decode_by_field, field), _ONLY_LIST
        )
    if method is ovo.Object.from_primitive:

        def decode(obj: Any, name: str, value: Any) -> Any:
            if value.__class__ is not list:
                return _decode_by_field(field, obj, name, value)
            return coerce(obj, name, decode_objects(obj, value))

        return decode
    return None


def _dict_decoder(field: AnyField, coerce: Coercer) -> Coercer | None:
    element: AnyField = field._type._element_type  # type: ignore[attr-defined]
    if not decodes_by_default(element):
        return None
    if coercer_for(field)[1] == field.coerce:
        return None
    if type(element._type).from_primitive is not ovo.FieldType.from_primitive:
        return None

    return scalar_dict_coercer(
        element, functools.partial(_decode_by_field, field), _ONLY_DICT
    )


_DECODERS: dict[Any, Callable[[AnyField, Coercer], Coercer | None]] = {
    ovo.DateTime.from_primitive: _datetime_decoder,
    ovo.Object.from_primitive: _object_decoder,
    ovo.Dict.from_primitive: _dict_decoder,
}
