# SPDX-License-Identifier: Apache-2.0
"""Detect NaN and Infinity in objects, using field types where possible.

JSON encoding depends on this (:mod:`vobjects.objects.codec.json_text`). Most
field types cannot hold either, so that most values need not be checked.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from vobjects.objects.codec.class_codec import class_codec
from vobjects.objects.codec.json_text import is_finite
from vobjects.objects.codec.lazy_list import LazyObjectList, created_objects
from vobjects.objects.codec.override_detection import VersionedObject


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
        return _are_all_finite(created_objects(entity))
    if isinstance(entity, (list, tuple, set)):
        return _are_all_finite(entity)
    return True


def _are_all_finite(items: Collection[Any]) -> bool:
    for cls in set(map(type, items)):
        if (
            not issubclass(cls, VersionedObject)
            or _float_attributes(cls) != []
        ):
            return all(map(are_finite, items))
    return True


def _float_attributes(cls: type[VersionedObject]) -> Collection[str] | None:
    """Return the attributes that may hold a float; None: unknown."""
    codec = class_codec(cls)
    return codec.float_attributes if codec.may_nest() else None
