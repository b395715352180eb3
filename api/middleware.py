# SPDX-License-Identifier: Apache-2.0
"""WSGI middleware: request IDs, error documents, pages."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from oslo_context import context as oslo_context

from api import request_body
from api.request_log import RequestLog
from vobjects.microversions.middleware import Microversions
from vobjects.microversions.negotiation import REQUEST_ID as REQUEST_ID
from vobjects.microversions.negotiation import REQUEST_ID_HEADER
from vobjects.microversions.version_policy import ROUTE

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

#: Key in the environ, as in oslo.middleware's RequestId. The class here does
#: the same without building request and response objects.
GLOBAL_REQUEST_ID = 'openstack.global_request_id'

_INBOUND = 'HTTP_X_OPENSTACK_REQUEST_ID'
_ID = re.compile(r'req-[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{12}')


class RequestIds:
    """Give each request an ID, and add it to the response headers.

    If the caller, perhaps another service, sends an ID, it becomes the global
    ID, which links the logs of several services.

    :param log: receives each response; None: it is not logged
    """

    def __init__(
        self, app: WSGIApplication, log: RequestLog | None = None
    ) -> None:
        self.app = app
        self.log = log

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        request_id = environ[REQUEST_ID] = oslo_context.generate_request_id()
        global_id = environ.get(_INBOUND, '')
        environ.pop(GLOBAL_REQUEST_ID, None)
        if _ID.fullmatch(global_id):
            environ[GLOBAL_REQUEST_ID] = global_id
        # For the log, until the caller is authenticated; otherwise, the thread
        # would still have the context of its last request.
        oslo_context.RequestContext(
            request_id=request_id,
            global_request_id=environ.get(GLOBAL_REQUEST_ID),
        )
        start = time.perf_counter()

        def start_with_id(
            status: str, headers: list[tuple[str, str]], exc_info: Any = None
        ) -> Any:
            if self.log is not None:
                self.log.add(environ, status, time.perf_counter() - start)
            headers = [*headers, (REQUEST_ID_HEADER, request_id)]
            return start_response(status, headers, exc_info)

        return self.app(environ, start_with_id)


class FaultWrapper:
    """Turn exceptions of the middlewares into error documents.

    :param versions: the version middleware, which responds with its headers
    """

    def __init__(self, app: WSGIApplication, versions: Microversions) -> None:
        self.app = app
        self.versions = versions

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        try:
            return self.app(environ, start_response)
        except Exception as error:  # noqa: BLE001 - last resort
            return self.versions.respond(error, environ, start_response)


class Pages:
    """Serve pages outside of the versioned API, to GET and HEAD.

    :param pages: application by path
    :param writable: paths whose applications check the method themselves
    """

    def __init__(
        self,
        app: WSGIApplication,
        pages: Mapping[str, WSGIApplication],
        writable: Collection[str] = (),
    ) -> None:
        self.app = app
        self.pages = pages
        self.writable = frozenset(writable)

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        path = environ.get('PATH_INFO', '')
        page = self.pages.get(path)
        if page is None:
            return self.app(environ, start_response)
        if path in self.writable:
            environ[ROUTE] = path
        else:
            request_body.require_read(environ, path)
        return page(environ, start_response)


def send_page(
    environ: WSGIEnvironment,
    start_response: StartResponse,
    content: bytes,
    media_type: str,
    headers: Iterable[tuple[str, str]] = (),
) -> Iterable[bytes]:
    """Send the response of a page; without content for HEAD."""
    start_response(
        '200 OK',
        [
            ('Content-Type', media_type),
            ('Content-Length', str(len(content))),
            *headers,
        ],
    )
    return [] if environ['REQUEST_METHOD'] == 'HEAD' else [content]
