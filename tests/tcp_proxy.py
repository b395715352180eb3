# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy between a client and a server, which a test can cut."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Iterator

_CHUNK = 65536


class Proxy:
    """Forward connections to a server until a test interrupts them.

    ``cut`` ends all connections and refuses new ones, like a server that was
    stopped. ``freeze`` keeps connections open and forwards nothing, like a
    host that vanished. ``restore`` ends both.

    :ivar port: where the proxy listens, on 127.0.0.1
    """

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._listener = socket.create_server(('127.0.0.1', 0))
        self.port: int = self._listener.getsockname()[1]
        self._wake, self._woken = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._peers: dict[socket.socket, socket.socket] = {}
        self._state = 'open'
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def cut(self) -> None:
        """End all connections and accept none that lasts."""
        self._set('cut')

    def freeze(self) -> None:
        """Forward nothing, but keep all connections."""
        self._set('frozen')

    def restore(self) -> None:
        """Forward again."""
        self._set('open')

    def close(self) -> None:
        """End everything."""
        self._set('closed')
        self._thread.join()

    def _set(self, state: str) -> None:
        self._state = state
        self._wake.send(b'x')

    def _run(self) -> None:
        while self._state != 'closed':
            for key, _ in self._selector.select(
                0.05 if self._state == 'frozen' else None
            ):
                self._handle(key.fileobj)  # type: ignore[arg-type]
            if self._state == 'cut':
                self._drop_all()
        self._drop_all()
        for each in (self._listener, self._wake, self._woken):
            each.close()
        self._selector.close()

    def _handle(self, ready: socket.socket) -> None:
        if ready is self._woken:
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
        for one, other in ((client, server), (server, client)):
            one.settimeout(5)
            self._peers[one] = other
            self._selector.register(one, selectors.EVENT_READ)

    def _forward(self, ready: socket.socket) -> None:
        try:
            data = ready.recv(_CHUNK)
            self._peers[ready].sendall(data)
        except OSError:
            data = b''
        if not data:
            self._drop(ready)

    def _drop(self, one: socket.socket) -> None:
        other = self._peers.pop(one)
        del self._peers[other]
        for each in (one, other):
            self._selector.unregister(each)
            each.close()

    def _drop_all(self) -> None:
        while self._peers:
            self._drop(next(iter(self._peers)))


@contextlib.contextmanager
def proxy(host: str, port: int) -> Iterator[Proxy]:
    """Run a proxy to a server."""
    running = Proxy(host, port)
    try:
        yield running
    finally:
        running.close()
