# SPDX-License-Identifier: Apache-2.0
"""Give classes of oslo.versionedobjects the compiled codec, as they are.

::

    from vobjects.adopt import adopt

    objects.register_all()
    adopt(base.NovaObjectRegistry)

Primitives, errors, change tracking and fingerprints stay what they were; the
conversions that a class wrote itself are called as before. A class that
overrides a method keeps its own, and what it overrides is not compiled.

Two things that tests do to a class afterwards go unnoticed: another property
in place of a field's, and attributes changed on a field object. Replaced
methods and fields are noticed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vobjects.codec import hooks, methods, properties


def adopt(classes: Any) -> list[type[hooks.VersionedObject]]:
    """Let registered classes work by compiled functions.

    :param classes: a ``VersionedObjectRegistry`` (its class or an instance)
        or an iterable of registered classes
    :returns: the classes; adopting one twice does nothing
    """
    found = list(_classes_of(classes))
    for cls in found:
        methods.install(_root_of(cls))
        properties.install(cls)
    return found


def _classes_of(classes: Any) -> Iterable[type[hooks.VersionedObject]]:
    if hasattr(classes, 'obj_classes'):
        for versions in classes.obj_classes().values():
            yield from versions
    else:
        yield from classes


def _root_of(cls: type[hooks.VersionedObject]) -> type[hooks.VersionedObject]:
    """Return the class closest to VersionedObject.

    The methods go there, so that a class in between which overrides one and
    calls its parent's gets the compiled one.
    """
    return [
        parent
        for parent in cls.__mro__
        if issubclass(parent, hooks.VersionedObject)
        and parent is not hooks.VersionedObject
    ][-1]
