# SPDX-License-Identifier: Apache-2.0
"""Read the locks that are installed with services.

A package in the entry point group ``vobjects.services`` contains its lock as
``vobjects.lock``, so that a running process can look up the versions of its
older releases.
"""

from __future__ import annotations

import importlib.metadata
import importlib.resources

from vobjects import exceptions
from vobjects.lock import parse
from vobjects.lock.model import Lock, LockError
from vobjects.objects.manifest import Manifest

GROUP = 'vobjects.services'
FILE_NAME = 'vobjects.lock'


def of_service(service: str) -> Lock:
    """Return the lock of an installed service.

    :param service: the name of its entry point
    :raises LockError: the service is not installed, or has no lock
    """
    for point in importlib.metadata.entry_points(group=GROUP):
        if point.name == service:
            return _read(point)
    raise LockError(
        f'no service {exceptions.cut(service)} is installed: the entry point'
        f' group {GROUP} has no such name'
    )


def at_release(name: str) -> Lock:
    """Return the lock of an installed service as of one of its releases.

    :raises LockError: no installed service has such a release
    """
    releases: list[str] = []
    for point in importlib.metadata.entry_points(group=GROUP):
        lock = _read(point)
        if name in lock.releases:
            return lock.at(name)
        releases += lock.releases
    raise LockError(
        f'no installed service has a release {exceptions.cut(name)}; releases:'
        f' {", ".join(releases) or "none"}'
    )


def declared_manifest(lock: Lock) -> Manifest:
    """Return the manifest of a lock, without types of kind ``plain``."""
    return Manifest(
        {
            name: schemas[-1].version
            for name, schemas in lock.types.items()
            if schemas[-1].kind != 'plain'
        }
    )


def _read(point: importlib.metadata.EntryPoint) -> Lock:
    file = importlib.resources.files(point.module) / FILE_NAME
    try:
        content = file.read_bytes()
    except OSError:
        raise LockError(
            f'{point.module} was installed without {FILE_NAME}'
        ) from None
    return parse.parse_bytes(content, f'{point.module}/{FILE_NAME}')
