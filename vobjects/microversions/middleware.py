# SPDX-License-Identifier: Apache-2.0
"""WSGI middleware that negotiates the version of each request.

::

    application = Microversions(Discovery(app, POLICY), POLICY)

The middleware needs no framework. It sets ``version_policy.MICROVERSION`` and
``version_policy.MAXIMUM`` in the environ, and adds the headers of the
:class:`~vobjects.microversions.negotiation.Negotiation` to every response,
including errors of the application.

If the application raises an :class:`~vobjects.microversions.errors.ApiError`,
the middleware responds with its document. Controllers raise errors, and
frameworks need not know their format. It also responds to the errors of
:mod:`vobjects.rpc` about live servers: 406 if one is too old for a request
(LossyDowngrade, UnsupportedType), 503 if there is none (NoLivePeer). Other
exceptions pass through to the server.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from vobjects.microversions import errors
from vobjects.microversions.json_response import send_json
from vobjects.microversions.negotiation import Headers, Negotiation
from vobjects.microversions.version_policy import MICROVERSION, VersionPolicy
from vobjects.versions import Maximum

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )


class Microversions:
    """WSGI middleware that negotiates versions and marks responses.

    :param app: the application
    :param policy: version policy of the service
    :param maximum: function that returns the highest version served now;
        called once per request, it must be fast and thread-safe. None: always
        the policy's maximum, for a service without separate engines
    """

    def __init__(
        self,
        app: WSGIApplication,
        policy: VersionPolicy,
        maximum: Callable[[], Maximum] | None = None,
    ) -> None:
        self.app = app
        self.policy = policy
        self.negotiation = Negotiation(policy, maximum)

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        negotiation = self.negotiation
        own, rejection = negotiation.negotiate(environ)
        if rejection is not None:
            return self._respond(rejection, environ, start_response, own)
        is_started = False

        def start_versioned(
            status: str, headers: Headers, exc_info: Any = None, /
        ) -> Callable[[bytes], object]:
            nonlocal is_started
            is_started = True
            return start_response(
                status, negotiation.add(headers, own), exc_info
            )

        try:
            return self.app(environ, start_versioned)
        except (errors.ApiError, *errors.FLEET_ERRORS) as error:
            return self._respond(
                errors.as_api_error(error, environ[MICROVERSION]),
                environ,
                start_response,
                own,
                # PEP 3333 requires exc_info if the application has already
                # started a response.
                sys.exc_info() if is_started else None,
            )

    def respond(
        self,
        error: errors.ApiError,
        environ: WSGIEnvironment,
        start_response: StartResponse,
    ) -> Iterable[bytes]:
        """Respond to an error in place of the application.

        For an outer middleware that converts exceptions.
        """
        own = self.negotiation.headers_after(environ)
        return self._respond(error, environ, start_response, own)

    def _respond(
        self,
        error: errors.ApiError,
        environ: WSGIEnvironment,
        start_response: StartResponse,
        own: Headers,
        exc_info: Any = None,
    ) -> Iterable[bytes]:
        response = self.negotiation.error_response(error, environ, own)
        return send_json(
            environ,
            start_response,
            response.status,
            response.document,
            response.headers,
            exc_info,
        )
