# SPDX-License-Identifier: Apache-2.0
"""The servers of a topic, and the connections to them, as a sender has them.

A connection is used by one thread at a time and kept for the next. It is
closed when its listener has left, when there are many, and in a forked
child, whose parent goes on with it.
"""

from __future__ import annotations

import collections
import itertools
import os
import secrets
import threading
import weakref

from vobjects.rpc.drivers import connection
from vobjects.rpc.drivers.connection import Connection, Patience
from vobjects.rpc.drivers.directory import Listing, server_prefix


class Server:
    """One listener, and our idle connections to it.

    :param path: of its socket
    :param limit: bytes that the payload of a frame may have
    :param keep: how many idle connections are kept
    """

    def __init__(self, path: str, limit: int, keep: int) -> None:
        self.path = path
        self._limit = limit
        self._keep = keep
        self._idle: collections.deque[Connection] = collections.deque()
        self._open: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._retired = False

    def acquire(self, patience: Patience) -> Connection:
        """Return a connection that is the caller's alone.

        :raises vobjects.rpc.drivers.errors.NotTaken: nobody listens
        :raises TimeoutError: there is no time left
        """
        try:
            return self._idle.pop()
        except IndexError:
            made = connection.open_connection(self.path, self._limit, patience)
        self._open.add(made)
        return made

    def release(self, used: Connection) -> None:
        """Keep a connection for the next message, or close it."""
        self._idle.append(used)
        if self._retired or len(self._idle) > self._keep:
            self._close_idle(0 if self._retired else self._keep)

    def retire(self) -> None:
        """Keep no connections from now on: the listener has left."""
        self._retired = True
        self._close_idle(0)

    def abandon(self) -> None:
        """Close all connections in a child process: they are its parent's."""
        for inherited in self._open:
            inherited.close()

    def _close_idle(self, keep: int) -> None:
        while len(self._idle) > keep:
            try:
                self._idle.popleft().close()
            except IndexError:  # another thread was faster
                return


class Topic:
    """The servers of a topic as this process knows them.

    :param path: directory of their sockets
    :param limit: see :class:`Server`
    :param keep: see :class:`Server`
    """

    def __init__(self, path: str, limit: int, keep: int) -> None:
        self._listing = Listing(path)
        self._limit = limit
        self._keep = keep
        self._lock = threading.Lock()
        self._servers: dict[str, Server] = {}
        # Not all processes begin with the same server.
        self._turns = itertools.count(secrets.randbelow(2**16))

    def servers(self, name: str | None) -> list[Server]:
        """Return the servers to try, in order.

        :param name: of a server; None: all of them, another one first at
            each call
        """
        with self._lock:
            names = self._listing.names()
            if names is not None:
                self._update(names)
            if name is not None:
                prefix = server_prefix(name)
                return [
                    server
                    for file_name, server in self._servers.items()
                    if file_name.startswith(prefix)
                ]
            found = list(self._servers.values())
            first = next(self._turns) % len(found) if found else 0
        return found[first:] + found[:first]

    def close(self) -> None:
        """Close all idle connections, and those in use after their use."""
        with self._lock:
            self._update([])

    def abandon(self) -> None:
        """Close all connections in a child process."""
        for server in self._servers.values():
            server.abandon()

    def _update(self, names: list[str]) -> None:
        known, self._servers = self._servers, {}
        for name in names:
            server = known.pop(name, None)
            if server is None:
                path = os.path.join(self._listing.path, name)
                server = Server(path, self._limit, self._keep)
            self._servers[name] = server
        for gone in known.values():
            gone.retire()
