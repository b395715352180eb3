# SPDX-License-Identifier: Apache-2.0
"""The properties by which attributes of objects read and set fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vobjects.objects.codec import coercion, generate, override_detection
from vobjects.objects.codec.override_detection import VersionedObject


def attribute_of(name: str) -> str:
    """Return the instance attribute that holds a field's value."""
    return '_obj_' + name


def _getter(name: str, is_null_while_unset: bool) -> Callable[[Any], Any]:
    attribute = attribute_of(name)

    def get(self: Any, name: str = name) -> Any:
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
        if _is_field_property(current, name, field):
            get = _getter(name, null_while_unset and field.nullable)
            put = current.fset
            if sets_in_dict and not field.read_only:
                put = _setter(name, field)
            setattr(cls, name, property(get, put, current.fdel))


def _is_field_property(value: Any, name: str, field: Any) -> bool:
    """Tell whether a class attribute is the property of a field.

    A property that a class defines itself may do more than that.
    """
    # The name and the field are the defaults of the last parameters.
    return isinstance(value, property) and all(
        (getattr(function, '__defaults__', None) or (None,))[-1] is last
        for function, last in ((value.fget, name), (value.fset, field))
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
            or not _is_field_property(getattr(cls, name, None), name, field)
            for name, field in cls.fields.items()
        )
    )
