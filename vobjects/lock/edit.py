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
from vobjects.lock.model import Lock, LockError, TypeSchema, sorted_schemas


class ReleasedVersionChanged(LockError):
    """The operation would change a released version.

    :ivar result: the findings that describe the change
    """

    def __init__(self, result: check.Result) -> None:
        self.result = result
        super().__init__(
            f'{len(result.failing)} change(s) would edit what is released;'
            ' nothing was written'
        )


def update(lock: Lock, code: Lock, today: datetime.date) -> Lock:
    """Return the lock, updated with the unreleased versions of the code.

    :param code: a snapshot made with ``known=lock``
    :param today: the date on which acceptances are checked
    :raises Refused: a released version was edited
    """
    result = check.check(lock, code, today)
    edits = tuple(
        one
        for one in result.failing
        if one.rule.scope in ('edit', 'step', 'type')
    )
    if edits:
        raise ReleasedVersionChanged(
            dataclasses.replace(result, findings=edits)
        )
    accepted = {
        (one.type_name, version)
        for one in result.findings
        if one.accepted and one.rule.scope == 'edit'
        for version in one.versions
    }
    kept = [schema for schema in lock.schemas if schema.release]
    frozen = {
        (schema.name, schema.version)
        for schema in kept
        if (schema.name, schema.version) not in accepted
    }
    now = {(schema.name, schema.version): schema for schema in code.schemas}
    blocks = [_again(schema, now, accepted) for schema in kept]
    blocks += [
        schema
        for key, schema in now.items()
        if key not in frozen and key not in accepted
    ]
    return dataclasses.replace(lock, schemas=sorted_schemas(blocks))


def _again(
    schema: TypeSchema,
    now: dict[tuple[str, str], TypeSchema],
    accepted: set[tuple[str, str]],
) -> TypeSchema:
    key = (schema.name, schema.version)
    if key not in accepted or key not in now:
        return schema
    return dataclasses.replace(
        now[key], release=schema.release, until=schema.until
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
    parse.check_release(name)
    if name in lock.releases:
        raise LockError(
            f'{exceptions.cut(name)} is released; --again freezes the newest'
            ' release once more, as long as nobody has it'
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
            f'only the newest release can be frozen again; that is {newest},'
            f' not {exceptions.cut(name)}'
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
