# SPDX-License-Identifier: Apache-2.0
"""Find a lock by name.

A name is ``tree`` (the code), the path of a lock file, a release in the lock
file, a git revision of it, or a module as in ``import``. The first match in
this order counts.
"""

from __future__ import annotations

import importlib.util
import pathlib
import subprocess
import sys

from vobjects import exceptions
from vobjects.lock import parse, snapshot
from vobjects.lock.model import Lock, LockError

_GIT_TIMEOUT = 60  # seconds


def resolve(name: str, path: pathlib.Path) -> Lock:
    """Return the lock with the given name.

    :param name: see the module
    :param path: the lock file that releases, revisions and the code refer to
    :raises LockError: there is no such lock, or it cannot be read
    """
    if name == 'tree':
        return lock_and_code(path)[1]
    if pathlib.Path(name).is_file():
        return parse.load(pathlib.Path(name))
    if path.is_file() and name in parse.load(path).releases:
        return parse.load(path).at(name)
    if (lock := _at_revision(name, path)) is not None:
        return lock
    add_to_import_path(path)
    if _is_module(name.partition(':')[0]):
        snapshot.load([name])
        known = parse.load(path) if path.is_file() else None
        return snapshot.snapshot([name], known)
    raise LockError(
        f'{exceptions.cut(name)} is neither a file, nor a release in {path},'
        ' nor a git revision, nor a module; write "tree" for the code'
    )


def lock_and_code(path: pathlib.Path) -> tuple[Lock, Lock]:
    """Return the lock in a file, and a snapshot of the code it describes.

    Modules next to the lock file take precedence over installed ones.

    :raises LockError: the lock cannot be read, or the code not be imported
    """
    lock = parse.load(path)
    load(lock, path)
    return lock, snapshot.snapshot(lock.imports, lock)


def load(lock: Lock, path: pathlib.Path) -> None:
    """Import the code that a lock describes.

    :raises LockError: the lock has no imports, or one of them fails
    """
    if not lock.imports:
        raise LockError(f'{path}: add "MODULE" to the list "imports"')
    add_to_import_path(path)
    snapshot.load(lock.imports)


def add_to_import_path(path: pathlib.Path) -> None:
    """Add two directories to the start of ``sys.path``.

    They are that of a lock file and, after it, the working directory.
    """
    for directory in (pathlib.Path.cwd(), path.resolve().parent):
        if str(directory) not in sys.path:
            sys.path.insert(0, str(directory))


def _at_revision(revision: str, path: pathlib.Path) -> Lock | None:
    """Return the lock in a file at a git revision; None: no such revision."""
    commit = f'{revision}^{{commit}}'
    if revision.startswith('-') or (
        _git(path, 'rev-parse', '--verify', '--quiet', commit).returncode
    ):
        return None
    result = _git(path, 'show', f'{revision}:./{path.name}')
    if result.returncode:
        reason = result.stderr.decode(errors='replace').strip()
        raise LockError(f'git has no {path.name} at {revision}: {reason}')
    return parse.parse(result.stdout, f'{revision}:{path.name}')


def _git(
    path: pathlib.Path, *words: str
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603 - a revision is one argument
            ['git', '-C', str(path.resolve().parent), *words],  # noqa: S607
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise LockError(f'cannot run git: {error}') from None


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
