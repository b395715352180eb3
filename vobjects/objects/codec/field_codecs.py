# SPDX-License-Identifier: Apache-2.0
"""FieldCodec: the functions that compiled code uses for one field.

As in :mod:`vobjects.objects.codec.coercion`, a field type is recognised by
its methods, and unexpected values are passed to the field's own methods.
"""

from __future__ import annotations

import copy
import dataclasses
import datetime
from collections.abc import Callable
from typing import Any

from oslo_versionedobjects import fields as ovo

from vobjects import field_types
from vobjects.objects.codec import coercion, lazy_list
from vobjects.objects.codec.coercion import NONE, UTC, AnyField, Coercer
from vobjects.objects.codec.lazy_list import LazyObjectList
from vobjects.objects.codec.override_detection import Method, VersionedObject

Encoder = Callable[[Any], Any]
#: The first argument is the object that will contain the objects.
ObjectsDecoder = Callable[[Any, list[dict[str, Any]]], list[Any]]
Copier = Callable[[Any, str, Any, dict[int, Any]], Any]

#: Values of exactly these classes need no copy.
ATOMS: frozenset[Any] = frozenset({str, int, float, bool, bytes, NONE})

#: Coercion by these methods never results in a float.
_NEVER_FLOAT = coercion.NEVER_OBJECTS - {
    ovo.Float.coerce,
    ovo.NonNegativeFloat.coerce,
    ovo.List.coerce,
    ovo.Dict.coerce,
    ovo.Set.coerce,
    field_types.Dict.coerce,
    field_types.Set.coerce,
}


@dataclasses.dataclass(frozen=True, slots=True)
class FieldCodec:
    """How compiled code handles one field.

    Functions have the signature of the field's methods, ``(obj, name,
    value)``, except for ``encode`` and ``copy``.

    :ivar coerce: like ``field.coerce``
    :ivar unchanged: an expression that is true if ``coerce`` and ``copy``
        return a value unchanged; see :func:`coercion.unchanged_test`
    :ivar valid: the texts that ``unchanged`` accepts
    :ivar decode: converts a primitive to a coerced value
    :ivar decode_unchanged: as ``unchanged``, for ``decode``
    :ivar encode: ``(value)``: converts a value (not None) to its primitive;
        None: the primitive is the value itself
    :ivar encodes: whether ``encode`` knows the field type; otherwise, use the
        field
    :ivar copy: ``(obj, name, value, memo)``: returns a deep copy, coerced
    :ivar tracks_changes: whether the value may be an object with its own
        changes
    :ivar coerces_by_value: whether ``coerce`` has no side effects, and does
        not depend on the object
    :ivar holds_objects: whether the field type can contain objects
    :ivar may_hold_float: whether a value may contain a float
    """

    field: AnyField
    coerce: Coercer
    unchanged: str
    valid: frozenset[str]
    decode: Coercer
    decode_unchanged: str
    encode: Encoder | None
    encodes: bool
    copy: Copier
    tracks_changes: bool
    coerces_by_value: bool
    holds_objects: bool
    may_hold_float: bool

    def methods(self, name: str) -> list[Method]:
        """Return a method of the field, its type and all nested types."""
        field_type: Any = self.field._type
        owners: list[Any] = [type(self.field), type(field_type)]
        while isinstance(field_type, ovo.CompoundFieldType):
            field_type = field_type._element_type._type
            owners.append(type(field_type))
        return [(owner, name) for owner in owners]


def field_codec(
    field: AnyField, encode_objects: Encoder, decode_objects: ObjectsDecoder
) -> FieldCodec:
    """Return the codec of a field.

    :param encode_objects: converts a list of objects to primitives
    :param decode_objects: converts a list of primitives to objects
    """
    coerce = coercion.coercer_for(field)
    has_own_coerce = type(field).coerce is not ovo.Field.coerce
    innermost: Any = field._type
    nested_types = [type(innermost)]
    while isinstance(innermost, ovo.CompoundFieldType):
        innermost = innermost._element_type._type
        nested_types.append(type(innermost))
    encode = _encoder_for(field, encode_objects)
    decode = _decoder_for(field, coerce, decode_objects)
    unchanged = '' if field.read_only else coercion.unchanged_test(field)
    if decode == coerce:
        decode_unchanged = unchanged
    elif unchanged and coercion.default_method(field, 'from_primitive'):
        decode_unchanged = '{v} is None' if field.nullable else ''
    else:
        decode_unchanged = ''
    return FieldCodec(
        field=field,
        coerce=coerce,
        unchanged=unchanged,
        valid=coercion.valid_texts(field),
        decode=decode,
        decode_unchanged=decode_unchanged,
        encode=None if encode is _identity else encode,
        encodes=encode is not None,
        copy=_copier_for(field, coerce),
        tracks_changes=has_own_coerce
        or type(field._type).coerce not in coercion.NEVER_OBJECTS,
        coerces_by_value=not has_own_coerce
        and all(t.coerce in coercion.KNOWN for t in nested_types),
        holds_objects=isinstance(innermost, ovo.Object),
        may_hold_float=has_own_coerce
        or type(innermost).coerce not in _NEVER_FLOAT
        or encode is None,
    )


# Primitives to values


