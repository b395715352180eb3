# SPDX-License-Identifier: Apache-2.0
"""Request ids, the log of requests, unread bodies, faults; plain WSGI."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import time
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from oslo_context import context as oslo_context

from api import errors, inputs
from vobjects.microversions.middleware import Microversions
from vobjects.microversions.policy import MICROVERSION, REFUSED

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

LOG = logging.getLogger(__name__)

REQUEST_ID_HEADER = 'X-OpenStack-Request-ID'

#: Names in the environ, as oslo.middleware's RequestId has them. Ours does
#: the same without building a request and a response object for it.
REQUEST_ID = 'openstack.request_id'
GLOBAL_REQUEST_ID = 'openstack.global_request_id'

_INBOUND = 'HTTP_X_OPENSTACK_REQUEST_ID'
_ID = re.compile(r'req-[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{12}')

#: Characters of a path that the log repeats.
_LOGGED = 200


class RequestIds:
    """Gives each request an id, and each response that id in a header.

    What the application left unread of a body is read before the answer.

    An id that the caller sent, itself a service perhaps, becomes the global
    id, by which logs of several services can be joined.

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
        # For the log, until somebody is authenticated; else the thread's
        # last request would still be there.
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

        answer = self.app(environ, started)
        # Nothing has been sent: the answer is a list, and a server sends
        # its head with its first item.
        with contextlib.suppress(OSError):
            inputs.drain(environ)
        return answer


def _log(environ: WSGIEnvironment, status: str, seconds: float) -> None:
    # ascii(): a path may hold line ends, which would forge lines of the log.
    LOG.info(
        '%s %s %s %s %s %.1f ms',
        environ.get('REMOTE_ADDR', '-'),
        ascii(environ.get('REQUEST_METHOD', ''))[1:-1][:_LOGGED],
        ascii(environ.get('PATH_INFO', ''))[1:-1][:_LOGGED],
        environ.get(MICROVERSION, '-'),
        status[:3],
        seconds * 1000,
    )


class Faults:
    """Turns what the application raises into an error document.

    It stands outside of the version middleware, whose headers an exception
    passes by; so it asks for them.

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
        except Exception as error:  # noqa: BLE001 - this is the last resort
            return self._answer(error, environ, start_response)

    def _answer(
        self,
        error: Exception,
        environ: WSGIEnvironment,
        start_response: StartResponse,
    ) -> Iterable[bytes]:
        fault = errors.fault_of(
            error, self.versions.policy, environ.get(REQUEST_ID, '')
        )
        environ[REFUSED] = fault.code
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
            self.versions.marked(headers, environ),
        )
        return [] if environ.get('REQUEST_METHOD') == 'HEAD' else [body]


def _explain(error: Exception, fault: errors.Fault) -> None:
    """Log what clients are not told."""
    if fault.status == HTTPStatus.SERVICE_UNAVAILABLE:
        LOG.warning('%s: %s', type(error).__name__, error)
    else:
        LOG.error('A request failed', exc_info=error)
