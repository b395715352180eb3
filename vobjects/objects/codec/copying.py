# SPDX-License-Identifier: Apache-2.0
"""Deep copies of values, coerced for the copied object."""

from __future__ import annotations

import copy
import datetime
from collections.abc import Callable
from typing import Any

from oslo_versionedobjects import fields as ovo

from vobjects.objects.codec import lazy_list
from vobjects.objects.codec.coercion import (
    DICTS,
    LISTS,
    NONE,
    SETS,
    UTC,
    AnyField,
    Coercer,
    coercer_for,
)
from vobjects.objects.codec.lazy_list import LazyObjectList
from vobjects.objects.codec.override_detection import VersionedObject

Copier = Callable[[Any, str, Any, dict[int, Any]], Any]

#: Values of exactly these classes need no copy.
ATOMS: frozenset[Any] = frozenset({str, int, float, bool, bytes, NONE})


def copier_for(field: AnyField, coerce: Coercer) -> Copier | None:
    """Return a function that copies and coerces values of a field."""
    method = type(field._type).coerce
    if method is ovo.Object.coerce:

        def copy_object(
            obj: Any, name: str, value: Any, memo: dict[int, Any]
        ) -> Any:
            return coerce(obj, name, deep_copy(value, memo))

        return copy_object
    if method in (ovo.List.coerce, ovo.Dict.coerce, ovo.Set.coerce):
        element: AnyField = field._type._element_type  # type: ignore[attr-defined]
        unchanged_types, _ = coercer_for(element)
        if unchanged_types - {NONE}:
            return _scalars_copier(
                coerce, unchanged_types, method is ovo.Dict.coerce
            )
        if (
            method is ovo.List.coerce
            and type(element._type).coerce is ovo.Object.coerce
        ):

            def copy_objects(
                obj: Any, name: str, value: Any, memo: dict[int, Any]
            ) -> Any:
                if value.__class__ is LazyObjectList:
                    copied = lazy_list.copy_to_field(
                        value, obj, name, lambda item: deep_copy(item, memo)
                    )
                    if copied is not None:
                        return copied
                if value.__class__ not in LISTS:
                    return coerce(obj, name, copy.deepcopy(value, memo))
                return coerce(
                    obj, name, [deep_copy(item, memo) for item in value]
                )

            return copy_objects

    def copy_value(
        obj: Any, name: str, value: Any, memo: dict[int, Any]
    ) -> Any:
        if value.__class__ not in ATOMS and not (
            value.__class__ is datetime.datetime and value.tzinfo is UTC
        ):
            value = copy.deepcopy(value, memo)
        return coerce(obj, name, value)

    return copy_value


def _scalars_copier(
    coerce: Coercer, unchanged_types: frozenset[type], is_dict: bool
) -> Copier:
    containers = LISTS | DICTS | SETS

    def copy_scalars(
        obj: Any, name: str, value: Any, memo: dict[int, Any]
    ) -> Any:
        # Coercion creates a new container; immutable items can be shared.
        if value.__class__ in containers and unchanged_types.issuperset(
            map(type, value.values() if is_dict else value)
        ):
            return coerce(obj, name, value)
        return coerce(obj, name, copy.deepcopy(value, memo))

    return copy_scalars


def deep_copy(value: Any, memo: dict[int, Any]) -> Any:
    """Return a deep copy, as ``copy.deepcopy`` does, faster for objects."""
    if isinstance(value, VersionedObject):
        existing = memo.get(id(value))
        return value.__deepcopy__(memo) if existing is None else existing
    return copy.deepcopy(value, memo)
