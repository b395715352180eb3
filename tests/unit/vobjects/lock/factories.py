# SPDX-License-Identifier: Apache-2.0
"""Classes made on the spot, as they were and as they are."""

from __future__ import annotations

import datetime
from typing import Any

from oslo_versionedobjects import base as ovo_base

from vobjects import objects
from vobjects.lock import check, edit, snapshot
from vobjects.lock.model import Lock

TODAY = datetime.date(2026, 11, 21)


def vobjects_type(
    version: str = '1.0',
    parent: type[objects.Object] = objects.Object,
    version_map: dict[str, str] | None = None,
    body: dict[str, Any] | None = None,
    **fields: Any,
) -> type[objects.Object]:
    """Return a registered type of ours that is called Thing."""
    made = type(
        'Thing',
        (parent,),
        {
            'VERSION': version,
            'VERSION_MAP': version_map or {},
            'fields': fields,
            '__module__': __name__,
            **(body or {}),
        },
    )
    return objects.register(made)


def ovo_class(
    version: str = '1.0', body: dict[str, Any] | None = None, **fields: Any
) -> type[ovo_base.VersionedObject]:
    """Return a registered class of oslo.versionedobjects, called Thing."""
    made = type(
        'Thing',
        (ovo_base.VersionedObject,),
        {
            'VERSION': version,
            'fields': fields,
            '__module__': __name__,
            **(body or {}),
        },
    )
    ovo_base.VersionedObjectRegistry.register(made)
    return made


def ironic_class(
    version: str = '1.0', body: dict[str, Any] | None = None, **fields: Any
) -> type[ovo_base.VersionedObject]:
    """Return a registered class that converts as those of Ironic do."""

    def convert_to_version(self: Any, target: str) -> None:
        self._convert_to_version(target)
        self.VERSION = target

    parent = type(
        'IronicObject',
        (ovo_base.VersionedObject,),
        {
            'convert_to_version': convert_to_version,
            '_convert_to_version': lambda self, target: None,
        },
    )
    made = type(
        'Thing',
        (parent,),
        {
            'VERSION': version,
            'fields': fields,
            '__module__': __name__,
            **(body or {}),
        },
    )
    ovo_base.VersionedObjectRegistry.register(made)
    return made


def released_lock(*classes: Any, release: str = '1') -> Lock:
    """Return a lock in which classes are released."""
    code = snapshot.of_classes(classes)
    return edit.release(edit.update(Lock(), code, TODAY), release, code)


def check_code(lock: Lock, *classes: Any) -> check.Result:
    """Return what a check says of classes as they are now."""
    return check.check(lock, snapshot.of_classes(classes, known=lock), TODAY)
