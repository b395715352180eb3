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
from vobjects.lock.model import Lock, LockError, TypeShape, sorted_shapes


class Refused(LockError):
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
        raise Refused(dataclasses.replace(result, findings=edits))
    accepted = {
        (one.type_name, version)
        for one in result.findings
        if one.accepted and one.rule.scope == 'edit'
        for version in one.versions
    }
    kept = [shape for shape in lock.shapes if shape.release]
    frozen = {
        (shape.name, shape.version)
        for shape in kept
        if (shape.name, shape.version) not in accepted
    }
    now = {(shape.name, shape.version): shape for shape in code.shapes}
    blocks = [_again(shape, now, accepted) for shape in kept]
    blocks += [
        shape
        for key, shape in now.items()
        if key not in frozen and key not in accepted
    ]
    return dataclasses.replace(lock, shapes=sorted_shapes(blocks))


def _again(
    shape: TypeShape,
    now: dict[tuple[str, str], TypeShape],
    accepted: set[tuple[str, str]],
) -> TypeShape:
    key = (shape.name, shape.version)
    if key not in accepted or key not in now:
        return shape
    return dataclasses.replace(
        now[key], release=shape.release, until=shape.until
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
        shapes=tuple(_frozen(shape, name, code) for shape in lock.shapes),
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


def _frozen(shape: TypeShape, name: str, code: Lock) -> TypeShape:
    if not shape.release:
        return dataclasses.replace(shape, release=name)
    if shape.name not in code.types and not shape.until:
        return dataclasses.replace(shape, until=name)
    return shape


def thaw(lock: Lock, name: str) -> Lock:
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
        shapes=tuple(
            dataclasses.replace(
                shape,
                release='' if shape.release == newest else shape.release,
                until='' if shape.until == newest else shape.until,
            )
            for shape in lock.shapes
        ),
    )
