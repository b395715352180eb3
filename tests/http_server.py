# SPDX-License-Identifier: Apache-2.0
"""HTTP servers in threads, for tests."""

from __future__ import annotations

import contextlib
import http.server
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any


class Handler(http.server.BaseHTTPRequestHandler):
    """A request handler without a log."""

    def log_message(self, *arguments: Any) -> None:
        """Log nothing."""


@contextlib.contextmanager
def serving(
    handler: Callable[..., http.server.BaseHTTPRequestHandler],
    context: ssl.SSLContext | None = None,
) -> Iterator[int]:
    """Serve requests on a free port of this host, and yield the port.

    :param handler: class of the request handlers
    :param context: serve TLS with it
    """
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(
                server.socket, server_side=True
            )
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
