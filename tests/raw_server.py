# SPDX-License-Identifier: Apache-2.0
"""HTTP servers that misbehave, byte by byte."""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator

#: Sends a response; called with the connection and the request's head.
Reply = Callable[[socket.socket, bytes], None]

OK = b'HTTP/1.1 200 OK\r\n'


@contextlib.contextmanager
def serving(reply: Reply) -> Iterator[int]:
    """Serve on a port of this machine and yield the port."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                if head := self.request.recv(65536):
                    reply(self.request, head)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Server(('127.0.0.1', 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def trickle_body(stop: threading.Event) -> Reply:
    """Return a reply whose body comes byte by byte, without end."""

    def reply(connection: socket.socket, head: bytes) -> None:
        connection.sendall(OK + b'\r\n')
        while not stop.wait(0.05):
            connection.sendall(b'x')

    return reply


def trickle_head(stop: threading.Event) -> Reply:
    """Return a reply whose head comes byte by byte, without end."""

    def reply(connection: socket.socket, head: bytes) -> None:
        connection.sendall(OK + b'X: ')
        while not stop.wait(0.05):
            connection.sendall(b'x')

    return reply


def flood(connection: socket.socket, head: bytes) -> None:
    """Send a gigabyte."""
    size = 1 << 30
    connection.sendall(OK + b'Content-Length: %d\r\n\r\n"' % size)
    chunk = b'x' * (1 << 20)
    for _ in range(size // len(chunk)):
        connection.sendall(chunk)


def redirecting(target: str) -> Reply:
    """Return a reply that redirects elsewhere."""

    def reply(connection: socket.socket, head: bytes) -> None:
        connection.sendall(
            b'HTTP/1.1 302 Found\r\nContent-Length: 0\r\n'
            b'Location: ' + target.encode() + b'\r\n\r\n'
        )

    return reply


def answering(answer: object, status: int = 200) -> Reply:
    """Return a reply that is JSON."""

    def reply(connection: socket.socket, head: bytes) -> None:
        body = json.dumps(answer).encode()
        connection.sendall(
            b'HTTP/1.1 %d X\r\nConnection: close\r\nContent-Length: %d\r\n\r\n'
            % (status, len(body))
            + body
        )

    return reply
