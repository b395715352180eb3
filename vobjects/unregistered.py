# SPDX-License-Identifier: Apache-2.0
"""Errors about fields that hold objects of a type that cannot be used.

No module has registered it, or its class is not of this library.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from oslo_versionedobjects import exception as ovo_exception

from vobjects import exceptions

#: Keys of a primitive: VersionedObject.OBJ_SERIAL_NAMESPACE and a name.
_NAME, _DATA = 'versioned_object.name', 'versioned_object.data'


def is_registered(name: str) -> bool:
    """Tell whether a type is registered, at any version."""
    # It loads oslo.messaging, which a web application need not have.
    from oslo_versionedobjects import base as ovo_base

    # A look-up elsewhere may have left an empty list.
    return bool(ovo_base.VersionedObjectRegistry.obj_classes().get(name))


def problem(name: str) -> str:
    """Return why objects of a type cannot be used, and the fix.

    :param name: of a type that is not registered, or not as a class of this
        library
    """
    if is_registered(name):
        return (
            f'the type {name} is a class of oslo.versionedobjects only; derive'
            ' it from vobjects.Object, and decorate it with'
            ' @vobjects.register'
        )
    return (
        f'the type {name} is not registered; import the module that registers'
        ' it, or correct the name in the field'
    )


def check_class(cls: Any) -> None:
    """Check that a class is of this library, and registered with its fields.

    An unregistered subclass of a registered one may add methods only.

    :raises vobjects.exceptions.DeclarationError: the message names the fix
    """
    registered = next((c for c in cls.__mro__ if '_history' in vars(c)), None)
    if registered is not None and cls.fields is registered.fields:
        return
    if not hasattr(cls, '_plan_to'):
        raise exceptions.DeclarationError(problem(cls.obj_name()))
    raise exceptions.DeclarationError(
        f'{cls.__qualname__} is not registered; decorate the class with'
        ' @vobjects.register'
    )


def error(where: str, name: str) -> ovo_exception.UnsupportedObjectError:
    """Return the error for a field that holds objects of such a type.

    :param where: ``Type.field``
    :param name: see :func:`problem`
    """
    return ovo_exception.UnsupportedObjectError(
        f'{where}: {problem(name)}', objtype=name, where=where
    )


@contextlib.contextmanager
def named(where: str) -> Iterator[None]:
    """Name a field in the error that its type cannot be used.

    :raises oslo_versionedobjects.exception.UnsupportedObjectError: the code
        inside raised it; an error that names a field does not change
    """
    try:
        yield
    except ovo_exception.UnsupportedObjectError as unnamed:
        if 'where' in unnamed.kwargs:
            raise
        raise error(where, unnamed.kwargs.get('objtype', '')) from unnamed


def located(
    unnamed: ovo_exception.UnsupportedObjectError, primitive: Any
) -> ovo_exception.UnsupportedObjectError:
    """Return an error that names the first such field of a primitive.

    :param unnamed: returned unchanged if it names a field, or there is none
    """
    if 'where' not in unnamed.kwargs:
        for where, name in _fields_in(primitive, ''):
            if where:
                return error(where, name)
    return unnamed


def _fields_in(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Yield field and type of each object whose type is not registered."""
    if isinstance(value, Mapping):
        name, data = value.get(_NAME), value.get(_DATA)
        if not isinstance(name, str) or not isinstance(data, Mapping):
            for item in value.values():
                yield from _fields_in(item, where)
            return
        if not is_registered(name):
            yield where, name
        for key, item in data.items():
            yield from _fields_in(item, f'{name}.{key}')
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _fields_in(item, where)
