# SPDX-License-Identifier: Apache-2.0
"""Add the compiled codec to existing oslo.versionedobjects classes.

::

    from vobjects.adopt import adopt

    objects.register_all()
    adopt(base.NovaObjectRegistry)

Primitives, errors, change tracking and fingerprints do not change, and the
conversions that a class implements itself are called as before. A class that
overrides a method keeps its own method; the overridden one is not compiled.

Replaced methods and fields are detected. Two changes that tests may make to
a class afterwards are not: replacing the property of a field, and changing
attributes of a field object.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vobjects.codec import hooks, methods, properties


def adopt(classes: Any) -> list[type[hooks.VersionedObject]]:
    """Use compiled functions in registered classes.

    :param classes: a ``VersionedObjectRegistry`` (its class or an instance)
        or an iterable of registered classes
    :returns: the classes; adopting a class again has no effect
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

    The methods are installed there, so that an intermediate class that
    overrides a method and calls its parent's gets the compiled one.
    """
    return [
        parent
        for parent in cls.__mro__
        if issubclass(parent, hooks.VersionedObject)
        and parent is not hooks.VersionedObject
    ][-1]
