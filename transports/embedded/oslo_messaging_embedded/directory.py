# SPDX-License-Identifier: Apache-2.0
"""The directories in which servers publish their listening sockets.

::

    ROOT/                               0700, owned by this user
        TOPIC.HASH/                     one per exchange and topic
            SERVER.HASH.INSTANCE        a listening socket, 0600
            .drain.SERVER.HASH...       one that only fanouts are sent to

The names are readable, and the hashes make topics and servers unique. INSTANCE
is unique: no listener reuses the name of another. A socket is renamed to its
final name after it began to listen. A sender whose connection is refused can
therefore remove the socket: its listener is dead, and the name will not be
used again.
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

import oslo_messaging

from oslo_messaging_embedded import errors

#: Maximum length of a socket's path in bytes; unix(7): 108 with the final NUL.
MAX_PATH = 107

#: Seconds after a change during which the directory is always read again: some
#: file systems store time stamps in whole seconds, so that a second change may
#: not alter the time stamp.
TIMESTAMP_GRANULARITY = 2.0

#: Age in seconds at which a socket without its final name counts as left by a
#: dead process.
TEMPORARY_MAX_AGE = 60.0

#: Maximum number of connections that wait to be accepted.
BACKLOG = 1024

_TEMPORARY_PREFIX = '.'

#: Begins the names of sockets to which only fanouts are sent. Earlier releases
#: ignore such sockets.
DRAINING_PREFIX = '.drain.'
_UNSAFE_CHARACTERS = re.compile(r'[^A-Za-z0-9_-]')


class Address(NamedTuple):
    """The destination of a message; without ``server``, any server."""

    exchange: str
    topic: str
    server: str | None = None

    def __str__(self) -> str:
        server = f', server {self.server!r}' if self.server else ''
        return f'topic {self.topic!r} (exchange {self.exchange!r}{server})'


class ListeningSocket(NamedTuple):
    """A listening socket and its path."""

    socket: socket.socket
    path: str

    def drain(self) -> ListeningSocket:
        """Rename the path, so that senders use it for fanouts only."""
        directory, name = os.path.split(self.path)
        if name.startswith(DRAINING_PREFIX):
            return self
        path = os.path.join(directory, DRAINING_PREFIX + name)
        os.rename(self.path, path)
        return self._replace(path=path)

    def unlink(self) -> None:
        """Remove the path, so that no new sender connects."""
        remove(self.path)


class Directory:
    """The root directory of all sockets, created if it does not exist.

    :param root: an absolute path
    :raises oslo_messaging_embedded.errors.UnsafeDirectory: other users have
        access to it, or it cannot be created
    """

    def __init__(self, root: str) -> None:
        self.root = root
        try:
            os.makedirs(root, mode=0o700, exist_ok=True)
        except OSError as error:
            raise errors.UnsafeDirectory(
                f'the directory {root} of the embedded transport cannot be'
                f' created: {error.strerror}'
            ) from None
        self.check()

    def check(self) -> None:
        """Check that only this user has access to the directory.

        :raises oslo_messaging_embedded.errors.UnsafeDirectory: others have
            access
        """
        status = os.stat(self.root)
        mode = stat.S_IMODE(status.st_mode)
        if status.st_uid != os.geteuid():
            raise errors.UnsafeDirectory(
                f'the directory {self.root} of the embedded transport belongs'
                f' to user {status.st_uid}, and this process runs as user'
                f' {os.geteuid()}; use a directory that belongs to this user'
            )
        if mode & 0o077:
            raise errors.UnsafeDirectory(
                f'the directory {self.root} of the embedded transport has'
                f' mode {mode:04o}, which gives other users access; run'
                f' "chmod 0700 {self.root}", or name a directory that does not'
                ' exist yet'
            )

    def topic(self, address: Address) -> str:
        """Return the path of the directory with a topic's sockets."""
        key = json.dumps([address.exchange, address.topic])
        return os.path.join(self.root, f'{_slug(address.topic)}.{_hash(key)}')

    def open(self, address: Address) -> ListeningSocket:
        """Start to listen at an address.

        :param address: address of a server
        :raises oslo_messaging_embedded.errors.UnsafeDirectory: other users now
            have access to the root
        :raises OSError: any other system error
        """
        os.makedirs(self.root, mode=0o700, exist_ok=True)
        self.check()
        topic = self.topic(address)
        os.makedirs(topic, mode=0o700, exist_ok=True)
        _remove_stale_sockets(topic)
        name = f'{server_prefix(address.server or "")}{secrets.token_hex(5)}'
        path = os.path.join(topic, name)
        temporary = os.path.join(topic, _TEMPORARY_PREFIX + name)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with short_path(temporary) as short:
                listening.bind(short)
            os.chmod(temporary, 0o600)
            listening.listen(BACKLOG)
            listening.setblocking(False)
            os.rename(temporary, path)
        except BaseException:
            listening.close()
            remove(temporary)
            raise
        return ListeningSocket(listening, path)


