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
from collections.abc import Callable, Container
from typing import Any

from oslo_versionedobjects import fields as ovo

from vobjects import field_corrections
from vobjects import fields as our_fields
from vobjects.objects.codec.lazy_list import LazyObjectList
from vobjects.objects.codec.override_detection import VersionedObject

AnyField = ovo.Field[Any]
Coercer = Callable[[Any, str, Any], Any]
#: Returns a coercer of a field, with a function for unexpected values.
Maker = Callable[[AnyField, Coercer], Coercer | None]

NONE = type(None)
UTC = datetime.UTC
LISTS: frozenset[Any] = frozenset(
    {list, tuple, ovo.CoercedList, LazyObjectList}
)
DICTS: frozenset[Any] = frozenset(
    {dict, ovo.CoercedDict, field_corrections.CoercedDict}
)
SETS: frozenset[Any] = frozenset(
    {set, ovo.CoercedSet, field_corrections.CoercedSet}
)

_STRINGS = frozenset({str})

_is_uuid = re.compile(
    '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}'
    '-[0-9a-fA-F]{12}'
).fullmatch


def default_method(field: AnyField, name: str) -> Any:
    """Return a method of a field's type.

    :returns: None if the field, not its type, implements it
    """
    if (
        getattr(type(field), name) is not getattr(ovo.Field, name)
        or name in vars(field)
        or name in vars(field._type)
    ):
        return None
    return getattr(type(field._type), name)


def _coerce_method(field: AnyField) -> Any:
    """Return ``coerce`` of a field's type; None: the field differs."""
    if type(field)._null is not ovo.Field._null:
        return None
    return default_method(field, 'coerce')


def coercer_for(field: AnyField, otherwise: Coercer | None = None) -> Coercer:
    """Return a function that coerces values like ``field.coerce``.

    :param otherwise: coerces unexpected values in place of ``field.coerce``
    """
    otherwise = otherwise or field.coerce
    make_coercer = _COERCERS.get(_coerce_method(field))
    coerce = make_coercer and make_coercer(field, otherwise)
    return coerce or otherwise


#: ``coerce`` -> the class whose values, also in JSON, it returns unchanged.
UNCHANGED: dict[Any, type] = {
    ovo.String.coerce: str,
    ovo.Integer.coerce: int,
    ovo.Float.coerce: float,
    ovo.Boolean.coerce: bool,
    ovo.FlexibleBoolean.coerce: bool,
}

#: ``coerce`` of enums and of times.
ENUMS = (ovo.Enum.coerce, field_corrections.Enum.coerce)
TIMES = (ovo.DateTime.coerce, field_corrections.DateTime.coerce)

#: ``coerce`` -> an expression that is true if it returns ``{v}`` unchanged.
_TESTS: dict[Any, str] = {
    **{
        method: f'type({{v}}) is {cls.__name__}'
        for method, cls in UNCHANGED.items()
    },
    ovo.UUID.coerce: 'type({v}) is str and is_uuid({v})',
    **dict.fromkeys(ENUMS, 'type({v}) is str and {v} in valid{n}'),
    our_fields.Capacity.coerce: 'type({v}) is int and {v} in valid{n}',
    ovo.NonNegativeInteger.coerce: 'type({v}) is int and {v} >= 0',
    ovo.NonNegativeFloat.coerce: 'type({v}) is float and {v} >= 0',
    **dict.fromkeys(TIMES, 'type({v}) is datetime and {v}.tzinfo is UTC'),
}
#: The names in these expressions, except for :func:`valid_values`.
TEST_NAMES = {'is_uuid': _is_uuid, 'datetime': datetime.datetime, 'UTC': UTC}


def unchanged_test(field: AnyField) -> str:
    """Return an expression that is true if coercion keeps a value.

    :returns: a template, in which ``{v}`` stands for the value and
        ``valid{n}`` for :func:`valid_values`; empty: use ``coerce``
    """
    method = _coerce_method(field)
    tests = ['{v} is None'] if method is not None and field.nullable else []
    if method in _TESTS and getattr(field._type, 'tzinfo_aware', True):
        tests.append(_TESTS[method])
    return ' or '.join(tests)


