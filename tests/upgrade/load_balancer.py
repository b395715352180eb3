# SPDX-License-Identifier: Apache-2.0
"""HTTP load balancer that never retries a request.

Each request goes to one of the added APIs, round robin, over a connection of
its own. Clients therefore see every failure. An API is restarted as behind any
load balancer: drain (send no new requests and wait for those in progress),
stop, start, add.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import itertools
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.functional.processes import TIMEOUT

#: Hop-by-hop headers, which are not forwarded.
HOP_BY_HOP = frozenset({'connection', 'keep-alive', 'transfer-encoding'})


class Backends:
    """APIs that receive requests in turn."""

    def __init__(self) -> None:
        self._backends: list[str] = []
        self._in_progress: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._turns = itertools.count()

    def add(self, address: str) -> None:
        """Send requests to an API from now on."""
        with self._changed:
            self._backends.append(address)

    def drain(self, address: str) -> None:
        """Remove an API and wait for the requests that it is serving."""
        with self._changed:
            self._backends.remove(address)
            is_idle = self._changed.wait_for(
                lambda: not self._in_progress[address], TIMEOUT
            )
        assert is_idle, f'{address} has not responded for {TIMEOUT} s'

    @contextlib.contextmanager
    def backend(self) -> Iterator[str]:
        """Yield the address of the next API, which is busy for the block.

        :raises ConnectionError: no API was added
        """
        with self._changed:
            if not self._backends:
                raise ConnectionError('the load balancer has no API')
            turn = next(self._turns)
            address = self._backends[turn % len(self._backends)]
            self._in_progress[address] += 1
        try:
            yield address
        finally:
            with self._changed:
                self._in_progress[address] -= 1
                self._changed.notify_all()


class LoadBalancer(Backends):
    """One address for several APIs, each of which is ``host:port``.

    :ivar url: root URL that clients use
    """

    def __init__(self) -> None:
        super().__init__()
        self._server = http.server.ThreadingHTTPServer(
            ('127.0.0.1', 0), self._handler()
        )
        self._server.daemon_threads = True
        self.url = f'http://127.0.0.1:{self._server.server_port}'

    def serve(self) -> None:
        """Serve until :meth:`close`."""
        self._server.serve_forever(poll_interval=0.1)

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        balancer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def _forward(self) -> None:
                length = int(self.headers.get('Content-Length') or 0)
                body = self.rfile.read(length) if length else None
                try:
                    with balancer.backend() as address:
                        status, headers, content = _send(
                            address,
                            self.command,
                            self.path,
                            dict(self.headers.items()),
                            body,
                        )
                except (OSError, http.client.HTTPException) as error:
                    status, headers = 502, []
                    content = f'{type(error).__name__}: {error}'.encode()
                self.send_response_only(status)
                for name, value in headers:
                    self.send_header(name, value)
                if status != 204:
                    self.send_header('Content-Length', str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def __getattr__(self, name: str) -> Any:
                if name.startswith('do_'):  # do_GET, do_POST ...
                    return self._forward
                raise AttributeError(name)

            def log_message(self, *args: object) -> None:
                """Log nothing."""

        return Handler


def _send(
    address: str,
    method: str,
    path: str,
    headers: dict[str, str],
    body: bytes | None,
) -> tuple[int, list[tuple[str, str]], bytes]:
    """Return status, headers and body of the response."""
    connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
    try:
        forwarded = {
            name: value
            for name, value in headers.items()
            if name.lower() not in HOP_BY_HOP
        }
        forwarded['Connection'] = 'close'
        connection.request(method, path, body, forwarded)
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    excluded = HOP_BY_HOP | {'content-length'}
    return (
        response.status,
        [h for h in response.getheaders() if h[0].lower() not in excluded],
        content,
    )


@contextlib.contextmanager
def running() -> Iterator[LoadBalancer]:
    """Run a load balancer without APIs."""
    balancer = LoadBalancer()
    thread = threading.Thread(target=balancer.serve, name='load-balancer')
    thread.start()
    try:
        yield balancer
    finally:
        balancer.close()
        thread.join()