class SocketNames:
    """The socket names of a topic, read again when they change.

    :param path: the directory; it may not exist yet
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._timestamp: int | None = None
        self._names: list[str] = []

    def names(self) -> list[str] | None:
        """Return the sorted names, or None if nothing changed."""
        try:
            modified = os.stat(self.path).st_mtime_ns
            if modified == self._timestamp:
                return None
            names = sorted(
                name
                for name in os.listdir(self.path)
                if not _is_temporary(name)
            )
        except FileNotFoundError:
            modified, names = 0, []
        is_old = time.time() - modified / 1e9 > TIMESTAMP_GRANULARITY
        self._timestamp = modified if is_old else None
        if names == self._names:
            return None
        self._names = names
        return names


@functools.lru_cache(maxsize=1024)
def server_prefix(server: str) -> str:
    """Return the common prefix of the names of a server's sockets."""
    return f'{_slug(server)}.{_hash(server)}.'


def connect(path: str, timeout: float | None) -> socket.socket:
    """Connect to a listener; remove the socket of a dead one.

    :param path: path of its socket
    :param timeout: timeout in seconds; None: unlimited
    :raises oslo_messaging_embedded.errors.NotHandled: no process listens
        there, or its backlog is full
    :raises TimeoutError: no time remains
    :raises oslo_messaging.MessageDeliveryFailure: any other system error, for
        example no free file descriptors
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout)
        with short_path(path) as short:
            connection.connect(short)
    except (
        BlockingIOError,
        ConnectionRefusedError,
        FileNotFoundError,
    ) as error:
        connection.close()
        if isinstance(error, ConnectionRefusedError):
            remove(path)
        raise errors.NotHandled from None
    except BaseException as error:
        connection.close()
        if isinstance(error, OSError) and not isinstance(error, TimeoutError):
            raise oslo_messaging.MessageDeliveryFailure(
                f'cannot connect to {path}: {error.strerror}'
            ) from None
        raise
    return connection


@contextlib.contextmanager
def short_path(path: str) -> Iterator[str]:
    """Yield a path to the same file that is short enough for a socket.

    :raises oslo_messaging_embedded.errors.UnsafeDirectory: the path is too
        long, and this system has no ``/proc`` to shorten it with
    :raises FileNotFoundError: the directory does not exist
    """
    if len(os.fsencode(path)) <= MAX_PATH:
        yield path
        return
    directory, name = os.path.split(path)
    handle = os.open(directory, os.O_DIRECTORY | getattr(os, 'O_PATH', 0))
    try:
        link = f'/proc/self/fd/{handle}'
        if not os.path.isdir(link):
            raise errors.UnsafeDirectory(
                f'the path of the socket {path} has more than {MAX_PATH}'
                ' bytes, and there is no /proc to shorten it; name a shorter'
                ' directory in the URL of the embedded transport'
            )
        yield f'{link}/{name}'
    finally:
        os.close(handle)


def remove(path: str) -> None:
    """Remove a socket, if it still exists."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _remove_stale_sockets(topic: str) -> None:
    """Remove sockets of listeners that died before the final rename."""
    with os.scandir(topic) as entries:
        for entry in entries:
            if not _is_temporary(entry.name):
                continue
            with contextlib.suppress(FileNotFoundError):
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if age > TEMPORARY_MAX_AGE:
                    os.unlink(entry.path)


def _is_temporary(name: str) -> bool:
    return name.startswith(_TEMPORARY_PREFIX) and not name.startswith(
        DRAINING_PREFIX
    )


def _slug(text: str) -> str:
    return _UNSAFE_CHARACTERS.sub('_', text)[:20]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:10]
