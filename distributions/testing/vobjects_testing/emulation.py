# SPDX-License-Identifier: Apache-2.0
"""Emulate an older release in this process, from the lock."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Iterator

import vobjects_testing
from vobjects.lock import parse
from vobjects.lock.installed_locks import declared_manifest
from vobjects.lock.model import Lock
from vobjects.objects import manifest
from vobjects.rpc import server
from vobjects_testing.emulated_peer import EmulatedPeer


@contextlib.contextmanager
def emulate(
    release: str, lock: Lock | str | os.PathLike[str] | None = None
) -> Iterator[EmulatedPeer]:
    """Make this process use exactly the versions of a release.

    It sends the versions of that release, rejects newer ones as that release
    would, and reports the release's manifest to the fleet. This affects the
    whole process, for data that passes through ``vobjects.rpc``. Behaviour
    other than the wire format remains that of this build.

    :param release: name of a release in the lock
    :param lock: a lock, or the path of its file; None:
        ``vobjects_testing.default_lock``
    :returns: a peer of the release, built from the lock alone, which reads and
        writes the data that this process exchanges with it
    :raises vobjects.lock.model.LockError: no such lock, or no such release
    :raises vobjects.exceptions.VobjectsError: the release has a type at a
        version that this code does not have
    """
    if lock is None:
        lock = vobjects_testing.default_lock
    if not isinstance(lock, Lock):
        lock = parse.load(pathlib.Path(lock))
    then = lock.at(release)
    before = manifest.emulate(
        server.emulated_manifest(declared_manifest(then))
    )
    try:
        yield EmulatedPeer(then)
    finally:
        manifest.emulate(before)
