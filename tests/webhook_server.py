# SPDX-License-Identifier: Apache-2.0
"""HTTP server that records the webhooks posted to it."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any


class WebhookServer:
    """Recorded requests and configured responses.

    :ivar bodies: decoded JSON bodies, in order
    :ivar statuses: statuses of the next responses; 200 after these
    :ivar on_request: called with each body, before the response
    """

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        self.statuses: list[int] = []
        self.on_request: Callable[[Any], None] = lambda body: None
        self.url = ''


@contextlib.contextmanager
def running() -> Iterator[WebhookServer]:
    """Run a server on a free port of this host."""
    webhooks = WebhookServer()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers['Content-Length'])
            body = json.loads(self.rfile.read(length))
            webhooks.bodies.append(body)
            webhooks.on_request(body)
            statuses = webhooks.statuses
            self.send_response(statuses.pop(0) if statuses else 200)
            self.send_header('Location', 'http://127.0.0.1:1/elsewhere')
            self.send_header('Content-Length', '0')
            self.end_headers()

        def log_message(self, *arguments: Any) -> None:
            """Log nothing."""

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    webhooks.url = f'http://127.0.0.1:{server.server_port}/hook'
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield webhooks
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
