# SPDX-License-Identifier: Apache-2.0
"""Change a lock: update, release.

Blocks that a release has frozen are not rewritten, with one exception: edits
that the lock itself accepts, with a reason.
"""

from __future__ import annotations

import dataclasses
import datetime

from vobjects import exceptions
from vobjects.lock import check, parse
from vobjects.lock.model import (
    Lock,
    LockError,
    TypeSchema,
    sorted_schemas,
    version_key,
)


class ReleasedVersionChanged(LockError):
    """The operation would change a released version.

    :ivar result: the findings that describe the change
    """

    def __init__(self, result: check.Result) -> None:
        self.result = result
        super().__init__(
            f'{len(result.failing)} change(s) of released versions; the lock'
            ' was not written'
        )


def update(lock: Lock, code: Lock, today: datetime.date) -> Lock:
    """Return the lock, updated with the unreleased versions of the code.

    :param code: a snapshot made with ``known=lock``
    :param today: the date on which acceptances are checked
    :raises ReleasedVersionChanged: a released version was edited
    """
    result = check.check(lock, code, today)
    edits = tuple(
        finding for finding in result.failing if finding.rule.scope != 'lock'
    )
    if edits:
        raise ReleasedVersionChanged(
            dataclasses.replace(result, findings=edits)
        )
    accepted = {
        (finding.type_name, version_key(version))
        for finding in result.findings
        if finding.accepted and finding.rule.scope == 'edit'
        for version in finding.versions
    }
    released = {
        schema.key: schema for schema in lock.schemas if schema.release
    }
    current = {schema.key: schema for schema in code.schemas}
    for key in accepted & current.keys():
        released[key] = dataclasses.replace(
            current[key],
            release=released[key].release,
            until=released[key].until,
        )
    return dataclasses.replace(
        lock, schemas=sorted_schemas({**current, **released}.values())
    )


def release(lock: Lock, name: str, code: Lock) -> Lock:
    """Return the lock with all its blocks frozen by a new release.

    Types that no longer exist in the code end with this release.

    :raises LockError: the release exists already, or its name is invalid
    """
    check_new(lock, name)
    return dataclasses.replace(
        lock,
        releases=(*lock.releases, name),
        schemas=tuple(_frozen(schema, name, code) for schema in lock.schemas),
    )


def check_new(lock: Lock, name: str) -> None:
    """Check the name of a new release.

    :raises LockError: the name is invalid or taken
    """
    if not parse.RELEASE.fullmatch(name):
        raise LockError(
            f'{exceptions.cut(name)} is not a valid release name: write'
            ' letters, digits and "._+-"'
        )
    if name in lock.releases:
        raise LockError(
            f'{exceptions.cut(name)} is already released; use --again to'
            ' freeze the newest release again before it is published'
        )


def _frozen(schema: TypeSchema, name: str, code: Lock) -> TypeSchema:
    if not schema.release:
        return dataclasses.replace(schema, release=name)
    if schema.name not in code.types and not schema.until:
        return dataclasses.replace(schema, until=name)
    return schema


def unfreeze(lock: Lock, name: str) -> Lock:
    """Return the lock without its newest release, with its blocks unfrozen.

    :raises LockError: ``name`` is not the newest release
    """
    newest = lock.releases[-1] if lock.releases else 'none'
    if name != newest:
        raise LockError(
            'only the newest release can be frozen again: that is'
            f' {newest}, not {exceptions.cut(name)}'
        )
    return dataclasses.replace(
        lock,
        releases=lock.releases[:-1],
        schemas=tuple(
            dataclasses.replace(
                schema,
                release='' if schema.release == newest else schema.release,
                until='' if schema.until == newest else schema.until,
            )
            for schema in lock.schemas
        ),
    )
