# SPDX-License-Identifier: Apache-2.0
"""Pages of other origins that may use the API: ``[cors]``, oslo.middleware's.

Without ``allowed_origin`` nothing here is in the way of a request.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from oslo_config import cfg
from oslo_middleware import cors

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

GROUP = 'cors'

#: What clients of this API send and read. Tokens are in a header of their
#: own, so browsers need not add what they know of the user.
DEFAULTS = {
    'allow_credentials': False,
    'allow_methods': ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    'allow_headers': [
        'Authorization',
        'OpenStack-API-Version',
        'X-Auth-Token',
        'X-OpenStack-Request-ID',
    ],
    'expose_headers': [
        'Location',
        'OpenStack-API-Version',
        'Retry-After',
        'WWW-Authenticate',
        'X-OpenStack-Request-ID',
    ],
}


def opened(app: WSGIApplication, conf: cfg.ConfigOpts) -> WSGIApplication:
    """Return the application, open to the origins that are configured."""
    conf.register_opts(cors.OPTS, group=GROUP)
    for name, value in DEFAULTS.items():
        conf.set_default(name, value, GROUP)
    if not conf[GROUP].allowed_origin:
        return app
    made: WSGIApplication = cors.CORS(_Preflights(app), conf)
    return made


class _Preflights:
    """Answers the questions of browsers, before they count as refused.

    The middleware around adds what is allowed, if anything is.
    """

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        if (
            environ['REQUEST_METHOD'] == 'OPTIONS'
            and 'HTTP_ORIGIN' in environ
            and 'HTTP_ACCESS_CONTROL_REQUEST_METHOD' in environ
        ):
            start_response('204 No Content', [])
            return []
        return self._app(environ, start_response)
