# SPDX-License-Identifier: Apache-2.0
"""HTTP server that records the webhooks posted to it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from tests import http_server


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

    class Handler(http_server.Handler):
        def do_POST(self) -> None:  # noqa: N802
            length = int(self.headers['Content-Length'])
            body = json.loads(self.rfile.read(length))
            webhooks.bodies.append(body)
            webhooks.on_request(body)
            statuses = webhooks.statuses
            self.send_response(statuses.pop(0) if statuses else 200)
            self.send_header('Location', 'http://127.0.0.1:1/elsewhere')
            self.send_header('Content-Length', '0')
            self.end_headers()

    with http_server.serving(Handler) as port:
        webhooks.url = f'http://127.0.0.1:{port}/hook'
        yield webhooks
