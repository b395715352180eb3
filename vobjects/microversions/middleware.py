# SPDX-License-Identifier: Apache-2.0
"""WSGI middlewares: negotiation and discovery.

::

    application = Microversions(Discovery(app, POLICY), POLICY)

:class:`Microversions` needs no framework. It sets
``version_policy.MICROVERSION`` and ``version_policy.MAXIMUM`` in the environ,
and adds the headers of the
:class:`~vobjects.microversions.negotiation.Negotiation` to every response,
including errors of the application.

If the application raises an :class:`~vobjects.microversions.errors.ApiError`,
the middleware responds with its document. Controllers raise errors, and
frameworks need not know their format. It also responds to the errors of
:mod:`vobjects.rpc` about live servers: 406 if one is too old for a request
(LossyDowngrade, UnsupportedType), 503 if there is none (NoLivePeer).

It responds to any other exception with status 500 and a text that does not
contain the exception's, and logs the request id with the traceback. A service
with its own middleware for that, in front of this one, passes
``handle_unexpected=False``. An HTTP exception of WebOb or Werkzeug is a
response of its own.
"""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any
from wsgiref.types import WSGIApplication

from vobjects.microversions import application_errors, discovery
from vobjects.microversions.error_formats import status_line
from vobjects.microversions.negotiation import Headers, Middleware

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIEnvironment,
    )


class Microversions(Middleware[WSGIApplication]):
    """WSGI middleware that negotiates versions and marks responses."""

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        negotiation = self.negotiation
        own, rejection = negotiation.negotiate(environ)
        if rejection is not None:
            response = negotiation.error_response(rejection, environ, own)
            return _send_json(environ, start_response, *response)
        is_started = False

        def start_versioned(
            status: str, headers: Headers, exc_info: Any = None, /
        ) -> Callable[[bytes], object]:
            nonlocal is_started
            is_started = True
            return start_response(
                status, negotiation.add(headers, own), exc_info
            )

        def respond(error: Exception) -> Iterable[bytes]:
            if not negotiation.handles(error):
                raise error
            if callable(error) and not is_started:
                # An HTTP exception of WebOb or Werkzeug is an application.
                # Either would show the representation of other values.
                for name in ('detail', 'description'):
                    value = getattr(error, name, None)
                    if value is not None and not isinstance(value, str):
                        setattr(
                            error, name, application_errors.detail_text(value)
                        )
                parts: Iterable[bytes] = error(environ, start_versioned)
                return parts
            # PEP 3333 requires exc_info if the application has already started
            # a response; the server raises it if it has sent the headers.
            exc_info = sys.exc_info() if is_started else None
            return self._respond(error, environ, start_response, own, exc_info)

        try:
            result = self.app(environ, start_versioned)
        except Exception as error:  # noqa: BLE001 - respond() raises others
            return respond(error)
        if is_started and not isinstance(result, types.GeneratorType):
            return result
        return _iterate(result, respond)

    def respond(
        self,
        error: Exception,
        environ: WSGIEnvironment,
        start_response: StartResponse,
    ) -> Iterable[bytes]:
        """Respond to an error in place of the application.

        For the errors of other middlewares in front of this one.
        """
        own = self.negotiation.headers_after(environ)
        return self._respond(error, environ, start_response, own)

    def _respond(
        self,
        error: Exception,
        environ: WSGIEnvironment,
        start_response: StartResponse,
        own: Headers,
        exc_info: Any = None,
    ) -> Iterable[bytes]:
        response = self.negotiation.error_response(error, environ, own)
        body = _send_json(
            environ, start_response, *response, exc_info=exc_info
        )
        self.negotiation.log(error, environ, response.status)
        return body


class Discovery(discovery.Middleware[WSGIApplication]):
    """WSGI middleware that serves both discovery documents to GET and HEAD."""

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        response = self.find(environ)
        if response is None:
            return self.app(environ, start_response)
        return _send_json(environ, start_response, *response)


def _send_json(
    environ: WSGIEnvironment,
    start_response: StartResponse,
    status: int,
    document: Any,
    headers: Iterable[tuple[str, str]] = (),
    exc_info: Any = None,
) -> Iterable[bytes]:
    """Send a JSON document; without content for HEAD.

    :param headers: further headers of the response
    :param exc_info: see PEP 3333; required if a response was started before
    """
    body = json.dumps(document).encode()
    start_response(
        status_line(status),
        [
            ('Content-Type', 'application/json'),
            ('Content-Length', str(len(body))),
            *headers,
        ],
        exc_info,
    )
    return [] if environ.get('REQUEST_METHOD') == 'HEAD' else [body]


def _iterate(
    result: Iterable[bytes], respond: Callable[[Exception], Iterable[bytes]]
) -> Iterator[bytes]:
    """Yield the parts of a response that a generator creates.

    :param respond: returns the parts of the response to an error
    """
    try:
        yield from result
    except Exception as error:  # noqa: BLE001 - respond() raises others
        yield from respond(error)
    finally:
        if hasattr(result, 'close'):
            result.close()
