# SPDX-License-Identifier: Apache-2.0
"""HTTP servers that send invalid, slow or huge responses."""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator

#: Sends a response, given the connection and the head of the request.
Reply = Callable[[socket.socket, bytes], None]

#: The server closes each connection after one response, so a client must not
#: send its next request on it.
OK = b'HTTP/1.1 200 OK\r\nConnection: close\r\n'

#: Seconds to wait for the end of a client's request.
DRAIN_TIMEOUT = 1.0


@contextlib.contextmanager
def serving(reply: Reply) -> Iterator[int]:
    """Serve on a free port of this host and yield the port."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                if head := self.request.recv(65536):
                    reply(self.request, head)
                self._drain()

        def _drain(self) -> None:
            # The kernel would drop the response if data remained unread.
            self.request.shutdown(socket.SHUT_WR)
            self.request.settimeout(DRAIN_TIMEOUT)
            while self.request.recv(65536):
                pass

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
    """Return a reply with an endless body, sent byte by byte."""

    def reply(connection: socket.socket, head: bytes) -> None:
        connection.sendall(OK + b'\r\n')
        while not stop.wait(0.05):
            connection.sendall(b'x')

    return reply


def trickle_head(stop: threading.Event) -> Reply:
    """Return a reply with an endless head, sent byte by byte."""

    def reply(connection: socket.socket, head: bytes) -> None:
        connection.sendall(OK + b'X: ')
        while not stop.wait(0.05):
            connection.sendall(b'x')

    return reply


def flood(connection: socket.socket, head: bytes) -> None:
    """Send a body of one gigabyte."""
    size = 1 << 30
    connection.sendall(OK + b'Content-Length: %d\r\n\r\n"' % size)
    chunk = b'x' * (1 << 20)
    for _ in range(size // len(chunk)):
        connection.sendall(chunk)


def redirecting(target: str) -> Reply:
    """Return a reply that redirects to a URL."""

    def reply(connection: socket.socket, head: bytes) -> None:
        connection.sendall(
            b'HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\n'
            b'Location: ' + target.encode() + b'\r\n\r\n'
        )

    return reply


def answering(answer: object, status: int = 200) -> Reply:
    """Return a reply with a JSON body."""

    def reply(connection: socket.socket, head: bytes) -> None:
        body = json.dumps(answer).encode()
        connection.sendall(
            b'HTTP/1.1 %d X\r\nConnection: close\r\nContent-Length: %d\r\n\r\n'
            % (status, len(body))
            + body
        )

    return reply
