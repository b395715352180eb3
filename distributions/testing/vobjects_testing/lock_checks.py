# SPDX-License-Identifier: Apache-2.0
"""Check the code against a lock, and its types at every locked version.

The pytest plugin and the mix-in for unittest run these checks.
"""

from __future__ import annotations

import datetime
import functools
import pathlib
from collections.abc import Callable, Iterator, Mapping

from vobjects import service
from vobjects.lock import (
    check,
    golden,
    lock_names,
    parse,
    reports,
    snapshot,
)
from vobjects.lock.model import Lock
from vobjects_testing import golden_checks, invariants

#: Invariant and field -> why the field may violate it.
Exempt = Mapping[str, str]

#: Checks one case.
Check = Callable[[Exempt], None]


def load(path: pathlib.Path) -> Lock:
    """Return a lock, after importing the types that it names.

    :raises vobjects.exceptions.VobjectsError: the lock is invalid, or its
        types cannot be imported
    """
    lock = parse.load(path)
    lock_names.load(lock, path)
    return lock


def cases(
    lock: Lock, path: pathlib.Path, examples: int
) -> Iterator[tuple[str, Check]]:
    """Yield the name and the check of each type, version and release.

    :param path: the file of the lock, beside its golden primitives
    :param examples: instances that hypothesis draws for each type and version
    """
    for case in invariants.cases(lock):
        yield str(case), functools.partial(_check_case, case, examples)
    for release in lock.releases:
        if golden.path_of(path, release).exists():
            yield (
                f'golden-{release}',
                functools.partial(_check_golden, path, release, lock),
            )


def differences(lock: Lock, path: pathlib.Path) -> str:
    """Return a report of the findings that need action; empty: none.

    It is that of ``vobjects lock check``.

    :param path: the file of the lock, for the commands that findings suggest
    """
    result = check.check(
        lock,
        snapshot.snapshot(lock.imports, lock),
        datetime.datetime.now(datetime.UTC).date(),
        path,
        service.of_types(lock.imports),
    )
    if not result.failing:
        return ''
    return reports.text(result)


def _check_case(case: invariants.Case, examples: int, exempt: Exempt) -> None:
    case.exempt = exempt
    case.check(examples)


def _check_golden(
    path: pathlib.Path, release: str, lock: Lock, exempt: Exempt
) -> None:
    manifest = lock.at(release).manifest()
    fields = []
    for subject in exempt:
        invariant, _, field = subject.partition(' ')
        if invariant == 'golden':
            type_name, _, name = field.partition('.')
            fields.append((type_name, name))
    for primitive in golden.read(path, release):
        golden_checks.check(primitive, manifest, fields)
