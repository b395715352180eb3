# SPDX-License-Identifier: Apache-2.0
"""TCP proxy that a test can interrupt."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import selectors
import socket
import threading
import time
from collections.abc import Iterator

_CHUNK = 65536

#: setns(2): a network namespace.
_CLONE_NEWNET = 0x40000000


class TcpProxy:
    """Forward connections to a server until a test interrupts them.

    :meth:`cut` closes all connections and refuses new ones, like a server that
    was stopped. :meth:`freeze` keeps connections open and forwards nothing,
    like a host that vanished. :meth:`restore` ends both.

    :param namespace: file of the server's network namespace, if it has another
    :ivar port: where the proxy listens on 127.0.0.1
    """

    def __init__(
        self, host: str, port: int, namespace: pathlib.Path | None = None
    ) -> None:
        self._server = (host, port)
        self._namespace = namespace
        self._listener = socket.create_server(('127.0.0.1', 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self._wake_sender, self._wake_receiver = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        for readable in (self._listener, self._wake_receiver):
            self._selector.register(readable, selectors.EVENT_READ)
        self._peers: dict[socket.socket, socket.socket] = {}
        self._state = 'open'
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def cut(self) -> None:
        """Close all connections, and new ones at once."""
        self._set_state('cut')

    def freeze(self) -> None:
        """Keep connections open, but forward nothing."""
        self._set_state('frozen')

    def restore(self) -> None:
        """Accept connections and forward data again."""
        self._set_state('open')

    def close(self) -> None:
        """Stop the proxy."""
        self._set_state('closed')
        self._thread.join()
        # Not in the thread, which could close them before it is woken.
        for sock in (self._listener, self._wake_sender, self._wake_receiver):
            sock.close()
        self._selector.close()

    def _set_state(self, state: str) -> None:
        self._state = state
        self._wake_sender.send(b'x')

    def _run(self) -> None:
        if self._namespace is not None:
            _enter(self._namespace)
        while self._state != 'closed':
            for key, _ in self._selector.select():
                assert isinstance(key.fileobj, socket.socket)
                self._handle(key.fileobj)
            if self._state == 'cut':
                self._drop_all()
            elif self._state == 'frozen':
                time.sleep(0.05)  # sockets with unread data stay ready
        self._drop_all()

    def _handle(self, ready: socket.socket) -> None:
        if ready is self._wake_receiver:
            ready.recv(_CHUNK)
        elif ready is self._listener:
            self._accept()
        elif self._state == 'open' and ready in self._peers:
            self._forward(ready)

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        if self._state == 'cut':
            client.close()
            return
        try:
            server = socket.create_connection(self._server, timeout=5)
        except OSError:
            client.close()
            return
        for source, target in ((client, server), (server, client)):
            source.settimeout(5)
            self._peers[source] = target
            self._selector.register(source, selectors.EVENT_READ)

    def _forward(self, source: socket.socket) -> None:
        try:
            data = source.recv(_CHUNK)
            self._peers[source].sendall(data)
        except OSError:
            data = b''
        if not data:
            self._drop(source)

    def _drop(self, source: socket.socket) -> None:
        target = self._peers.pop(source)
        del self._peers[target]
        for sock in (source, target):
            self._selector.unregister(sock)
            sock.close()

    def _drop_all(self) -> None:
        while self._peers:
            self._drop(next(iter(self._peers)))


def _enter(namespace: pathlib.Path) -> None:
    """Enter a network namespace in this thread.

    Its sockets remain in the namespace where they were created. Python has
    ``os.setns`` since 3.12.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    with namespace.open() as file:
        if libc.setns(file.fileno(), _CLONE_NEWNET) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(namespace))


@contextlib.contextmanager
def running(
    host: str, port: int, namespace: pathlib.Path | None = None
) -> Iterator[TcpProxy]:
    """Run a proxy to a server; see :class:`TcpProxy`."""
    proxy = TcpProxy(host, port, namespace)
    try:
        yield proxy
    finally:
        proxy.close()
