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
    Coerce,
    coercion,
    dict_of_scalars,
    list_of_scalars,
)
from vobjects.objects.codec.override_detection import VersionedObject

_ONLY_LIST, _ONLY_DICT = frozenset({list}), frozenset({dict})


def loading(field: AnyField, coerce: Coerce) -> Coerce | None:
    """Return a function from primitive to coerced value.

    :returns: None if the field type is unknown
    """
    if not loads_plainly(field):
        return None
    method = type(field._type).from_primitive
    if method is ovo.FieldType.from_primitive:
        return coerce
    make = _LOAD.get(method)
    return None if make is None else make(field, coerce)


def loads_plainly(field: AnyField) -> bool:
    return (
        type(field).from_primitive is ovo.Field.from_primitive
        and 'from_primitive' not in vars(field)
        and 'from_primitive' not in vars(field._type)
    )


def _ask(field: AnyField, obj: Any, name: str, value: Any) -> Any:
    return field.coerce(obj, name, field.from_primitive(obj, name, value))


def _load_datetime(field: AnyField, coerce: Coerce) -> Coerce | None:
    if not field._type.tzinfo_aware:  # type: ignore[attr-defined]
        return None
    if type(field._type).coerce is not ovo.DateTime.coerce:
        return None

    def load(obj: Any, name: str, value: Any) -> Any:
        # The exact format of time_text; the field parses all others.
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
        return _ask(field, obj, name, value)

    return load


def _load_object(field: AnyField, coerce: Coerce) -> Coerce:
    def load(obj: Any, name: str, value: Any) -> Any:
        if value is None:
            return coerce(obj, name, None)
        if not isinstance(value, VersionedObject):
            value = obj.obj_from_primitive(value, obj._context)
        return coerce(obj, name, value)

    return load


def _load_list(field: AnyField, coerce: Coerce) -> Coerce | None:
    element: AnyField = field._type._element_type  # type: ignore[attr-defined]
    if not loads_plainly(element):
        return None
    if coercion(field)[1] == field.coerce:
        return None
    method = type(element._type).from_primitive
    if method is ovo.FieldType.from_primitive:
        return list_of_scalars(
            element, functools.partial(_ask, field), _ONLY_LIST
        )
    if method is ovo.Object.from_primitive:
        from vobjects.objects.codec import ovo_methods

        def load_objects(obj: Any, name: str, value: Any) -> Any:
            if value.__class__ is not list:
                return _ask(field, obj, name, value)
            return coerce(obj, name, ovo_methods.load_objects(obj, value))

        return load_objects
    return None


def _load_dict(field: AnyField, coerce: Coerce) -> Coerce | None:
    element: AnyField = field._type._element_type  # type: ignore[attr-defined]
    if not loads_plainly(element):
        return None
    if coercion(field)[1] == field.coerce:
        return None
    if type(element._type).from_primitive is not ovo.FieldType.from_primitive:
        return None

    return dict_of_scalars(element, functools.partial(_ask, field), _ONLY_DICT)


_LOAD: dict[Any, Callable[[AnyField, Coerce], Coerce | None]] = {
    ovo.DateTime.from_primitive: _load_datetime,
    ovo.Object.from_primitive: _load_object,
    ovo.List.from_primitive: _load_list,
    ovo.Dict.from_primitive: _load_dict,
}