def unchanged_class(field: AnyField) -> type | None:
    """Return the class whose values coercion keeps; None: there is none."""
    return UNCHANGED.get(_coerce_method(field))


def is_time(field: AnyField) -> bool:
    """Tell whether values of a field are times in UTC."""
    return default_method(field, 'coerce') in TIMES and bool(
        field._type.tzinfo_aware  # type: ignore[attr-defined]
    )


def valid_values(field: AnyField) -> Container[Any]:
    """Return the values that an Enum or Capacity field accepts unchanged."""
    kind = field._type
    if isinstance(kind, our_fields.Capacity):
        return range(kind.minimum, kind.maximum + 1)
    # Fixed when compiled: oslo.versionedobjects cannot change the values.
    valid = getattr(kind, '_valid_values', ())
    return frozenset(value for value in valid if type(value) is str)


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


def _object_coercer(field: AnyField, otherwise: Coercer) -> Coercer:
    field_type: Any = field._type
    type_name, subclasses = field_type._obj_name, field_type._subclasses

    def coerce(obj: Any, name: str, value: Any) -> Any:
        if 'obj_name' not in getattr(value, '__dict__', ()) and has_type_name(
            value.__class__, type_name, subclasses
        ):
            return value
        return otherwise(obj, name, value)

    return coerce


def _items_test(element: AnyField) -> Callable[[Any], bool] | None:
    """Return a test that no value needs coercion, from the classes of all."""
    method = _coerce_method(element)
    if method in UNCHANGED:
        null = {NONE} if element.nullable else set()
        return frozenset({UNCHANGED[method], *null}).issuperset
    if method is not ovo.Object.coerce:
        return None
    field_type: Any = element._type
    type_name, subclasses = field_type._obj_name, field_type._subclasses

    def are_objects(classes: Any) -> bool:
        return all(
            has_type_name(cls, type_name, subclasses) for cls in set(classes)
        )

    return are_objects


def _container_coercer(
    classes: frozenset[Any], coerced_class: Any, fill: Callable[..., Any]
) -> Maker:
    """Return what makes the coercer of a list, dict or set field.

    :param classes: the classes of values that may need no coercion
    :param coerced_class: the class of the result
    :param fill: adds items to the result
    """
    is_dict = issubclass(coerced_class, dict)
    new = coerced_class.__new__

    def make(field: AnyField, otherwise: Coercer) -> Coercer | None:
        element: AnyField = field._type._element_type  # type: ignore[attr-defined]
        are_coerced = _items_test(element)
        if are_coerced is None:
            return None

        def coerce(obj: Any, name: str, value: Any) -> Any:
            if value.__class__ not in classes or (
                value
                and not (
                    are_coerced(map(type, value.values()))
                    and _STRINGS.issuperset(map(type, value))
                    if is_dict
                    else are_coerced(map(type, value))
                )
            ):
                return otherwise(obj, name, value)
            coerced: Any = new(coerced_class)
            coerced._element_type = element
            coerced._obj = obj
            coerced._field = name
            if value:
                fill(coerced, value)
            return coerced

        return coerce

    return make


_COERCERS: dict[Any, Maker] = {
    ovo.Object.coerce: _object_coercer,
    ovo.List.coerce: _container_coercer(LISTS, ovo.CoercedList, list.extend),
    ovo.Dict.coerce: _container_coercer(DICTS, ovo.CoercedDict, dict.update),
    ovo.Set.coerce: _container_coercer(SETS, ovo.CoercedSet, set.update),
    field_corrections.Dict.coerce: _container_coercer(
        DICTS, field_corrections.CoercedDict, dict.update
    ),
    field_corrections.Set.coerce: _container_coercer(
        SETS, field_corrections.CoercedSet, set.update
    ),
}

#: Coercion by these methods never results in an object.
NEVER_OBJECTS = frozenset({*_TESTS, *_COERCERS} - {ovo.Object.coerce})
#: ``coerce`` of lists, dicts and sets.
CONTAINERS = frozenset(_COERCERS.keys() - {ovo.Object.coerce})
