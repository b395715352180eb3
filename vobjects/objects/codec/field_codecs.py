# SPDX-License-Identifier: Apache-2.0
"""FieldCodec: the functions that compiled code uses for one field.

As in :mod:`vobjects.objects.codec.coercion`, a field type is recognised by
its methods, and unexpected values are passed to the field's own methods.
"""

from __future__ import annotations

import copy
import dataclasses
import datetime
import re
from collections.abc import Callable, Container, Mapping
from typing import Any, Literal

from oslo_versionedobjects import fields as ovo

from vobjects import field_corrections
from vobjects.field_values import types_in
from vobjects.objects.codec import coercion, generate
from vobjects.objects.codec.coercion import NONE, UTC, AnyField, Coercer
from vobjects.objects.codec.field_properties import attribute_of
from vobjects.objects.codec.override_detection import Method, VersionedObject

Encoder = Callable[..., Any]
Copier = Callable[[Any, str, Any, dict[int, Any]], Any]

#: Values of exactly these classes need no copy.
ATOMS: frozenset[Any] = frozenset({str, int, float, bool, bytes, NONE})

#: Coercion by these methods never results in a float.
_NEVER_FLOAT = coercion.NEVER_OBJECTS - {
    ovo.Float.coerce,
    ovo.NonNegativeFloat.coerce,
    *coercion.CONTAINERS,
}

#: The text of :func:`field_corrections.format_time`.
_is_time = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ', re.ASCII).fullmatch


@dataclasses.dataclass(frozen=True, slots=True)
class FieldCodec:
    """How compiled code handles one field.

    Functions have the signature of the field's methods, ``(obj, name,
    value)``, except for ``encode`` and ``copy``.

    :ivar coerce: like ``field.coerce``
    :ivar unchanged: an expression that is true if ``coerce`` and ``copy``
        return a value unchanged; see :func:`coercion.unchanged_test`
    :ivar decode: converts a primitive to a coerced value
    :ivar decode_unchanged: as ``unchanged``, for ``decode``
    :ivar encode: ``(value)``: converts a value (not None) to its primitive;
        with objects inside, also ``(value, manifest, refuse_loss)``. None: the
        codec does not know the field type, so use the field
    :ivar copy: ``(obj, name, value, memo)``: returns a deep copy, coerced
    :ivar tracks_changes: whether the value may be an object with its own
        changes
    :ivar holds_objects: whether the field type can contain objects
    :ivar may_hold_float: whether a value may contain a float
    """

    field: AnyField
    coerce: Coercer
    unchanged: str
    decode: Coercer
    decode_unchanged: str
    encode: Encoder | None
    copy: Copier
    tracks_changes: bool
    holds_objects: bool
    may_hold_float: bool

    def methods(self, name: str) -> list[Method]:
        """Return a method of the field, its type and all nested types."""
        types = types_in(self.field._type)
        return [(type(self.field), name), *((type(t), name) for t in types)]


def identity(value: Any) -> Any:
    """Return a value, as its primitive."""
    return value


def field_codec(
    field: AnyField, encode_object: Encoder, encode_objects: Encoder
) -> FieldCodec:
    """Return the codec of a field.

    :param encode_object: converts an object to its primitive
    :param encode_objects: converts a list of objects to primitives
    """
    coerce = coercion.coercer_for(field)
    has_own_coerce = type(field).coerce is not ovo.Field.coerce
    *_, innermost = types_in(field._type)
    encode = _encoder_for(field, encode_object, encode_objects)
    decode = _decoder_for(field, coerce)
    unchanged = '' if field.read_only else coercion.unchanged_test(field)
    keeps_null = field.nullable and coercion.default_method(
        field, 'from_primitive'
    )
    is_null = '{v} is None' if unchanged and keeps_null else ''
    return FieldCodec(
        field=field,
        coerce=coerce,
        unchanged=unchanged,
        decode=decode,
        decode_unchanged=unchanged if decode == coerce else is_null,
        encode=encode,
        copy=_copier_for(field, coerce),
        tracks_changes=has_own_coerce
        or type(field._type).coerce not in coercion.NEVER_OBJECTS,
        holds_objects=isinstance(innermost, ovo.Object),
        may_hold_float=has_own_coerce
        or type(innermost).coerce not in _NEVER_FLOAT
        or encode is None,
    )


