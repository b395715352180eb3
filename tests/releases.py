# SPDX-License-Identifier: Apache-2.0
"""Locks with hypothetical releases."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from vobjects.lock import installed_locks
from vobjects.lock.model import Lock, TypeSchema
from vobjects.versions import Version


def lock_with_releases(limits: Mapping[str, Version]) -> Lock:
    """Return the lock of the service with hypothetical releases.

    :param limits: release -> its highest microversion, oldest first
    """

    def frozen(schema: TypeSchema) -> TypeSchema | None:
        since = schema.microversion
        for release, limit in limits.items():
            if not since or Version.parse(since) <= limit:
                return dataclasses.replace(schema, release=release)
        return None

    lock = installed_locks.of_service('clustering')
    return dataclasses.replace(
        lock,
        releases=tuple(limits),
        schemas=tuple(
            released for schema in lock.schemas if (released := frozen(schema))
        ),
    )
