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

from vobjects.objects.codec.override_detection import VersionedObject

AnyField = ovo.Field[Any]
Coerce = Callable[[Any, str, Any], Any]

NONE = type(None)
UTC = datetime.UTC
LISTS: frozenset[Any] = frozenset({list, tuple, ovo.CoercedList})
DICTS: frozenset[Any] = frozenset({dict, ovo.CoercedDict})
SETS: frozenset[Any] = frozenset({set, ovo.CoercedSet})

_new_list, _extend = list.__new__, list.extend
_new_dict, _update = dict.__new__, dict.update

_is_uuid = re.compile(
    '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}'
    '-[0-9a-fA-F]{12}'
).fullmatch


def coercion(field: AnyField) -> tuple[frozenset[type], Coerce]:
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
    kept = _KEPT.get(method)
    if kept is not None:
        return frozenset({kept, *null}), field.coerce
    make = _COERCE.get(method)
    made = make(field) if make is not None else None
    return frozenset(null), made or field.coerce


#: ``coerce`` -> the class whose values it returns unchanged.
_KEPT: dict[Any, type] = {
    ovo.String.coerce: str,
    ovo.Integer.coerce: int,
    ovo.Float.coerce: float,
    ovo.Boolean.coerce: bool,
    ovo.FlexibleBoolean.coerce: bool,
}


