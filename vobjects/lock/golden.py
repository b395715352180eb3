# SPDX-License-Identifier: Apache-2.0
"""Store the primitives that each release writes.

``vobjects lock release`` writes a file for each release, next to the lock,
with one primitive per line, sorted by type. Only ``--again``, which freezes
the newest release again, rewrites a file. Tests of later releases read these
files as data that was on the wire or in a database.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

from vobjects.lock import registries, samples
from vobjects.lock.model import Lock, LockError


def path_of(lock: pathlib.Path, release: str) -> pathlib.Path:
    """Return the path of a release's primitives."""
    return lock.with_suffix('.golden') / f'{release}.jsonl'


def write(lock: pathlib.Path, release: str, code: Lock) -> pathlib.Path:
    """Write the primitives of the current code.

    :param lock: path of the lock file
    :param release: name of the release
    :param code: the snapshot that the release freezes
    :returns: path of the new file
    """
    lines = [
        json.dumps(primitive, sort_keys=True)
        for name, version in sorted(code.manifest().items())
        for primitive in samples.primitives(
            registries.class_of(name, version), registries.newest
        )
    ]
    path = path_of(lock, release)
    path.parent.mkdir(exist_ok=True)
    path.write_text(''.join(f'{line}\n' for line in lines))
    return path


def read(lock: pathlib.Path, release: str) -> list[dict[str, Any]]:
    """Return the primitives of a release.

    :raises LockError: the file does not exist, or is malformed
    """
    path = path_of(lock, release)
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise LockError(f'{path}: {error.strerror}') from None
    primitives = []
    for number, line in enumerate(lines, 1):
        try:
            primitive = json.loads(line)
        except ValueError as error:
            raise LockError(f'{path}:{number}: {error}') from None
        if not isinstance(primitive, dict):
            raise LockError(f'{path}:{number}: expected a JSON object')
        primitives.append(primitive)
    return primitives
