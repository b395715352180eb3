# SPDX-License-Identifier: Apache-2.0
"""Factories of registered classes and of locks."""

from __future__ import annotations

import datetime
from typing import Any

from oslo_versionedobjects import base as ovo_base

from vobjects import objects
from vobjects.lock import check, edit, snapshot
from vobjects.lock.model import Lock

TODAY = datetime.date(2026, 11, 21)


def _class(
    parent: type[Any],
    version: str,
    fields: dict[str, Any],
    body: dict[str, Any] | None,
) -> type[Any]:
    namespace = {'VERSION': version, 'fields': fields, '__module__': __name__}
    return type('Thing', (parent,), {**namespace, **(body or {})})


def vobjects_type(
    version: str = '1.0',
    parent: type[objects.Object] = objects.Object,
    version_map: dict[str, str] | None = None,
    body: dict[str, Any] | None = None,
    **fields: Any,
) -> type[objects.Object]:
    """Return a registered vobjects type called Thing."""
    body = {'VERSION_MAP': version_map or {}, **(body or {})}
    return objects.register(_class(parent, version, fields, body))


def ovo_class(
    version: str = '1.0', body: dict[str, Any] | None = None, **fields: Any
) -> type[ovo_base.VersionedObject]:
    """Return a registered class of oslo.versionedobjects called Thing."""
    cls = _class(ovo_base.VersionedObject, version, fields, body)
    ovo_base.VersionedObjectRegistry.register(cls)
    return cls


def ironic_class(
    version: str = '1.0', body: dict[str, Any] | None = None, **fields: Any
) -> type[ovo_base.VersionedObject]:
    """Return a registered class with Ironic's conversion methods."""

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
    cls = _class(parent, version, fields, body)
    ovo_base.VersionedObjectRegistry.register(cls)
    return cls


def released_lock(*classes: Any, release: str = '1') -> Lock:
    """Return a lock with released versions of the classes."""
    code = snapshot.of_classes(classes)
    return edit.release(edit.update(Lock(), code, TODAY), release, code)


def check_code(lock: Lock, *classes: Any) -> check.Result:
    """Compare a lock with classes."""
    return check.check(lock, snapshot.of_classes(classes, known=lock), TODAY)


def accept(content: str, line: str) -> str:
    """Return the text of a lock that accepts a finding."""
    return content.replace('\n\n', f'\naccept = [\n  "{line}",\n]\n\n', 1)
