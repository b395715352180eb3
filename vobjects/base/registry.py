# SPDX-License-Identifier: Apache-2.0
"""Look up the registered types by name."""

from __future__ import annotations

from collections.abc import Iterator

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception

from vobjects.base.objects import Object


def registered(name: str) -> type[Object]:
    """Return the newest registered class of a type name.

    :raises oslo_versionedobjects.exception.UnsupportedObjectError: there is
        no such type, or it is not an :class:`Object`
    """
    classes = ovo_base.VersionedObjectRegistry.obj_classes()
    if name not in classes:
        raise ovo_exception.UnsupportedObjectError(objtype=name)
    found = classes[name][0]
    if not issubclass(found, Object):
        raise ovo_exception.UnsupportedObjectError(objtype=name)
    return found


def registered_types() -> Iterator[type[Object]]:
    """Yield the newest class of every registered type, sorted by name."""
    classes = ovo_base.VersionedObjectRegistry.obj_classes()
    for name in sorted(classes):
        found = classes[name][0]
        if issubclass(found, Object):
            yield found
