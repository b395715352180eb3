# SPDX-License-Identifier: Apache-2.0
"""Read the locks that are installed with services.

The package that a service declares contains its lock as ``vobjects.lock``, so
that a running process can look up the versions of its older releases.
"""

from __future__ import annotations

import importlib.resources
from typing import TYPE_CHECKING

from vobjects import exceptions, service
from vobjects.lock import parse
from vobjects.lock.model import Lock, LockError

if TYPE_CHECKING:
    from vobjects.objects.manifest import Manifest

FILE_NAME = 'vobjects.lock'


def of_service(name: str) -> Lock:
    """Return the lock of an installed service.

    :param name: the name of the service
    :raises LockError: the service has no lock
    :raises vobjects.exceptions.VobjectsError: the service is not installed
    """
    package = service.find(name).lock
    if not package:
        raise LockError(f'the service {name} declares no lock')
    try:
        content = (importlib.resources.files(package) / FILE_NAME).read_bytes()
    except OSError:
        raise LockError(
            f'{package} was installed without {FILE_NAME}'
        ) from None
    return parse.parse(content, f'{package}/{FILE_NAME}')


def at_release(name: str, release: str) -> Lock:
    """Return the lock of an installed service as of one of its releases.

    :param name: the name of the service; releases of others do not count
    :raises LockError: the service has no such release, or no lock
    :raises vobjects.exceptions.VobjectsError: the service is not installed
    """
    lock = of_service(name)
    if release in lock.releases:
        return lock.at(release)
    raise LockError(
        f'the service {name} has no release {exceptions.cut(release)};'
        f' releases: {", ".join(lock.releases) or "none"}'
    )


def declared_manifest(lock: Lock) -> Manifest:
    """Return the manifest of a lock, without types of kind ``plain``."""
    # Imported here: commands list releases without it.
    from vobjects.objects.manifest import Manifest

    return Manifest(
        {
            name: schemas[-1].version
            for name, schemas in lock.types.items()
            if schemas[-1].kind != 'plain'
        }
    )
