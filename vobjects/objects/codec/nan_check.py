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
from vobjects.objects.codec.compiled import compiled
from vobjects.objects.codec.json_text import is_finite
from vobjects.objects.codec.lazy_list import UnreadObjects
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
        floating = _floating(entity.__class__)
        held = entity.__dict__
        return floating is not None and all(
            are_finite(held.get(name)) for name in floating
        )
    if isinstance(entity, float):
        return is_finite(entity)
    if isinstance(entity, dict):
        return all(map(are_finite, entity.values()))
    if entity.__class__ is UnreadObjects:
        # Unread items hold neither: they were parsed from JSON or checked.
        return _are_all_finite(lazy_list.made_objects(entity))
    if isinstance(entity, (list, tuple, set)):
        return _are_all_finite(entity)
    return True


def _are_all_finite(items: Collection[Any]) -> bool:
    for kind in set(map(type, items)):
        if not issubclass(kind, VersionedObject) or _floating(kind) != ():
            return all(map(are_finite, items))
    return True


def _floating(cls: type[VersionedObject]) -> tuple[str, ...] | None:
    """Return the attributes that may hold a float; None: unknown."""
    form = compiled(cls)
    if not form.may_nest():
        return None
    if form.floating is None:
        form.floating = tuple(
            generate.storage(name)
            for name, handling in form.fields.items()
            if may_float(handling)
        )
    return form.floating


def may_float(handling: field_codecs.Handling) -> bool:
    """Tell whether a field's value may contain a float."""
    kind: Any = handling.field._type
    while isinstance(kind, ovo.CompoundFieldType):
        kind = kind._element_type._type
    return (
        type(handling.field).coerce is not ovo.Field.coerce
        or type(kind).coerce not in _NEVER_FLOAT
        or handling.dump is None
    )
