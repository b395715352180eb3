# SPDX-License-Identifier: Apache-2.0
"""Old peers without old code, from the lock."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Iterator

from vobjects import manifest
from vobjects.lock import parse, sources
from vobjects.lock.model import Lock
from vobjects.lock.shipped import spoken
from vobjects.rpc import server
from vobjects.testing.peers import Peer


@contextlib.contextmanager
def emulate(
    release: str, lock: Lock | str | os.PathLike[str] = sources.DEFAULT
) -> Iterator[Peer]:
    """Have this process speak exactly what a release spoke.

    What it says is at the versions of that release, what is newer it
    refuses as that release would, and it reports itself to a fleet so. That
    holds for the whole process, at what goes through
    :mod:`vobjects.serializer` and :mod:`vobjects.rpc`; behaviour besides the
    wire is today's.

    :param lock: a lock, or the path of its file
    :returns: a peer of the release that is built from the lock alone, to
        read and write what this process exchanges with it
    :raises vobjects.lock.model.LockError: no such lock, or release
    :raises vobjects.exceptions.VobjectsError: the release knows a type at a
        version that this code does not have
    """
    if not isinstance(lock, Lock):
        lock = parse.load(pathlib.Path(lock))
    then = lock.at(release)
    before = manifest.stand_in(server.emulated(spoken(then)))
    try:
        yield Peer(then)
    finally:
        manifest.stand_in(before)
