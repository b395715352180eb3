# SPDX-License-Identifier: Apache-2.0
"""An HTTP server that webhooks can call."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any


class Sink:
    """What was posted, and what is answered.

    :ivar statuses: of the next answers; then 200
    :ivar on_call: called with what was posted, before it is answered
    """

    def __init__(self) -> None:
        self.posted: list[Any] = []
        self.statuses: list[int] = []
        self.on_call: Callable[[Any], None] = lambda posted: None
        self.url = ''


@contextlib.contextmanager
def served() -> Iterator[Sink]:
    """Serve a sink on a port of this machine."""
    sink = Sink()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers['Content-Length'])
            posted = json.loads(self.rfile.read(length))
            sink.posted.append(posted)
            sink.on_call(posted)
            self.send_response(sink.statuses.pop(0) if sink.statuses else 200)
            self.send_header('Location', 'http://127.0.0.1:1/elsewhere')
            self.send_header('Content-Length', '0')
            self.end_headers()

        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    sink.url = f'http://127.0.0.1:{server.server_port}/hook'
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield sink
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
