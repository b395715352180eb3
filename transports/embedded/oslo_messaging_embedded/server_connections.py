# SPDX-License-Identifier: Apache-2.0
"""The servers of a topic that a sender knows, and connections to them.

One thread uses a connection at a time; then it is kept for the next. It is
closed when its listener has left, when too many are idle, and in a forked
child process, because the parent continues to use it.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import os
import secrets
import threading
import weakref
from collections.abc import Iterator

from oslo_messaging_driverlib.deadline import Deadline
from oslo_messaging_embedded import directory
from oslo_messaging_embedded.connection import Connection
from oslo_messaging_embedded.directory import (
    DRAINING_PREFIX,
    SocketNames,
    server_prefix,
)


class ConnectionPool:
    """The connections to one listener.

    :param path: path of its socket
    :param limit: maximum length of the payload of a frame, in bytes
    :param max_idle: number of idle connections to keep
    """

    def __init__(self, path: str, limit: int, max_idle: int) -> None:
        self.path = path
        self._limit = limit
        self._max_idle = max_idle
        self._idle: collections.deque[Connection] = collections.deque()
        self._open: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._retired = False

    @contextlib.contextmanager
    def connection(self, deadline: Deadline) -> Iterator[Connection]:
        """Provide a connection for one message.

        An error closes it; otherwise it is kept for the next message.

        :raises oslo_messaging_embedded.errors.NotHandled: no process listens
        :raises TimeoutError: no time remains
        :raises oslo_messaging.MessageDeliveryFailure: any other system error
        """
        try:
            connection = self._idle.pop()
        except IndexError:
            connected = directory.connect(self.path, deadline.remaining())
            connection = Connection(connected, self._limit)
            self._open.add(connection)
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        self._close_idle(0 if self._retired else self._max_idle)

    def retire(self) -> None:
        """Stop keeping idle connections: the listener has left."""
        self._retired = True
        self._close_idle(0)

    def close_in_child(self) -> None:
        """Close all connections in a child process: the parent uses them."""
        for connection in self._open:
            connection.close()

    def _close_idle(self, max_idle: int) -> None:
        while len(self._idle) > max_idle:
            try:
                self._idle.popleft().close()
            except IndexError:  # another thread was faster
                return


class TopicServers:
    """The servers of a topic that this process knows.

    :param path: directory of their sockets
    :param limit: see :class:`ConnectionPool`
    :param max_idle: see :class:`ConnectionPool`
    """

    def __init__(self, path: str, limit: int, max_idle: int) -> None:
        self._socket_names = SocketNames(path)
        self._limit = limit
        self._max_idle = max_idle
        self._lock = threading.Lock()
        self._servers: dict[str, ConnectionPool] = {}
        # A random start distributes the processes over the servers.
        self._turns = itertools.count(secrets.randbelow(2**16))

    def servers(self, name: str | None) -> list[ConnectionPool]:
        """Return the servers to try, in order.

        They start with the next one at each call.

        :param name: name of the servers; None: all servers
        """
        with self._lock:
            self._read()
            prefix = '' if name is None else server_prefix(name)
            servers = [
                server
                for file_name, server in self._servers.items()
                if file_name.startswith(prefix)
                and not file_name.startswith(DRAINING_PREFIX)
            ]
            first = next(self._turns) % len(servers) if servers else 0
        return servers[first:] + servers[:first]

    def all_servers(self) -> list[ConnectionPool]:
        """Return all servers, including those that are about to stop."""
        with self._lock:
            self._read()
            return list(self._servers.values())

    def close(self) -> None:
        """Close all connections; busy ones after their use."""
        with self._lock:
            self._update([])

    def close_in_child(self) -> None:
        """Close all connections in a child process."""
        for server in self._servers.values():
            server.close_in_child()

    def _read(self) -> None:
        names = self._socket_names.names()
        if names is not None:
            self._update(names)

    def _update(self, names: list[str]) -> None:
        known, self._servers = self._servers, {}
        for name in names:
            server = known.pop(name, None)
            if server is None:
                path = os.path.join(self._socket_names.path, name)
                server = ConnectionPool(path, self._limit, self._max_idle)
            self._servers[name] = server
        for server in known.values():
            server.retire()
