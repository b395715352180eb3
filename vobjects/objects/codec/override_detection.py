# SPDX-License-Identifier: Apache-2.0
"""Detect overridden methods, for which compiled code must not run.

Compiled code replaces methods of oslo.versionedobjects, so it may run only
where those methods are not overridden. This is checked when a class is
compiled, and again at each call, because tests replace methods temporarily
(``mock.patch``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from oslo_utils import versionutils
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

VersionedObject = ovo_base.VersionedObject
Function = Callable[..., Any]


def get_function(cls: type, name: str) -> Any:
    """Return a method of a class by name, without binding it."""
    method = getattr(cls, name, None)
    return getattr(method, '__func__', method)


#: Recorded before anything is installed.
ORIGINALS: dict[str, Function] = {
    name: get_function(VersionedObject, name)
    for name in (
        '__init__',
        '__deepcopy__',
        '_obj_from_primitive',
        '_obj_primitive_field',
        '_obj_primitive_key',
        'obj_attr_is_set',
        'obj_class_from_name',
        'obj_from_primitive',
        'obj_name',
        'obj_reset_changes',
        'obj_to_primitive',
        'obj_what_changed',
    )
}
ORIGINAL_FIELDS = VersionedObject.obj_fields

#: The implementations of ``__setattr__`` that keep fields in ``__dict__``.
REPLACEABLE_SETATTR: set[Any] = {object.__setattr__}

#: Method name -> every implementation that compiled code can replace.
REPLACEABLE: dict[str, set[Any]] = {
    name: {function} for name, function in ORIGINALS.items()
}

#: Implementations of ``obj_what_changed`` that compiled code can replace in
#: a class that is a list.
REPLACEABLE_LIST_CHANGES: set[Any] = {ovo_base.ObjectListBase.obj_what_changed}

#: Methods by which :class:`vobjects.objects.Object` converts; it adds its own
#: implementations to :data:`REPLACEABLE`.
CONVERSIONS = (
    'obj_make_compatible',
    'obj_make_compatible_from_manifest',
    '_plan_to',
)
REPLACEABLE.update((name, set()) for name in CONVERSIONS)


#: A method that compiled code replaces: its class and its name.
Method = tuple[type, str]


def are_replaceable(cls: type, *names: str) -> bool:
    """Tell whether compiled code can replace these methods of a class."""
    return all(
        get_function(cls, name) in REPLACEABLE.get(name, ()) for name in names
    )


def is_unpatched(attributes: Mapping[str, Any]) -> bool:
    """Tell whether no attribute of an instance replaces a method.

    :param attributes: the ``__dict__`` of an object
    """
    return not (
        'fields' in attributes
        or 'obj_what_changed' in attributes
        or 'obj_to_primitive' in attributes
        or 'obj_make_compatible' in attributes
        or 'obj_make_compatible_from_manifest' in attributes
    )


def is_convertible(obj: Any) -> bool:
    """Tell whether an object has the methods and version of its class."""
    d = obj.__dict__
    return is_unpatched(d) and (
        'VERSION' not in d or bool(d['VERSION'] == type(obj).VERSION)
    )


def _clearing(name: str) -> Any:
    """Return a method of dict that also forgets what was compiled."""
    function = getattr(dict, name)

    @functools.wraps(function)
    def change(self: WatchedFields, *args: Any, **kwargs: Any) -> Any:
        self.codecs = {}
        return function(self, *args, **kwargs)

    return change


class WatchedFields(dict[str, 'ovo_fields.Field[Any]']):
    """A class's fields, with the codecs that were compiled from them.

    This detects fields that are replaced after the class was compiled.

    :ivar codecs: class -> codec; subclasses may share the mapping. A change
        of the fields clears it.
    """

    __slots__ = ('codecs',)  # read for each use of an object

    def __init__(self, fields: Mapping[str, ovo_fields.Field[Any]]) -> None:
        super().__init__(fields)
        self.codecs: dict[type, Any] = {}

    __setitem__ = _clearing('__setitem__')
    __delitem__ = _clearing('__delitem__')
    __ior__ = _clearing('__ior__')
    clear = _clearing('clear')
    pop = _clearing('pop')
    popitem = _clearing('popitem')
    setdefault = _clearing('setdefault')
    update = _clearing('update')


def watch_fields(cls: type[VersionedObject]) -> WatchedFields:
    """Return the fields of a class as a mapping that detects changes."""
    if not isinstance(cls.fields, WatchedFields):
        owner = next(o for o in cls.__mro__ if 'fields' in vars(o))
        owner.fields = WatchedFields(cls.fields)  # type: ignore[attr-defined]
    fields = cls.fields
    assert isinstance(fields, WatchedFields)
    return fields


@functools.lru_cache(maxsize=4096)
def version_tuple(text: str) -> tuple[int, ...]:
    """Return a version as numbers, parsed as in oslo.utils."""
    return tuple(versionutils.convert_version_to_tuple(text))


@functools.lru_cache(maxsize=4096)
def _is_compatible(requested: str, supported: str) -> bool:
    return bool(versionutils.is_compatible(requested, supported))


def newest_class(name: str) -> Any:
    """Return the newest class of a type name; None: no such type."""
    registry = ovo_base.VersionedObjectRegistry._registry
    # A look-up elsewhere may have left an empty list.
    classes = registry._obj_classes.get(name) if registry else None
    return classes[0] if classes else None


def newest_classes() -> Iterator[Any]:
    """Yield the newest class of each type name, sorted by name."""
    classes = ovo_base.VersionedObjectRegistry.obj_classes()
    return filter(None, map(newest_class, sorted(classes)))


def find_class(name: str, version: str) -> type[VersionedObject]:
    """Return the registered class for a version, as oslo.versionedobjects.

    :raises oslo_versionedobjects.exception.UnsupportedObjectError: there is
        no class of that name
    :raises oslo_versionedobjects.exception.IncompatibleObjectVersion: no
        class is compatible with the version
    """
    registry = ovo_base.VersionedObjectRegistry._registry
    classes = registry._obj_classes.get(name) if registry else None
    if not classes:
        # The original fails if a look-up has left an empty list.
        raise ovo_exception.UnsupportedObjectError(objtype=name)
    compatible = None
    for cls in classes:
        if version == cls.VERSION:
            return cls
        if compatible is None and _is_compatible(version, cls.VERSION):
            compatible = cls
    if compatible is None:
        raise ovo_exception.IncompatibleObjectVersion(
            objname=name, objver=version, supported=classes[0].VERSION
        )
    return compatible