def _decoder_for(field: AnyField, coerce: Coercer) -> Coercer:
    """Return a function from primitive to coerced value."""

    def decode_by_field(obj: Any, name: str, value: Any) -> Any:
        return coerce(obj, name, field.from_primitive(obj, name, value))

    def set_once(obj: Any, name: str, value: Any) -> Any:
        setattr(obj, name, field.from_primitive(obj, name, value))
        return getattr(obj, name)

    def decode_time(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ is str and _is_time(value):
            try:
                return datetime.datetime.fromisoformat(value)
            except ValueError:
                pass
        return decode_by_field(obj, name, value)

    if field.read_only:
        return set_once
    method = coercion.default_method(field, 'from_primitive')
    if method is ovo.FieldType.from_primitive:
        return coerce
    if method is ovo.DateTime.from_primitive and coercion.is_time(field):
        return decode_time
    if coerce == field.coerce:
        return decode_by_field
    if method in (ovo.List.from_primitive, ovo.Dict.from_primitive):
        element: AnyField = field._type._element_type  # type: ignore[attr-defined]
        item_method = coercion.default_method(element, 'from_primitive')
        if item_method is ovo.FieldType.from_primitive:
            return coercion.coercer_for(field, decode_by_field)
    return decode_by_field


_ENCODERS: dict[Any, Encoder] = {
    ovo.FieldType.to_primitive: identity,
    ovo.DateTime.to_primitive: field_corrections.format_time,
    field_corrections.DateTime.to_primitive: field_corrections.format_time,
    ovo.IPAddress.to_primitive: str,
    ovo.IPNetwork.to_primitive: str,
}

#: ``to_primitive`` of containers -> the primitive from primitive items.
_CONTAINERS: dict[Any, Encoder] = {
    ovo.List.to_primitive: list,
    ovo.Dict.to_primitive: dict,
    ovo.Set.to_primitive: field_corrections.in_order,
    field_corrections.Set.to_primitive: field_corrections.in_order,
}


def _encoder_for(
    field: AnyField, encode_object: Encoder, encode_objects: Encoder
) -> Encoder | None:
    """Return a function from value to primitive; None: unknown type."""
    method = coercion.default_method(field, 'to_primitive')
    if method is ovo.Object.to_primitive:
        return encode_object
    make = _CONTAINERS.get(method)
    if make is None:
        return _ENCODERS.get(method)
    element: AnyField = field._type._element_type  # type: ignore[attr-defined]
    item = _encoder_for(element, encode_object, encode_objects)
    if item is None:
        return None
    if item is identity:
        return make

    def encode_each(values: Any, *settings: Any) -> list[Any]:
        return [None if v is None else item(v, *settings) for v in values]

    encode_items = encode_objects if item is encode_object else encode_each
    if make is list:
        return encode_items
    if make is dict:
        return lambda values, *settings: dict(
            zip(values, encode_items(values.values(), *settings), strict=True)
        )
    return lambda values, *settings: make(encode_items(values, *settings))


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
        return coerce(obj, name, deep_copy(value, memo))

    def copy_items(
        obj: Any, name: str, value: Any, memo: dict[int, Any]
    ) -> Any:
        cls = value.__class__
        # Coercion creates the new container.
        items = value.values() if cls in coercion.DICTS else value
        if value and not ATOMS.issuperset(map(type, items)):
            if cls not in coercion.LISTS:
                return copy_value(obj, name, value, memo)
            value = [deep_copy(item, memo) for item in value]
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


#: Expressions that are faster than calls.
_DISPLAYS: dict[Any, str] = {list: '[*{v}]', dict: '{{**{v}}}'}


def encoder(
    title: str,
    fields: Mapping[str, FieldCodec],
    converted: Container[str] = (),
) -> generate.Mapper:
    """Return a function from attributes to the data of a primitive.

    Its parameters are ``(obj, source, manifest, refuse_loss)``.

    :param title: for tracebacks
    :param converted: fields whose values a conversion replaces: the objects
        inside keep their versions
    """
    items: list[generate.Item] = []
    for name, field in fields.items():
        encode: Any = field.encode
        call = _DISPLAYS.get(encode, 'encode{n}({v})')
        if field.holds_objects and name not in converted:
            call = 'encode{n}({v}, manifest, refuse_loss)'
        template = f'None if {{v}} is None else {call}'
        if encode is None:
            encode = field.field.to_primitive
            template = 'encode{n}(obj, {name}, {v})'
        elif encode is identity:
            template = '{v}'
        keys = attribute_of(name), name
        items.append((*keys, name, template, {'encode': encode}))
    return generate.mapper(title, items, 'obj, source, manifest, refuse_loss')


def setter(
    title: str,
    fields: Mapping[str, FieldCodec],
    method: Literal['coerce', 'decode', 'copy'],
) -> generate.Mapper:
    """Return a function that returns the attributes of an object.

    Its parameters are ``(obj, source)``, and ``memo`` for ``copy``, whose
    source are attributes.

    :param title: for tracebacks
    :param method: function of a FieldCodec, for values that change
    """
    is_copy = method == 'copy'
    memo = ', memo' if is_copy else ''
    items: list[generate.Item] = []
    for name, field in fields.items():
        values = {
            'convert': getattr(field, method),
            'valid': coercion.valid_values(field.field),
        }
        template = f'convert{{n}}(obj, {{name}}, {{v}}{memo})'
        test = field.unchanged
        if method == 'decode':
            test = field.decode_unchanged
        if test:
            template = f'{{v}} if {test} else {template}'
        attribute = attribute_of(name)
        key = attribute if is_copy else name
        items.append((key, attribute, name, template, values))
    return generate.mapper(f'{title}, {method}', items, f'obj, source{memo}')
