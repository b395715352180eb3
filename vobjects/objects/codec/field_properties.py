# SPDX-License-Identifier: Apache-2.0
"""The properties by which attributes of objects read and set fields."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

from oslo_versionedobjects import base as ovo_base

from vobjects.objects.codec import coercion, generate, override_detection
from vobjects.objects.codec.override_detection import VersionedObject


def attribute_of(name: str) -> str:
    """Return the instance attribute that holds a field's value."""
    return '_obj_' + name


def _getter(name: str, is_null_while_unset: bool) -> Callable[[Any], Any]:
    attribute = attribute_of(name)

    def get(self: Any) -> Any:
        try:
            return getattr(self, attribute)
        except AttributeError:
            pass
        self.obj_load_attr(name)
        if is_null_while_unset:
            return getattr(self, attribute, None)
        return getattr(self, attribute)

    return get


def _setter(name: str, field: Any) -> Callable[[Any, Any], None]:
    attribute = attribute_of(name)
    unchanged = coercion.unchanged_class(field)
    coerces_as_now = generate.condition(
        (type(part), 'coerce') for part in (field, field._type)
    )

    def set_value(self: Any, value: Any, field: Any = field) -> None:
        if value.__class__ is not unchanged or not coerces_as_now():
            value = field.coerce(self, name, value)
        self._changed_fields.add(name)
        self.__dict__[attribute] = value

    return set_value


def _code_in(function: Any, name: str) -> types.CodeType:
    constants: Iterable[Any] = function.__code__.co_consts
    (code,) = (c for c in constants if getattr(c, 'co_name', '') == name)
    return code  # type: ignore[no-any-return]


_GETTERS = (
    _code_in(ovo_base._make_class_properties, 'getter'),
    _code_in(_getter, 'get'),
)
_SETTERS = (
    _code_in(ovo_base._make_class_properties, 'setter'),
    _code_in(_setter, 'set_value'),
)


def install(
    cls: type[VersionedObject], *, null_while_unset: bool = False
) -> None:
    """Replace the properties of a class by faster ones.

    :param null_while_unset: whether a nullable field that is neither set nor
        loaded is read as null, unlike in oslo.versionedobjects
    """
    sets_in_dict = cls.__setattr__ in override_detection.REPLACEABLE_SETATTR
    for name, field in cls.fields.items():
        current: Any = vars(cls).get(name)
        if is_field_property(current, field):
            get = _getter(name, null_while_unset and field.nullable)
            put = current.fset
            if sets_in_dict and not field.read_only:
                put = _setter(name, field)
            setattr(cls, name, property(get, put, current.fdel))


def is_field_property(value: Any, field: Any) -> bool:
    """Tell whether a class attribute is the property of a field.

    A property that a class defines itself may do more than that.
    """
    if not isinstance(value, property):
        return False
    setter: Any = value.fset
    return (
        getattr(value.fget, '__code__', None) in _GETTERS
        and getattr(setter, '__code__', None) in _SETTERS
        # The field is the default of the last parameter.
        and setter.__defaults__[-1] is field
    )


def keep_all_in_dict(cls: type[VersionedObject]) -> bool:
    """Tell whether all fields are kept in ``__dict__``, and only there."""
    return (
        cls.__setattr__ in override_detection.REPLACEABLE_SETATTR
        and cls.__getattribute__ is object.__getattribute__
        and not hasattr(cls, '__getattr__')
        and cls.obj_fields is override_detection.ORIGINAL_FIELDS
        and not any(
            hasattr(cls, attribute_of(name))
            or not is_field_property(getattr(cls, name, None), field)
            for name, field in cls.fields.items()
        )
    )
