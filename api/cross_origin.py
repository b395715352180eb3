# SPDX-License-Identifier: Apache-2.0
"""Cross-origin resource sharing: ``[cors]`` of oslo.middleware.

Without ``allowed_origin`` the application is returned unchanged.
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

#: Headers and methods that clients of this API use. Tokens have their own
#: header, so browsers need not send cookies or other credentials.
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


def allowed_origins(conf: cfg.ConfigOpts) -> list[str]:
    """Return the allowed origins; ``*`` allows any."""
    conf.register_opts(cors.OPTS, group=GROUP)
    return list(conf[GROUP].allowed_origin or ())


def with_cors(app: WSGIApplication, conf: cfg.ConfigOpts) -> WSGIApplication:
    """Wrap the application in CORS if any origin is allowed."""
    if not allowed_origins(conf):
        return app
    for name, value in DEFAULTS.items():
        conf.set_default(name, value, GROUP)
    wrapped: WSGIApplication = cors.CORS(_Preflights(app), conf)
    return wrapped


class _Preflights:
    """Answer preflight requests before they are rejected.

    The CORS middleware around it adds the allowed methods and headers, if any.
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
