# SPDX-License-Identifier: Apache-2.0
"""Locks with releases that there might have been."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from vobjects.lock import installed_locks
from vobjects.lock.model import Lock, TypeShape
from vobjects.versions import Version


def stopped_at(limits: Mapping[str, Version]) -> Lock:
    """Return what the lock of the service would be after some releases.

    :param limits: names of releases, oldest first, with the microversion at
        which each stopped
    """

    def frozen(shape: TypeShape) -> TypeShape | None:
        since = shape.microversion
        for release, limit in limits.items():
            if not since or Version.parse(since) <= limit:
                return dataclasses.replace(shape, release=release)
        return None

    lock = installed_locks.lock_of('clustering')
    return dataclasses.replace(
        lock,
        releases=tuple(limits),
        shapes=tuple(
            found for shape in lock.shapes if (found := frozen(shape))
        ),
    )
