# SPDX-License-Identifier: Apache-2.0
"""Coerce the values that are assigned to fields.

A field type is recognised by the identity of its methods. A subclass that
does not override ``coerce`` is therefore as fast as its parent; a subclass
that does keeps its own method. Any other value (of another class, or invalid)
is passed to the field's own ``coerce``.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any

from oslo_versionedobjects import fields as ovo

from vobjects.objects.codec.lazy_list import LazyObjectList
from vobjects.objects.codec.override_detection import VersionedObject

AnyField = ovo.Field[Any]
Coercer = Callable[[Any, str, Any], Any]

NONE = type(None)
UTC = datetime.UTC
LISTS: frozenset[Any] = frozenset(
    {list, tuple, ovo.CoercedList, LazyObjectList}
)
DICTS: frozenset[Any] = frozenset({dict, ovo.CoercedDict})
SETS: frozenset[Any] = frozenset({set, ovo.CoercedSet})

_new_list, _extend = list.__new__, list.extend
_new_dict, _update = dict.__new__, dict.update

_is_uuid = re.compile(
    '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}'
    '-[0-9a-fA-F]{12}'
).fullmatch


def coercer_for(field: AnyField) -> tuple[frozenset[type], Coercer]:
    """Return the classes to keep unchanged, and a function for the rest."""
    if (
        type(field).coerce is not ovo.Field.coerce
        or type(field)._null is not ovo.Field._null
        or 'coerce' in vars(field)
        or 'coerce' in vars(field._type)
    ):
        return frozenset(), field.coerce
    method = type(field._type).coerce
    null = {NONE} if field.nullable else set()
    unchanged_type = _UNCHANGED.get(method)
    if unchanged_type is not None:
        return frozenset({unchanged_type, *null}), field.coerce
    make_coercer = _COERCERS.get(method)
    coerce = make_coercer(field) if make_coercer is not None else None
    return frozenset(null), coerce or field.coerce


#: ``coerce`` -> the class whose values it returns unchanged.
_UNCHANGED: dict[Any, type] = {
    ovo.String.coerce: str,
    ovo.Integer.coerce: int,
    ovo.Float.coerce: float,
    ovo.Boolean.coerce: bool,
    ovo.FlexibleBoolean.coerce: bool,
}


def _uuid_coercer(field: AnyField) -> Coercer:
    def coerce(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ is str and _is_uuid(value):
            return value
        return field.coerce(obj, name, value)

    return coerce


def _enum_coercer(field: AnyField) -> Coercer | None:
    # Fixed when compiled: oslo.versionedobjects cannot change the values.
    try:
        valid = frozenset(field._type._valid_values)  # type: ignore[attr-defined]
    except TypeError:
        return None

    def coerce(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ is str and value in valid:
            return value
        return field.coerce(obj, name, value)

    return coerce


def _not_negative_coercer(
    number: type[int] | type[float],
) -> Callable[[AnyField], Coercer]:
    def make(field: AnyField) -> Coercer:
        def coerce(obj: Any, name: str, value: Any) -> Any:
            if value.__class__ is number and value >= 0:
                return value
            return field.coerce(obj, name, value)

        return coerce

    return make


def _datetime_coercer(field: AnyField) -> Coercer | None:
    if not field._type.tzinfo_aware:  # type: ignore[attr-defined]
        return None

    def coerce(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ is datetime.datetime and value.tzinfo is UTC:
            return value
        return field.coerce(obj, name, value)

    return coerce


def has_type_name(cls: type, name: str, subclasses: bool) -> bool:
    """Tell whether an Object field of that type name accepts a class."""
    if not issubclass(cls, VersionedObject):
        return False
    candidates = cls.__mro__ if subclasses else (cls,)
    for candidate in candidates:
        method = getattr(candidate, 'obj_name', None)
        if getattr(method, '__self__', None) is not candidate:
            continue
        assert method is not None
        if method() == name:
            return True
    return False


def _object_coercer(field: AnyField) -> Coercer:
    field_type: Any = field._type
    type_name, subclasses = field_type._obj_name, field_type._subclasses

    def coerce(obj: Any, name: str, value: Any) -> Any:
        if 'obj_name' not in getattr(value, '__dict__', ()) and has_type_name(
            value.__class__, type_name, subclasses
        ):
            return value
        return field.coerce(obj, name, value)

    return coerce


def _objects_test(element: AnyField) -> Callable[[Any], bool] | None:
    """Return a test that all values are objects of the right type."""
    field_type: Any = element._type
    if (
        type(field_type).coerce is not ovo.Object.coerce
        or coercer_for(element)[1] == element.coerce
    ):
        return None
    type_name, subclasses = field_type._obj_name, field_type._subclasses

    def are_objects(values: Any) -> bool:
        return all(
            has_type_name(cls, type_name, subclasses)
            for cls in set(map(type, values))
        )

    return are_objects


def _scalars_test(element: AnyField) -> Callable[[Any], bool] | None:
    """Return a test that all classes in a container are kept unchanged."""
    unchanged_types, _ = coercer_for(element)
    return unchanged_types.issuperset if unchanged_types - {NONE} else None


def _list_coercer(field: AnyField) -> Coercer | None:
    element: AnyField = field._type._element_type  # type: ignore[attr-defined]
    coerce_scalars = scalar_list_coercer(element, field.coerce, LISTS)
    if coerce_scalars is not None:
        return coerce_scalars
    are_objects = _objects_test(element)
    if are_objects is None:
        return None

    def coerce(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ in LISTS and are_objects(value):
            return coerced_list(element, obj, name, value)
        return field.coerce(obj, name, value)

    return coerce


def scalar_list_coercer(
    element: AnyField, otherwise: Coercer, classes: frozenset[Any]
) -> Coercer | None:
    """Return a function that converts lists to ``CoercedList``.

    :param element: the field of the items
    :param otherwise: converts all other values
    :param classes: the accepted classes of lists
    :returns: None if items may need coercion
    """
    are_scalars = _scalars_test(element)
    if are_scalars is None:
        return None
    coerced_class: Any = ovo.CoercedList

    def coerce(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ in classes and (
            not value or are_scalars(map(type, value))
        ):
            coerced: Any = _new_list(coerced_class)
            coerced._element_type = element
            coerced._obj = obj
            coerced._field = name
            if value:
                _extend(coerced, value)
            return coerced
        return otherwise(obj, name, value)

    return coerce


def coerced_list(element: AnyField, obj: Any, name: str, values: Any) -> Any:
    """Return a ``CoercedList`` of values that need no coercion."""
    coerced: Any = _new_list(ovo.CoercedList)
    coerced._element_type = element
    coerced._obj = obj
    coerced._field = name
    _extend(coerced, values)
    return coerced


def _dict_coercer(field: AnyField) -> Coercer | None:
    element: AnyField = field._type._element_type  # type: ignore[attr-defined]
    return scalar_dict_coercer(element, field.coerce, DICTS)


def scalar_dict_coercer(
    element: AnyField, otherwise: Coercer, classes: frozenset[Any]
) -> Coercer | None:
    """Return a function that converts dicts to ``CoercedDict``.

    See :func:`scalar_list_coercer` for the parameters.
    """
    if _scalars_test(element) is None:
        return None
    unchanged_types, _ = coercer_for(element)
    coerced_class: Any = ovo.CoercedDict

    def coerce(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ not in classes:
            return otherwise(obj, name, value)
        for key, item in value.items():
            if (
                key.__class__ is not str
                or item.__class__ not in unchanged_types
            ):
                return otherwise(obj, name, value)
        coerced: Any = _new_dict(coerced_class)
        coerced._element_type = element
        coerced._obj = obj
        coerced._field = name
        if value:
            _update(coerced, value)
        return coerced

    return coerce


def _set_coercer(field: AnyField) -> Coercer | None:
    element: AnyField = field._type._element_type  # type: ignore[attr-defined]
    are_scalars = _scalars_test(element)
    if are_scalars is None:
        return None

    def coerce(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ in SETS and are_scalars(map(type, value)):
            coerced: Any = set.__new__(ovo.CoercedSet)
            coerced._element_type = element
            coerced._obj = obj
            coerced._field = name
            set.update(coerced, value)
            return coerced
        return field.coerce(obj, name, value)

    return coerce


_COERCERS: dict[Any, Callable[[AnyField], Coercer | None]] = {
    ovo.UUID.coerce: _uuid_coercer,
    ovo.Enum.coerce: _enum_coercer,
    ovo.NonNegativeInteger.coerce: _not_negative_coercer(int),
    ovo.NonNegativeFloat.coerce: _not_negative_coercer(float),
    ovo.DateTime.coerce: _datetime_coercer,
    ovo.Object.coerce: _object_coercer,
    ovo.List.coerce: _list_coercer,
    ovo.Dict.coerce: _dict_coercer,
    ovo.Set.coerce: _set_coercer,
}


def keep_expression(
    field: AnyField, local: str, bind: Callable[[Any, str], str]
) -> str | None:
    """Return a test, as source, that a value needs no coercion.

    :param local: the variable that holds the value
    :param name: returns a global name for a value
    :returns: None if there is no short test
    """
    if coercer_for(field)[1] == field.coerce:
        return None
    method = type(field._type).coerce
    if method is ovo.UUID.coerce:
        matches = bind(_is_uuid, 'uuid')
        return f'{local}.__class__ is str and {matches}({local})'
    if method is ovo.Enum.coerce:
        valid = frozenset(field._type._valid_values)  # type: ignore[attr-defined]
        return (
            f'{local}.__class__ is str and {local} in {bind(valid, "valid")}'
        )
    return None


#: Coercion by these methods never results in an object.
NEVER_OBJECTS = frozenset({*_UNCHANGED, *_COERCERS} - {ovo.Object.coerce})


def is_pure(field: AnyField) -> bool:
    """Tell whether the result of coercion depends only on the value."""
    field_type: Any = field._type
    while type(field).coerce is ovo.Field.coerce:
        if not isinstance(field_type, ovo.CompoundFieldType):
            return type(field_type).coerce in {*_UNCHANGED, *_COERCERS}
        if type(field_type).coerce not in _COERCERS:
            return False
        field = field_type._element_type
        field_type = field._type
    return False