def _decoder_for(
    field: AnyField, coerce: Coercer, decode_objects: ObjectsDecoder
) -> Coercer:
    """Return a function from primitive to coerced value."""

    def decode_by_field(obj: Any, name: str, value: Any) -> Any:
        return coerce(obj, name, field.from_primitive(obj, name, value))

    def set_once(obj: Any, name: str, value: Any) -> Any:
        setattr(obj, name, field.from_primitive(obj, name, value))
        return getattr(obj, name)

    def decode_time(obj: Any, name: str, value: Any) -> Any:
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
        return decode_by_field(obj, name, value)

    def decode_object(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ is dict:
            return coerce(obj, name, decode_objects(obj, [value])[0])
        return decode_by_field(obj, name, value)

    def decode_list(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ is list and {*map(type, value)} == {dict}:
            return coerce(obj, name, decode_objects(obj, value))
        return decode_by_field(obj, name, value)

    if field.read_only:
        return set_once
    method = coercion.default_method(field, 'from_primitive')
    if method is ovo.FieldType.from_primitive:
        return coerce
    if method is ovo.Object.from_primitive:
        return decode_object
    if (
        method is ovo.DateTime.from_primitive
        and coercion.default_method(field, 'coerce')
        in (ovo.DateTime.coerce, field_types.DateTime.coerce)
        and field._type.tzinfo_aware  # type: ignore[attr-defined]
    ):
        return decode_time
    if coerce == field.coerce:
        return decode_by_field
    if method in (ovo.List.from_primitive, ovo.Dict.from_primitive):
        element: AnyField = field._type._element_type  # type: ignore[attr-defined]
        item_method = coercion.default_method(element, 'from_primitive')
        if item_method is ovo.FieldType.from_primitive:
            return coercion.coercer_for(field, decode_by_field)
        if (item_method, method) == (
            ovo.Object.from_primitive,
            ovo.List.from_primitive,
        ):
            return decode_list
    return decode_by_field


# Values to primitives


def _identity(value: Any) -> Any:
    return value


def _encode_object(value: Any) -> Any:
    return value.obj_to_primitive()


def _encoder_for(field: AnyField, encode_objects: Encoder) -> Encoder | None:
    """Return a function from value to primitive; None: unknown type."""
    method = coercion.default_method(field, 'to_primitive')
    if method in _ENCODERS:
        return _ENCODERS[method]
    make_encoder = _CONTAINER_ENCODERS.get(method)
    if make_encoder is None:
        return None
    element: AnyField = field._type._element_type  # type: ignore[attr-defined]
    encode_item = _encoder_for(element, encode_objects)
    if make_encoder is _list_encoder and encode_item is _encode_object:
        return encode_objects
    return None if encode_item is None else make_encoder(encode_item)


def _list_encoder(encode_item: Encoder) -> Encoder:
    if encode_item is _identity:
        return list
    return lambda values: [
        None if v is None else encode_item(v) for v in values
    ]


def _dict_encoder(encode_item: Encoder) -> Encoder:
    if encode_item is _identity:
        return dict
    return lambda values: {
        key: None if v is None else encode_item(v) for key, v in values.items()
    }


def _set_encoder(encode_item: Encoder) -> Encoder:
    if encode_item is _identity:
        return field_types.in_order
    return lambda values: field_types.in_order(
        None if v is None else encode_item(v) for v in values
    )


_ENCODERS: dict[Any, Encoder] = {
    ovo.FieldType.to_primitive: _identity,
    ovo.DateTime.to_primitive: field_types.format_time,
    field_types.DateTime.to_primitive: field_types.format_time,
    ovo.IPAddress.to_primitive: str,
    ovo.IPNetwork.to_primitive: str,
    ovo.Object.to_primitive: _encode_object,
}
_CONTAINER_ENCODERS: dict[Any, Callable[[Encoder], Encoder]] = {
    ovo.List.to_primitive: _list_encoder,
    ovo.Dict.to_primitive: _dict_encoder,
    ovo.Set.to_primitive: _set_encoder,
    field_types.Set.to_primitive: _set_encoder,
}


# Copies


def _copier_for(field: AnyField, coerce: Coercer) -> Copier:
    """Return a function that copies and coerces values of a field."""

    def copy_by_property(
        obj: Any, name: str, value: Any, memo: dict[int, Any]
    ) -> Any:
        setattr(obj, name, deep_copy(value, memo))
        return getattr(obj, name)

    def copy_value(
        obj: Any, name: str, value: Any, memo: dict[int, Any]
    ) -> Any:
        if value.__class__ not in ATOMS:
            value = deep_copy(value, memo)
        return coerce(obj, name, value)

    def copy_items(
        obj: Any, name: str, value: Any, memo: dict[int, Any]
    ) -> Any:
        cls = value.__class__
        if cls is LazyObjectList:
            copied = lazy_list.copy_to_field(
                value, obj, name, lambda item: deep_copy(item, memo)
            )
            if copied is not None:
                return copied
        # Coercion creates the new container.
        items = value.values() if cls in coercion.DICTS else value
        if not value or ATOMS.issuperset(map(type, items)):
            pass
        elif cls in coercion.LISTS:
            value = [deep_copy(item, memo) for item in value]
        else:
            value = copy.deepcopy(value, memo)
        return coerce(obj, name, value)

    if field.read_only or type(field).coerce is not ovo.Field.coerce:
        return copy_by_property
    if coerce != field.coerce and isinstance(
        field._type, ovo.CompoundFieldType
    ):
        return copy_items
    return copy_value


def deep_copy(value: Any, memo: dict[int, Any]) -> Any:
    """Return a deep copy, as ``copy.deepcopy`` does, but faster."""
    if value.__class__ in ATOMS or (
        value.__class__ is datetime.datetime and value.tzinfo is UTC
    ):
        return value
    if isinstance(value, VersionedObject):
        existing = memo.get(id(value))
        return value.__deepcopy__(memo) if existing is None else existing
    return copy.deepcopy(value, memo)
