# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy that can refuse connections, or stop to forward bytes."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

_CHUNK = 65536


class Proxy:
    """Forwards connections on a loopback port to another port.

    :param target: the port
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._sockets: list[socket.socket] = []
        self._forwards = threading.Event()
        self._forwards.set()
        self._listener: socket.socket | None = None
        self.port = 0
        self.restore()

    def cut(self) -> None:
        """Close all connections, and refuse new ones."""
        if self._listener is not None:
            # close() alone would leave accept() and the port as they are.
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        while self._sockets:
            with contextlib.suppress(OSError):
                self._sockets.pop().shutdown(socket.SHUT_RDWR)

    def freeze(self) -> None:
        """Forward nothing, on connections that stay open, or are new."""
        self._forwards.clear()

    def restore(self) -> None:
        """Accept connections, and forward what comes."""
        self._forwards.set()
        if self._listener is None:
            self._listener = socket.create_server(
                ('127.0.0.1', self.port), backlog=128
            )
            self.port = self._listener.getsockname()[1]
            self._thread(self._accept, self._listener)

    def _thread(self, run: object, *arguments: object) -> None:
        threading.Thread(target=run, args=arguments, daemon=True).start()  # type: ignore[arg-type]

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(('127.0.0.1', self._target))
                self._sockets += [client, server]
                self._thread(self._forward, client, server)
                self._thread(self._forward, server, client)

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK):
                self._forwards.wait()
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        # The other direction closes the other socket.
        source.close()


@contextlib.contextmanager
def proxied(target: int) -> Iterator[Proxy]:
    """Yield a proxy to a port of this machine."""
    proxy = Proxy(target)
    try:
        yield proxy
    finally:
        proxy.restore()
        proxy.cut()
