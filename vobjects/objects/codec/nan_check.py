# SPDX-License-Identifier: Apache-2.0
"""Detect NaN and Infinity in objects, using field types where possible.

JSON encoding depends on this (:mod:`vobjects.objects.codec.json_text`). Most
field types cannot hold either, so that most values need not be checked.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from oslo_versionedobjects import fields as ovo

from vobjects.objects.codec import coercion, field_codecs, generate, lazy_list
from vobjects.objects.codec.class_codec import class_codec
from vobjects.objects.codec.json_text import is_finite
from vobjects.objects.codec.lazy_list import LazyObjectList
from vobjects.objects.codec.override_detection import VersionedObject

#: Coercion by these methods never results in a float.
_NEVER_FLOAT = coercion.NEVER_OBJECTS - {
    ovo.Float.coerce,
    ovo.NonNegativeFloat.coerce,
    ovo.List.coerce,
    ovo.Dict.coerce,
    ovo.Set.coerce,
}


def are_finite(entity: Any) -> bool:
    """Tell whether an entity certainly holds no NaN or Infinity.

    :param entity: an object, or lists, tuples and dicts of objects
    """
    if isinstance(entity, VersionedObject):
        float_attributes = _float_attributes(entity.__class__)
        attributes = entity.__dict__
        return float_attributes is not None and all(
            are_finite(attributes.get(name)) for name in float_attributes
        )
    if isinstance(entity, float):
        return is_finite(entity)
    if isinstance(entity, dict):
        return all(map(are_finite, entity.values()))
    if entity.__class__ is LazyObjectList:
        # Unread items hold neither: they were parsed from JSON or checked.
        return _are_all_finite(lazy_list.created_objects(entity))
    if isinstance(entity, (list, tuple, set)):
        return _are_all_finite(entity)
    return True


def _are_all_finite(items: Collection[Any]) -> bool:
    for cls in set(map(type, items)):
        if (
            not issubclass(cls, VersionedObject)
            or _float_attributes(cls) != ()
        ):
            return all(map(are_finite, items))
    return True


def _float_attributes(cls: type[VersionedObject]) -> tuple[str, ...] | None:
    """Return the attributes that may hold a float; None: unknown."""
    codec = class_codec(cls)
    if not codec.may_nest():
        return None
    if codec.float_attributes is None:
        codec.float_attributes = tuple(
            generate.attribute_of(name)
            for name, field_codec in codec.fields.items()
            if may_hold_float(field_codec)
        )
    return codec.float_attributes


def may_hold_float(field_codec: field_codecs.FieldCodec) -> bool:
    """Tell whether a field's value may contain a float."""
    field_type: Any = field_codec.field._type
    while isinstance(field_type, ovo.CompoundFieldType):
        field_type = field_type._element_type._type
    return (
        type(field_codec.field).coerce is not ovo.Field.coerce
        or type(field_type).coerce not in _NEVER_FLOAT
        or field_codec.encode is None
    )
