# SPDX-License-Identifier: Apache-2.0
"""Primitives as each release wrote them.

``vobjects lock release`` writes a file for each release, beside the lock:
one primitive a line, by type. They are never written again, so that the code
of any later release can be tried on what really was on the wire or in a
database.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

from vobjects.lock import parse, registries, samples
from vobjects.lock.model import Lock, LockError


def path_of(lock: pathlib.Path, release: str) -> pathlib.Path:
    """Return where a release's primitives are."""
    return lock.with_suffix('.golden') / f'{release}.jsonl'


def write(lock: pathlib.Path, release: str, code: Lock) -> pathlib.Path:
    """Write what the code writes now.

    :param lock: the lock file
    :param code: the snapshot that the release freezes
    :returns: the file
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
    """Return what a release wrote.

    :raises LockError: there is no file, or it has something else in it
    """
    path = path_of(lock, release)
    try:
        if path.stat().st_size > parse.MAX_BYTES:
            raise LockError(f'{path} has more than {parse.MAX_BYTES} bytes')
        lines = path.read_text().splitlines()
    except OSError as error:
        raise LockError(f'{path}: {error.strerror}') from None
    found = []
    for number, line in enumerate(lines, 1):
        try:
            primitive = json.loads(line)
        except ValueError as error:
            raise LockError(f'{path}:{number}: {error}') from None
        if not isinstance(primitive, dict):
            raise LockError(f'{path}:{number}: this is no primitive')
        found.append(primitive)
    return found
