# SPDX-License-Identifier: Apache-2.0
"""WSGI middleware for request IDs, the request log and error documents."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from oslo_context import context as oslo_context

from api import errors
from vobjects.microversions.middleware import Microversions
from vobjects.microversions.policy import ERROR_CODE, MICROVERSION

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

LOG = logging.getLogger(__name__)

REQUEST_ID_HEADER = 'X-OpenStack-Request-ID'

#: Keys in the environ, as in oslo.middleware's RequestId. The class here does
#: the same without building request and response objects.
REQUEST_ID = 'openstack.request_id'
GLOBAL_REQUEST_ID = 'openstack.global_request_id'

_INBOUND = 'HTTP_X_OPENSTACK_REQUEST_ID'
_ID = re.compile(r'req-[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{12}')

#: Value of X-Requested-With in requests of the page at ``/ui``.
UI = 'vobjects-ui'

#: Maximum characters of a path in the log.
_LOGGED = 200


class RequestIds:
    """Give each request an ID, and add it to the response headers.

    If the caller, perhaps another service, sends an ID, it becomes the global
    ID, which links the logs of several services.

    :param log: whether to log a line for each request
    """

    def __init__(self, app: WSGIApplication, *, log: bool) -> None:
        self.app = app
        self.log = log

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        request_id = environ[REQUEST_ID] = oslo_context.generate_request_id()
        sent = environ.get(_INBOUND, '')
        environ.pop(GLOBAL_REQUEST_ID, None)
        if sent and _ID.fullmatch(sent):
            environ[GLOBAL_REQUEST_ID] = sent
        # For the log, until the caller is authenticated; otherwise, the thread
        # would still have the context of its last request.
        oslo_context.RequestContext(
            request_id=request_id,
            global_request_id=environ.get(GLOBAL_REQUEST_ID),
        )
        began = time.perf_counter()

        def started(
            status: str, headers: list[tuple[str, str]], exc_info: Any = None
        ) -> Any:
            if self.log:
                _log(environ, status, time.perf_counter() - began)
            headers = [*headers, (REQUEST_ID_HEADER, request_id)]
            return start_response(status, headers, exc_info)

        return self.app(environ, started)


def _log(environ: WSGIEnvironment, status: str, seconds: float) -> None:
    # ascii(): line ends in a path could forge log lines.
    LOG.log(
        logging.DEBUG if _is_poll(environ, status) else logging.INFO,
        '%s %s %s %s %s %.1f ms',
        environ.get('REMOTE_ADDR', '-'),
        ascii(environ.get('REQUEST_METHOD', ''))[1:-1][:_LOGGED],
        ascii(environ.get('PATH_INFO', ''))[1:-1][:_LOGGED],
        environ.get(MICROVERSION, '-'),
        status[:3],
        seconds * 1000,
    )


def _is_poll(environ: WSGIEnvironment, status: str) -> bool:
    """Return whether the page at ``/ui`` polled successfully.

    The header can be forged, but that hides only successful reads.
    """
    return (
        environ.get('HTTP_X_REQUESTED_WITH') == UI
        and environ.get('REQUEST_METHOD') == 'GET'
        and status.startswith('2')
    )


class FaultWrapper:
    """Turn exceptions of the application into error documents.

    Exceptions bypass the version middleware inside, so this class asks it for
    its headers.

    :param versions: the version middleware
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
            return self._answer(error, environ, start_response)

    def _answer(
        self,
        error: Exception,
        environ: WSGIEnvironment,
        start_response: StartResponse,
    ) -> Iterable[bytes]:
        fault = errors.error_response(
            error, self.versions.policy, environ.get(REQUEST_ID, '')
        )
        environ[ERROR_CODE] = fault.code
        if fault.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            _explain(error, fault)
        body = json.dumps(fault.document).encode()
        status = HTTPStatus(fault.status)
        headers = [
            ('Content-Type', 'application/json'),
            ('Content-Length', str(len(body))),
            *fault.headers,
        ]
        start_response(
            f'{status.value} {status.phrase}',
            self.versions.with_version_headers(headers, environ),
        )
        return [] if environ.get('REQUEST_METHOD') == 'HEAD' else [body]


def _explain(error: Exception, fault: errors.ErrorResponse) -> None:
    """Log details that the response does not contain."""
    if fault.status == HTTPStatus.SERVICE_UNAVAILABLE:
        LOG.warning('%s: %s', type(error).__name__, errors.message_of(error))
    else:
        LOG.error('A request failed', exc_info=error)
