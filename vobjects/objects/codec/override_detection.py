# SPDX-License-Identifier: Apache-2.0
"""Detect overridden methods, for which compiled code must not run.

Compiled code replaces methods of oslo.versionedobjects, so it may run only
where those methods are not overridden. A :class:`MethodCheck` states such a
condition. It is checked when a class is compiled, and again at each call,
because tests replace methods temporarily (``mock.patch``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from oslo_utils import versionutils
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

from vobjects import _codegen

VersionedObject = ovo_base.VersionedObject
Function = Callable[..., Any]

#: Instance attributes that would change what compiled code does.
INSTANCE_HOOKS = (
    'fields',
    'obj_what_changed',
    'obj_to_primitive',
    'obj_make_compatible',
    'obj_make_compatible_from_manifest',
)


def get_function(cls: type, name: str) -> Any:
    """Return a method of a class by name, without binding it."""
    method = getattr(cls, name, None)
    return getattr(method, '__func__', method)


def get_original(name: str) -> Function:
    """Return the original method of oslo.versionedobjects."""
    return ORIGINALS[name]


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


class MethodCheck(NamedTuple):
    """A requirement of compiled code: ``owner.name`` is ``expected``."""

    owner: Any
    name: str
    expected: Any


def method_checks(cls: type, *names: str) -> Iterator[MethodCheck]:
    """Yield checks for the current methods of a class."""
    for name in names:
        yield MethodCheck(cls, name, get_function(cls, name))


def are_replaceable(cls: type, *names: str) -> bool:
    """Tell whether compiled code can replace these methods of a class."""
    return all(
        get_function(cls, name) in REPLACEABLE.get(name, ()) for name in names
    )


def compile_checks(checks: list[MethodCheck]) -> Callable[[], bool]:
    """Return a function that tells whether all checks hold."""
    namespace: dict[str, Any] = {}
    terms = []
    for index, check in enumerate(dict.fromkeys(checks)):
        namespace[f'o{index}'] = check.owner
        namespace[f'e{index}'] = check.expected
        method = getattr(check.owner, check.name)
        bound = '.__func__' if hasattr(method, '__func__') else ''
        terms.append(f'o{index}.{check.name}{bound} is e{index}')
    text = ' and '.join(terms) or 'True'
    # AttributeError: a function has replaced a class method.
    source = (
        'def holds():\n'
        ' try:\n'
        f'  return {text}\n'
        ' except AttributeError:\n'
        '  return False\n'
    )
    holds: Callable[[], bool] = _codegen.run(source, namespace)['holds']
    return holds


def _recording(name: str) -> Any:
    """Return a method of dict that also records the change."""
    function = getattr(dict, name)

    @functools.wraps(function)
    def change(self: WatchedFields, *args: Any, **kwargs: Any) -> Any:
        self.revision += 1
        self.codec = None
        return function(self, *args, **kwargs)

    return change


class WatchedFields(dict[str, 'ovo_fields.Field[Any]']):
    """A class's fields; every change increments ``revision``.

    This detects fields that are replaced after the class was compiled.

    :ivar codec: the last codec compiled from these fields; None after a
        change. Subclasses may share the mapping, so check which class it is
        for.
    """

    revision = 0
    codec: Any = None

    __setitem__ = _recording('__setitem__')
    __delitem__ = _recording('__delitem__')
    __ior__ = _recording('__ior__')
    clear = _recording('clear')
    pop = _recording('pop')
    popitem = _recording('popitem')
    setdefault = _recording('setdefault')
    update = _recording('update')


def watch_fields(cls: type[VersionedObject]) -> WatchedFields:
    """Return the fields of a class as a mapping that records changes."""
    if isinstance(cls.fields, WatchedFields):
        return cls.fields
    for owner in cls.__mro__:
        if 'fields' in vars(owner):
            watched_fields = WatchedFields(vars(owner)['fields'])
            # Instance attributes are faster to read than class attributes.
            watched_fields.revision, watched_fields.codec = 0, None
            owner.fields = watched_fields  # type: ignore[attr-defined]
            break
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
        # The original raises the error, and logs it.
        return ORIGINALS['obj_class_from_name'](VersionedObject, name, version)  # type: ignore[no-any-return]
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