def _uuid(field: AnyField) -> Coerce:
    def coerce(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ is str and _is_uuid(value):
            return value
        return field.coerce(obj, name, value)

    return coerce


def _enum(field: AnyField) -> Coerce | None:
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


def _not_negative(
    number: type[int] | type[float],
) -> Callable[[AnyField], Coerce]:
    def make(field: AnyField) -> Coerce:
        def coerce(obj: Any, name: str, value: Any) -> Any:
            if value.__class__ is number and value >= 0:
                return value
            return field.coerce(obj, name, value)

        return coerce

    return make


def _datetime(field: AnyField) -> Coerce | None:
    if not field._type.tzinfo_aware:  # type: ignore[attr-defined]
        return None

    def coerce(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ is datetime.datetime and value.tzinfo is UTC:
            return value
        return field.coerce(obj, name, value)

    return coerce


def is_named(cls: type, name: str, subclasses: bool) -> bool:
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


def _object(field: AnyField) -> Coerce:
    kind: Any = field._type
    wanted, subclasses = kind._obj_name, kind._subclasses

    def coerce(obj: Any, name: str, value: Any) -> Any:
        if 'obj_name' not in getattr(value, '__dict__', ()) and is_named(
            value.__class__, wanted, subclasses
        ):
            return value
        return field.coerce(obj, name, value)

    return coerce


def _accepts(element: AnyField) -> Callable[[Any], bool] | None:
    """Return a test that all values are objects of the right type."""
    kind: Any = element._type
    if (
        type(kind).coerce is not ovo.Object.coerce
        or coercion(element)[1] == element.coerce
    ):
        return None
    wanted, subclasses = kind._obj_name, kind._subclasses

    def objects(values: Any) -> bool:
        return all(
            is_named(found, wanted, subclasses)
            for found in set(map(type, values))
        )

    return objects


def _scalars(element: AnyField) -> Callable[[Any], bool] | None:
    """Return a test that all classes in a container are kept unchanged."""
    stored, _ = coercion(element)
    return stored.issuperset if stored - {NONE} else None


def _list(field: AnyField) -> Coerce | None:
    element: AnyField = field._type._element_type  # type: ignore[attr-defined]
    scalars = list_of_scalars(element, field.coerce, LISTS)
    if scalars is not None:
        return scalars
    accepts = _accepts(element)
    if accepts is None:
        return None

    def coerce(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ in LISTS and accepts(value):
            return coerced_list(element, obj, name, value)
        return field.coerce(obj, name, value)

    return coerce


def list_of_scalars(
    element: AnyField, otherwise: Coerce, classes: frozenset[Any]
) -> Coerce | None:
    """Return a function that converts lists to ``CoercedList``.

    :param element: the field of the items
    :param otherwise: converts all other values
    :param classes: the accepted classes of lists
    :returns: None if items may need coercion
    """
    scalars = _scalars(element)
    if scalars is None:
        return None
    kind: Any = ovo.CoercedList

    def coerce(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ in classes and (
            not value or scalars(map(type, value))
        ):
            made: Any = _new_list(kind)
            made._element_type = element
            made._obj = obj
            made._field = name
            if value:
                _extend(made, value)
            return made
        return otherwise(obj, name, value)

    return coerce


def coerced_list(element: AnyField, obj: Any, name: str, values: Any) -> Any:
    """Return a ``CoercedList`` of values that need no coercion."""
    made: Any = _new_list(ovo.CoercedList)
    made._element_type = element
    made._obj = obj
    made._field = name
    _extend(made, values)
    return made


def _dict(field: AnyField) -> Coerce | None:
    element: AnyField = field._type._element_type  # type: ignore[attr-defined]
    return dict_of_scalars(element, field.coerce, DICTS)


def dict_of_scalars(
    element: AnyField, otherwise: Coerce, classes: frozenset[Any]
) -> Coerce | None:
    """Return a function that converts dicts to ``CoercedDict``.

    See :func:`list_of_scalars` for the parameters.
    """
    if _scalars(element) is None:
        return None
    stored, _ = coercion(element)
    kind: Any = ovo.CoercedDict

    def coerce(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ not in classes:
            return otherwise(obj, name, value)
        for key, item in value.items():
            if key.__class__ is not str or item.__class__ not in stored:
                return otherwise(obj, name, value)
        made: Any = _new_dict(kind)
        made._element_type = element
        made._obj = obj
        made._field = name
        if value:
            _update(made, value)
        return made

    return coerce


def _set(field: AnyField) -> Coerce | None:
    element: AnyField = field._type._element_type  # type: ignore[attr-defined]
    scalars = _scalars(element)
    if scalars is None:
        return None

    def coerce(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ in SETS and scalars(map(type, value)):
            made: Any = set.__new__(ovo.CoercedSet)
            made._element_type = element
            made._obj = obj
            made._field = name
            set.update(made, value)
            return made
        return field.coerce(obj, name, value)

    return coerce


_COERCE: dict[Any, Callable[[AnyField], Coerce | None]] = {
    ovo.UUID.coerce: _uuid,
    ovo.Enum.coerce: _enum,
    ovo.NonNegativeInteger.coerce: _not_negative(int),
    ovo.NonNegativeFloat.coerce: _not_negative(float),
    ovo.DateTime.coerce: _datetime,
    ovo.Object.coerce: _object,
    ovo.List.coerce: _list,
    ovo.Dict.coerce: _dict,
    ovo.Set.coerce: _set,
}


def kept_if(
    field: AnyField, local: str, name: Callable[[Any, str], str]
) -> str | None:
    """Return a test, as source, that a value needs no coercion.

    :param local: the variable that holds the value
    :param name: returns a global name for a value
    :returns: None if there is no short test
    """
    if coercion(field)[1] == field.coerce:
        return None
    method = type(field._type).coerce
    if method is ovo.UUID.coerce:
        matches = name(_is_uuid, 'uuid')
        return f'{local}.__class__ is str and {matches}({local})'
    if method is ovo.Enum.coerce:
        valid = frozenset(field._type._valid_values)  # type: ignore[attr-defined]
        return (
            f'{local}.__class__ is str and {local} in {name(valid, "valid")}'
        )
    return None


#: Coercion by these methods never results in an object.
NEVER_OBJECTS = frozenset({*_KEPT, *_COERCE} - {ovo.Object.coerce})


def is_pure(field: AnyField) -> bool:
    """Tell whether the result of coercion depends only on the value."""
    kind: Any = field._type
    while type(field).coerce is ovo.Field.coerce:
        if not isinstance(kind, ovo.CompoundFieldType):
            return type(kind).coerce in {*_KEPT, *_COERCE}
        if type(kind).coerce not in _COERCE:
            return False
        field = kind._element_type
        kind = field._type
    return False
