# SPDX-License-Identifier: Apache-2.0
"""Who listens where.

::

    ROOT/                               0700, ours
        TOPIC.HASH/                     one per exchange and topic
            SERVER.HASH.INSTANCE        a listening socket, 0600

The names are for people; the hashes tell topics and servers apart. An
instance is unique: no listener ever takes a name that another one had. A
socket gets its name after it began to listen. So who is refused by a socket
may remove it: its listener is dead, and the name will not return.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import secrets
import socket
import stat
import time
from collections.abc import Iterator
from typing import NamedTuple

from vobjects.rpc.drivers import errors

#: Bytes in the path of a socket, unix(7): 108 with the NUL at the end.
MAX_PATH = 107

#: Seconds for which a changed directory is read anew at every look: a
#: second change may leave the same time stamp, whose grain some file
#: systems keep at a second.
GRAIN = 2.0

#: Seconds after which a socket that never got its name is left from a death.
UNNAMED_FOR = 60.0

#: Connections that may wait to be accepted.
BACKLOG = 1024

_UNNAMED = '.'
_ODD = re.compile(r'[^A-Za-z0-9_-]')


class Address(NamedTuple):
    """Where a message goes; ``server`` None: to any server."""

    exchange: str
    topic: str
    server: str | None = None

    def __str__(self) -> str:
        server = f', server {self.server!r}' if self.server else ''
        return f'topic {self.topic!r} (exchange {self.exchange!r}{server})'


class Door(NamedTuple):
    """A listening socket and its path."""

    socket: socket.socket
    path: str

    def unlink(self) -> None:
        """Let nobody else find it."""
        remove(self.path)


class Directory:
    """The directory of all sockets, made if it is not there.

    :param root: an absolute path
    :raises vobjects.rpc.drivers.errors.UnsafeDirectory: others have access
        to it, or it cannot be made
    """

    def __init__(self, root: str) -> None:
        self.root = root
        try:
            os.makedirs(root, mode=0o700, exist_ok=True)
        except OSError as error:
            raise errors.UnsafeDirectory(
                f'the directory {root} of the embedded transport cannot be'
                f' made: {error.strerror}'
            ) from None
        self.check()

    def check(self) -> None:
        """Make sure that the directory is ours alone.

        :raises vobjects.rpc.drivers.errors.UnsafeDirectory: it is not
        """
        found = os.stat(self.root)
        mode = stat.S_IMODE(found.st_mode)
        if found.st_uid != os.geteuid():
            raise errors.UnsafeDirectory(
                f'the directory {self.root} of the embedded transport belongs'
                f' to user {found.st_uid}, and this process runs as user'
                f' {os.geteuid()}; give it a directory of its own'
            )
        if mode & 0o077:
            raise errors.UnsafeDirectory(
                f'the directory {self.root} of the embedded transport has'
                f' mode {mode:04o}, which lets other users in; chmod 0700 it,'
                ' or name one that does not exist yet'
            )

    def topic(self, address: Address) -> str:
        """Return the path of the directory of a topic's listeners."""
        key = json.dumps([address.exchange, address.topic])
        return os.path.join(self.root, f'{_slug(address.topic)}.{_hash(key)}')

    def open(self, address: Address) -> Door:
        """Begin to listen at an address; it must name a server.

        :raises vobjects.rpc.drivers.errors.UnsafeDirectory: others have
            access to the root by now
        :raises OSError: what the system says
        """
        os.makedirs(self.root, mode=0o700, exist_ok=True)
        self.check()
        topic = self.topic(address)
        os.makedirs(topic, mode=0o700, exist_ok=True)
        _sweep(topic)
        name = f'{server_prefix(address.server or "")}{secrets.token_hex(5)}'
        path = os.path.join(topic, name)
        unnamed = os.path.join(topic, _UNNAMED + name)
        door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with reachable(unnamed) as where:
                door.bind(where)
            os.chmod(unnamed, 0o600)
            door.listen(BACKLOG)
            door.setblocking(False)
            os.rename(unnamed, path)
        except BaseException:
            door.close()
            remove(unnamed)
            raise
        return Door(door, path)


class Listing:
    """The names in the directory of a topic, read again when it changed.

    :param path: the directory; it need not be there
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._stamp: int | None = None
        self._names: list[str] = []

    def names(self) -> list[str] | None:
        """Return the sorted names, or None if nothing changed."""
        try:
            changed = os.stat(self.path).st_mtime_ns
            if changed == self._stamp:
                return None
            names = sorted(
                name
                for name in os.listdir(self.path)
                if not name.startswith(_UNNAMED)
            )
        except FileNotFoundError:
            changed, names = 0, []
        old = time.time() - changed / 1e9 > GRAIN
        self._stamp = changed if old else None
        if names == self._names:
            return None
        self._names = names
        return names


@functools.lru_cache(maxsize=1024)
def server_prefix(server: str) -> str:
    """Return how the names of a server's sockets begin."""
    return f'{_slug(server)}.{_hash(server)}.'


def connect(path: str, timeout: float | None) -> socket.socket | None:
    """Connect to a listener.

    :param timeout: seconds it may take
    :returns: None if there is none any more; what it left is removed
    :raises BlockingIOError: too many wait there already
    :raises OSError: what else the system says
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout)
        with reachable(path) as where:
            connection.connect(where)
    except ConnectionRefusedError:
        connection.close()
        remove(path)
        return None
    except FileNotFoundError:
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def reachable(path: str) -> Iterator[str]:
    """Yield a path to the same file that is short enough for a socket.

    :raises vobjects.rpc.drivers.errors.UnsafeDirectory: there is no such
        path on this system
    :raises FileNotFoundError: the directory is not there
    """
    if len(os.fsencode(path)) <= MAX_PATH:
        yield path
        return
    directory, name = os.path.split(path)
    handle = os.open(directory, os.O_DIRECTORY | getattr(os, 'O_PATH', 0))
    try:
        through = f'/proc/self/fd/{handle}'
        if not os.path.isdir(through):
            raise errors.UnsafeDirectory(
                f'the path of the socket {path} has more than {MAX_PATH}'
                ' bytes, and there is no /proc to shorten it; name a shorter'
                ' directory in the URL of the embedded transport'
            )
        yield f'{through}/{name}'
    finally:
        os.close(handle)


def remove(path: str) -> None:
    """Remove a socket, if it is still there."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _sweep(topic: str) -> None:
    """Remove what listeners left that died before they had a name."""
    with os.scandir(topic) as entries:
        for entry in entries:
            if not entry.name.startswith(_UNNAMED):
                continue
            with contextlib.suppress(FileNotFoundError):
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if age > UNNAMED_FOR:
                    os.unlink(entry.path)


def _slug(text: str) -> str:
    return _ODD.sub('_', text)[:20]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:10]
