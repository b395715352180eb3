# SPDX-License-Identifier: Apache-2.0
"""One address before several APIs, as a load balancer is, without mercy.

A request goes to one of the APIs that are let in, over a connection of its
own, once: nothing is tried again, so that a client sees every failure. An
operator's order is that of every load balancer: drain (no more requests, and
those under way are waited for), stop, start, let in.
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

from tests.functional.processes import PATIENCE

#: About a connection, not about a message.
HOP = frozenset({'connection', 'keep-alive', 'transfer-encoding'})


class Door:
    """The address, and who is behind it.

    :ivar url: of the address
    """

    def __init__(self) -> None:
        self._behind: list[str] = []
        self._under_way: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._turns = itertools.count()
        self._server = http.server.ThreadingHTTPServer(
            ('127.0.0.1', 0), self._handler()
        )
        self._server.daemon_threads = True
        self.url = f'http://127.0.0.1:{self._server.server_port}'

    def let_in(self, address: str) -> None:
        """Send requests to an API from now on.

        :param address: ``host:port``
        """
        with self._changed:
            self._behind.append(address)

    def drain(self, address: str) -> None:
        """Send no more requests to an API, and wait for the last answer."""
        with self._changed:
            self._behind.remove(address)
            done = self._changed.wait_for(
                lambda: not self._under_way[address], PATIENCE
            )
        assert done, f'{address} has not answered for {PATIENCE} s'

    @contextlib.contextmanager
    def _chosen(self) -> Iterator[str]:
        """Yield who gets a request; it is under way for the block.

        :raises ConnectionError: nobody is let in
        """
        with self._changed:
            if not self._behind:
                raise ConnectionError('no API is let in')
            turn = next(self._turns)
            address = self._behind[turn % len(self._behind)]
            self._under_way[address] += 1
        try:
            yield address
        finally:
            with self._changed:
                self._under_way[address] -= 1
                self._changed.notify_all()

    def serve(self) -> None:
        """Serve until :meth:`close`."""
        self._server.serve_forever(poll_interval=0.1)

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        door = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def _pass_on(self) -> None:
                length = int(self.headers.get('Content-Length') or 0)
                body = self.rfile.read(length) if length else None
                try:
                    with door._chosen() as address:
                        status, headers, content = _ask(
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
                    return self._pass_on
                raise AttributeError(name)

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        return Handler


def _ask(
    address: str,
    method: str,
    path: str,
    headers: dict[str, str],
    body: bytes | None,
) -> tuple[int, list[tuple[str, str]], bytes]:
    connection = http.client.HTTPConnection(address, timeout=PATIENCE)
    try:
        sent = {k: v for k, v in headers.items() if k.lower() not in HOP}
        sent['Connection'] = 'close'
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    skipped = HOP | {'content-length'}
    return (
        answer.status,
        [h for h in answer.getheaders() if h[0].lower() not in skipped],
        content,
    )


@contextlib.contextmanager
def opened() -> Iterator[Door]:
    """Yield a door that serves."""
    door = Door()
    thread = threading.Thread(target=door.serve, name='door')
    thread.start()
    try:
        yield door
    finally:
        door.close()
        thread.join()
