# SPDX-License-Identifier: Apache-2.0
"""A second region of the cloud, whose APIs a test can disturb.

The catalogue has its own endpoints for the region. Behind each is a proxy to
the API of the first region.
"""

from __future__ import annotations

import contextlib
import functools
import http.client
import os
from collections.abc import Iterator
from typing import Any

from tests import http_server
from tests.real_cloud import services
from tests.real_cloud.settings import Settings

#: Each worker of pytest-xdist has a region of its own.
NAME = f'RegionTwo{os.environ.get("PYTEST_XDIST_WORKER", "")}'

#: Services with endpoints in the region.
SERVICES = ('glance', 'nova', 'neutron', 'heat', 'octavia')

_TIMEOUT = 120

#: Headers that concern only one connection.
_HOP_HEADERS = ('connection', 'content-length', 'transfer-encoding')


class Region:
    """The region.

    :ivar requests: "METHOD /path" of all requests
    :ivar is_down: whether its APIs receive no request
    """

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.is_down = False


class _Handler(http_server.Handler):
    """Forwards requests to an API."""

    protocol_version = 'HTTP/1.1'

    def __init__(
        self, *arguments: Any, region: Region, port: int, **options: Any
    ) -> None:
        self._region, self._port = region, port
        super().__init__(*arguments, **options)

    def _handle(self) -> None:
        length = int(self.headers.get('Content-Length') or 0)
        body = self.rfile.read(length)
        self._region.requests.append(f'{self.command} {self.path}')
        if self._region.is_down:
            self.close_connection = True
            return
        status, headers, content = self._forwarded(body)
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in _HOP_HEADERS:
                self.send_header(name, value)
        self.send_header('Content-Length', str(len(content)))
        # The client may have gone.
        with contextlib.suppress(ConnectionError):
            self.end_headers()
            self.wfile.write(content)

    def _forwarded(
        self, body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection(
            '127.0.0.1', self._port, timeout=_TIMEOUT
        )
        with contextlib.closing(connection):
            # With this Host, links in the response lead to the proxy, too.
            connection.request(
                self.command, self.path, body, dict(self.headers.items())
            )
            response = connection.getresponse()
            return response.status, response.getheaders(), response.read()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815


@contextlib.contextmanager
def running(settings: Settings, admin: Any) -> Iterator[Region]:
    """Add the region to the catalogue, and remove it at the end."""
    region, identity = Region(), admin.identity
    # What an interrupted test has left.
    _remove(identity)
    with contextlib.ExitStack() as stack:
        stack.callback(_remove, identity)
        identity.create_region(id=NAME)
        for name in SERVICES:
            service = services.BY_NAME[name]
            handler = functools.partial(
                _Handler, region=region, port=settings.port(name)
            )
            port = stack.enter_context(http_server.serving(handler))
            identity.create_endpoint(
                service_id=identity.find_service(name).id,
                interface='public',
                region_id=NAME,
                url=f'http://127.0.0.1:{port}{service.path}',
            )
        yield region


def _remove(identity: Any) -> None:
    """Remove the region from the catalogue, if it is there."""
    if identity.find_region(NAME) is None:
        return
    for endpoint in identity.endpoints(region_id=NAME):
        identity.delete_endpoint(endpoint)
    identity.delete_region(NAME)
