# SPDX-License-Identifier: Apache-2.0
"""FieldCodec: the functions that compiled code uses for one field."""

from __future__ import annotations

import dataclasses
from typing import Any

from oslo_versionedobjects import fields as ovo

from vobjects.objects.codec import coercion, copying, decoders, encoders
from vobjects.objects.codec.override_detection import MethodCheck


@dataclasses.dataclass(frozen=True, slots=True)
class FieldCodec:
    """How compiled code handles one field.

    Functions have the signature of the field's methods, ``(obj, name,
    value)``, except for ``encode`` and ``copy``.

    :ivar stored: classes whose instances are stored unchanged
    :ivar coerce: like ``field.coerce``
    :ivar decode: converts a primitive to a coerced value; None: use the field
    :ivar same: whether the primitive is the value itself
    :ivar encode: ``(value)``: converts a value (not None) to its primitive;
        None: use the field
    :ivar copy: ``(obj, name, value, memo)``: returns a deep copy, coerced;
        None: use the property
    :ivar tracks_changes: whether the value may be an object with its own
        changes
    """

    field: coercion.AnyField
    unchanged_types: frozenset[type]
    coerce: coercion.Coercer
    decode: coercion.Coercer | None
    is_identity: bool
    encode: encoders.Encoder | None
    copy: copying.Copier | None
    tracks_changes: bool
    coerce_checks: tuple[MethodCheck, ...]
    decode_checks: tuple[MethodCheck, ...]
    encode_checks: tuple[MethodCheck, ...]

    def holds_objects(self) -> bool:
        """Tell whether the field type can contain objects."""
        field_type: Any = self.field._type
        while isinstance(field_type, (ovo.List, ovo.Dict, ovo.Set)):
            field_type = field_type._element_type._type
        return isinstance(field_type, ovo.Object)


def field_codec(
    field: coercion.AnyField,
    encode_objects: encoders.Encoder,
    decode_objects: decoders.ObjectsDecoder,
) -> FieldCodec:
    """Return the codec of a field.

    :param encode_objects: converts a list of objects to primitives
    :param decode_objects: converts primitives to objects
    """
    field_class = type(field._type)
    unchanged_types, coerce = coercion.coercer_for(field)
    has_own_coerce = type(field).coerce is not ovo.Field.coerce
    encode = encoders.encoder_for(field, encode_objects)
    return FieldCodec(
        field=field,
        unchanged_types=unchanged_types,
        coerce=coerce,
        decode=decoders.decoder_for(field, coerce, decode_objects),
        is_identity=encode is encoders.identity,
        encode=encode,
        copy=None if has_own_coerce else copying.copier_for(field, coerce),
        tracks_changes=has_own_coerce
        or field_class.coerce not in coercion.NEVER_OBJECTS,
        coerce_checks=method_checks(field, 'coerce'),
        decode_checks=method_checks(field, 'from_primitive'),
        encode_checks=method_checks(field, 'to_primitive'),
    )


def method_checks(
    field: coercion.AnyField, name: str
) -> tuple[MethodCheck, ...]:
    """Return checks of a method of a field, its type and nested types."""
    owners: list[Any] = [type(field), type(field._type)]
    field_type: Any = field._type
    while isinstance(field_type, ovo.CompoundFieldType):
        field_type = field_type._element_type._type
        owners.append(type(field_type))
    return tuple(
        MethodCheck(field_class, name, getattr(field_class, name))
        for field_class in owners
    )
