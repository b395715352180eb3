# SPDX-License-Identifier: Apache-2.0
"""Properties that read and set the fields of an object.

Each property is a template below with the field's name inserted into its
code, which replaces look-ups by name with attribute access. This costs a few
microseconds per field at registration.
"""

from __future__ import annotations

import logging
import types
from collections.abc import Callable
from typing import Any

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

from vobjects.objects.codec import coercion, override_detection
from vobjects.objects.codec.override_detection import VersionedObject

#: The logger that oslo.versionedobjects uses for errors in setters.
LOG = logging.getLogger('object')

AnyField = ovo_fields.Field[Any]


#: Attribute of a getter created here; its value is the field.
_MARK = '_vobjects_field'


def _functions_of(
    field: AnyField, store: Callable[[Any, str, Any], None]
) -> dict[str, Callable[..., Any]]:
    """Return getters and setters in which FIELD stands for the name.

    :param store: stores a value in the instance
    """
    stored, coerce = coercion.coercer_for(field)
    type_class, field_class = type(field._type), type(field)
    type_coerce, field_coerce = type_class.coerce, field_class.coerce
    item_class: Any = type_class
    if isinstance(field._type, ovo_fields.CompoundFieldType):
        item_class = type(field._type._element_type._type)
    item_coerce = item_class.coerce

    def getter(self: Any) -> Any:
        try:
            return self._obj_FIELD
        except AttributeError:
            pass
        self.obj_load_attr('FIELD')
        return self._obj_FIELD

    def setter(self: Any, value: Any) -> None:
        if (
            type_class.coerce is not type_coerce
            or field_class.coerce is not field_coerce
        ):
            value = field.coerce(self, 'FIELD', value)
        elif value.__class__ not in stored:
            value = coerce(self, 'FIELD', value)
        self._changed_fields.add('FIELD')
        try:
            store(self, '_obj_FIELD', value)
        except Exception:
            LOG.exception('Error setting %s.%s', self.obj_name(), 'FIELD')
            raise

    def set_container(self: Any, value: Any) -> None:
        if (
            type_class.coerce is not type_coerce
            or field_class.coerce is not field_coerce
            or item_class.coerce is not item_coerce
        ):
            value = field.coerce(self, 'FIELD', value)
        else:
            value = coerce(self, 'FIELD', value)
        self._changed_fields.add('FIELD')
        try:
            store(self, '_obj_FIELD', value)
        except Exception:
            LOG.exception('Error setting %s.%s', self.obj_name(), 'FIELD')
            raise

    def set_once(self: Any, value: Any) -> None:
        value = field.coerce(self, 'FIELD', value)
        if hasattr(self, '_obj_FIELD'):
            if self._obj_FIELD != value:
                raise ovo_exception.ReadOnlyFieldError(field='FIELD')
            return
        self._changed_fields.add('FIELD')
        self._obj_FIELD = value

    def deleter(self: Any) -> None:
        if not hasattr(self, '_obj_FIELD'):
            raise AttributeError("No such attribute `FIELD'")
        del self._obj_FIELD

    return {
        'get': getter,
        'set': setter,
        'container': set_container,
        'once': set_once,
        'delete': deleter,
    }


def _with_name(function: Any, name: str) -> Any:
    """Return a template's function with a field's name inserted."""

    def insert_name(text: Any) -> Any:
        return text.replace('FIELD', name) if isinstance(text, str) else text

    code = function.__code__
    return types.FunctionType(
        code.replace(
            co_names=tuple(insert_name(text) for text in code.co_names),
            co_consts=tuple(insert_name(text) for text in code.co_consts),
        ),
        function.__globals__,
        function.__name__,
        None,
        function.__closure__,
    )


def field_property(
    name: str,
    field: AnyField,
    store: Callable[[Any, str, Any], None] = setattr,
) -> property:
    """Return the property of a field."""
    functions = _functions_of(field, store)
    setter = functions['set']
    if field.read_only:
        setter = functions['once']
    elif isinstance(field._type, ovo_fields.CompoundFieldType):
        setter = functions['container']
    getter = _with_name(functions['get'], name)
    setattr(getter, _MARK, field)
    return property(
        getter, _with_name(setter, name), _with_name(functions['delete'], name)
    )


def _code_in(function: Any, name: str) -> types.CodeType | None:
    for constant in function.__code__.co_consts:
        if isinstance(constant, types.CodeType) and constant.co_name == name:
            return constant
    return None


_OVO_GETTER = _code_in(ovo_base._make_class_properties, 'getter')
_OVO_SETTER = _code_in(ovo_base._make_class_properties, 'setter')


def field_of(value: Any) -> AnyField | None:
    """Return the field of a property that only reads and sets it.

    :returns: None for any other value, such as a custom property
    """
    if not isinstance(value, property):
        return None
    if hasattr(value.fget, _MARK):
        field: AnyField = getattr(value.fget, _MARK)
        return field
    if (
        getattr(value.fget, '__code__', None) is _OVO_GETTER
        and getattr(value.fset, '__code__', None) is _OVO_SETTER
        and value.fset is not None
    ):
        # (name, field) are the defaults of the last parameters.
        captured: Any = value.fset.__defaults__
        return captured[-1]  # type: ignore[no-any-return]
    return None


def install(cls: type[VersionedObject]) -> None:
    """Replace the properties made at registration by faster ones."""
    # Skip the check of names in Object.__setattr__, which fields pass.
    keeps_in_dict = cls.__setattr__ in override_detection.REPLACEABLE_SETATTR
    store = object.__setattr__ if keeps_in_dict else setattr
    for name, field in cls.fields.items():
        current: Any = vars(cls).get(name)
        if field_of(current) is field and not hasattr(current.fget, _MARK):
            setattr(cls, name, field_property(name, field, store))
