# SPDX-License-Identifier: Apache-2.0
"""Add the compiled codec to existing oslo.versionedobjects classes.

::

    from vobjects.objects.adoption import adopt

    objects.register_all()
    adopt(base.NovaObjectRegistry)

Primitives, errors, change tracking and fingerprints do not change, and the
conversions that a class implements itself are called as before. A class that
overrides a method keeps its own method; the overridden one is not compiled.

Replaced methods and fields of an adopted class are detected, and a replaced
``VersionedObject.obj_from_primitive``. Changes that tests may make are not
detected if they replace another method of ``VersionedObject``, or the property
of a field, or if they change attributes of a field object.

The manifest of the process contains the adopted types. A class may have a
``VERSION_MAP``, as a ``Resource`` has: the API then offers a microversion once
all live servers support the version that it maps to.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator
from typing import Any

from vobjects.objects.codec import ovo_methods
from vobjects.objects.codec.override_detection import (
    VersionedObject,
    newest_classes,
)

#: The classes that :func:`adopt` has adopted.
_adopted: weakref.WeakSet[type[VersionedObject]] = weakref.WeakSet()


def adopt(classes: Any) -> list[type[VersionedObject]]:
    """Use compiled functions in registered classes.

    :param classes: a ``VersionedObjectRegistry`` (its class or an instance)
        or an iterable of registered classes
    :returns: the classes; adopting a class again has no effect
    """
    if hasattr(classes, 'obj_classes'):
        classes = itertools.chain(*classes.obj_classes().values())
    adopted = list(classes)
    for cls in adopted:
        ovo_methods.install(_root_of(cls))
        _adopted.add(cls)
    return adopted


def adopted_types() -> Iterator[type[VersionedObject]]:
    """Yield the newest class of every adopted type, sorted by name."""
    return (cls for cls in newest_classes() if cls in _adopted)


def _root_of(
    cls: type[VersionedObject],
) -> type[VersionedObject]:
    """Return the class closest to VersionedObject.

    The methods are installed there, so that an intermediate class that
    overrides a method and calls its parent's gets the compiled one.
    """
    return [
        parent
        for parent in cls.__mro__
        if issubclass(parent, VersionedObject)
        and parent is not VersionedObject
    ][-1]
