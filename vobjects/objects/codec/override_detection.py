# SPDX-License-Identifier: Apache-2.0
"""Detect overridden methods, for which compiled code must not run.

Compiled code replaces methods of oslo.versionedobjects, so it may run only
where those methods are not overridden. *Guards* state which ones. They are
checked when a class is compiled, and again at each call, because tests
replace methods temporarily (``mock.patch``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from oslo_utils import versionutils
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

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


def function_of(cls: type, name: str) -> Any:
    """Return a method of a class by name, without binding it."""
    found = getattr(cls, name, None)
    return getattr(found, '__func__', found)


def original(name: str) -> Function:
    """Return the original method of oslo.versionedobjects."""
    return ORIGINALS[name]


#: Recorded before anything is installed.
ORIGINALS: dict[str, Function] = {
    name: function_of(VersionedObject, name)
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
SETATTR: set[Any] = {object.__setattr__}

#: Method name -> every implementation that compiled code can replace.
KNOWN: dict[str, set[Any]] = {
    name: {function} for name, function in ORIGINALS.items()
}

#: Implementations of ``obj_what_changed`` that compiled code can replace in
#: a class that is a list.
LIST_CHANGES: set[Any] = {ovo_base.ObjectListBase.obj_what_changed}

#: Methods by which :class:`vobjects.objects.Object` converts; it adds its own
#: implementations to :data:`KNOWN`.
CONVERSIONS = (
    'obj_make_compatible',
    'obj_make_compatible_from_manifest',
    '_plan_to',
)
KNOWN.update((name, set()) for name in CONVERSIONS)


class Guard(NamedTuple):
    """A requirement of compiled code: ``owner.name`` is ``expected``."""

    owner: Any
    name: str
    expected: Any


def method_guards(cls: type, *names: str) -> Iterator[Guard]:
    """Yield guards for the current methods of a class."""
    for name in names:
        yield Guard(cls, name, function_of(cls, name))


def are_known(cls: type, *names: str) -> bool:
    """Tell whether compiled code can replace these methods of a class."""
    return all(function_of(cls, name) in KNOWN.get(name, ()) for name in names)


def compile_guard(guards: list[Guard]) -> Callable[[], bool]:
    """Return a function that tells whether all guards hold."""
    space: dict[str, Any] = {}
    terms = []
    for number, guard in enumerate(dict.fromkeys(guards)):
        space[f'o{number}'] = guard.owner
        space[f'e{number}'] = guard.expected
        found = getattr(guard.owner, guard.name)
        bound = '.__func__' if hasattr(found, '__func__') else ''
        terms.append(f'o{number}.{guard.name}{bound} is e{number}')
    text = ' and '.join(terms) or 'True'
    # AttributeError: a function has replaced a class method.
    source = (
        'def holds():\n'
        ' try:\n'
        f'  return {text}\n'
        ' except AttributeError:\n'
        '  return False\n'
    )
    exec(source, space)  # noqa: S102 - names of methods, and numbers
    holds: Callable[[], bool] = space['holds']
    return holds


def _noting(name: str) -> Any:
    """Return a method of dict that also records the change."""
    function = getattr(dict, name)

    @functools.wraps(function)
    def change(self: Fields, *args: Any, **kwargs: Any) -> Any:
        self.stamp += 1
        self.form = None
        return function(self, *args, **kwargs)

    return change


class Fields(dict[str, 'ovo_fields.Field[Any]']):
    """A class's fields; every change increments ``stamp``.

    This detects fields that are replaced after the class was compiled.

    :ivar form: the last form compiled from these fields; None after a change.
        Subclasses may share the mapping, so check which class it is for.
    """

    stamp = 0
    form: Any = None

    __setitem__ = _noting('__setitem__')
    __delitem__ = _noting('__delitem__')
    __ior__ = _noting('__ior__')
    clear = _noting('clear')
    pop = _noting('pop')
    popitem = _noting('popitem')
    setdefault = _noting('setdefault')
    update = _noting('update')


def watched(cls: type[VersionedObject]) -> Fields:
    """Return the fields of a class as a mapping that records changes."""
    if isinstance(cls.fields, Fields):
        return cls.fields
    for owner in cls.__mro__:
        if 'fields' in vars(owner):
            noting = Fields(vars(owner)['fields'])
            # Instance attributes are faster to read than class attributes.
            noting.stamp, noting.form = 0, None
            owner.fields = noting  # type: ignore[attr-defined]
            break
    fields = cls.fields
    assert isinstance(fields, Fields)
    return fields


@functools.lru_cache(maxsize=4096)
def version_tuple(text: str) -> tuple[int, ...]:
    """Return a version as numbers, parsed as in oslo.utils."""
    return tuple(versionutils.convert_version_to_tuple(text))


@functools.lru_cache(maxsize=4096)
def _is_compatible(asked: str, had: str) -> bool:
    return bool(versionutils.is_compatible(asked, had))


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
    for found in classes:
        if version == found.VERSION:
            return found
        if compatible is None and _is_compatible(version, found.VERSION):
            compatible = found
    if compatible is None:
        raise ovo_exception.IncompatibleObjectVersion(
            objname=name, objver=version, supported=classes[0].VERSION
        )
    return compatible
