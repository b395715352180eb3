# SPDX-License-Identifier: Apache-2.0
"""Reject requests that web pages of other sites make a browser send.

A browser on the API's machine or network sends requests for any page that it
displays. Two middlewares stop such pages: :class:`TrustedHosts` prevents DNS
rebinding, :class:`CrossOriginProtection` prevents cross-site request forgery.
Clients other than browsers send neither ``Origin`` nor ``Sec-Fetch-Site``, so
:class:`CrossOriginProtection` does not affect them. :func:`with_cors` allows
the pages of the origins in ``[cors] allowed_origin``.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import urllib.parse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from oslo_config import cfg
from oslo_middleware import cors

from api import conf as api_conf
from api import errors
from vobjects import exceptions

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

CORS = 'cors'

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

#: Strategies that accept requests as a browser sends them for any page.
AMBIENT_AUTH = frozenset({'none', 'http_basic'})

_SAFE = frozenset({'GET', 'HEAD', 'OPTIONS'})

_ORIGIN = 'HTTP_ORIGIN'
_SITE = 'HTTP_SEC_FETCH_SITE'

#: A name or address with an optional port (RFC 9110, section 7.2).
_HOST = re.compile(r"([\w.~%!$&'()*+;=-]+|\[[\da-f:.]+\])(:\d*)?", re.A | re.I)


def is_from_page(environ: WSGIEnvironment) -> bool:
    """Return whether a web page, rather than a program, sent the request."""
    return _ORIGIN in environ or _SITE in environ


class TrustedHosts:
    """WSGI middleware that checks the header ``Host``.

    A site whose name resolves to the API's address (DNS rebinding) can read
    responses and send any request, but cannot choose ``Host``. Without
    authentication, the API therefore serves only known names.

    :param conf: with the options of ``api.conf``
    """

    def __init__(self, app: WSGIApplication, conf: cfg.ConfigOpts) -> None:
        self.app = app
        self._any_name = conf.api.auth_strategy != 'none'
        self._any_address = conf.api.none_beyond_loopback
        public = urllib.parse.urlsplit(conf.api.public_endpoint or '').hostname
        names = [conf.api.host, public or '', *conf.api.allowed_hosts]
        if self._any_address:
            names.append(socket.gethostname())
        self._names = frozenset(map(_normal, names)) - {''}

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        """Serve the request.

        :raises api.errors.MalformedHost: Host is neither name nor address
        :raises api.errors.UnknownHost: Host is not a name of this API
        """
        header = environ.get('HTTP_HOST', '')
        if header:
            self._check(header)
        return self.app(environ, start_response)

    def _check(self, header: str) -> None:
        match = _HOST.fullmatch(header)
        if match is None:
            raise errors.MalformedHost(
                f'The header Host, {exceptions.cut(header)}, must be one name'
                ' or address, optionally with a port.'
            )
        if self._any_name:
            return
        name = _normal(match[1])
        if name not in self._names and not self._is_address(name):
            raise errors.UnknownHost(
                f'{exceptions.cut(name)} is not a known name of this API,'
                ' which has no authentication; add it to [api] allowed_hosts'
                ' in the configuration, or use a loopback address.'
            )

    def _is_address(self, name: str) -> bool:
        if api_conf.is_loopback(name):
            return True
        # Rebinding needs a name, so addresses are safe.
        try:
            return bool(self._any_address and ipaddress.ip_address(name))
        except ValueError:
            return False


class CrossOriginProtection:
    """WSGI middleware that rejects changes requested by other sites' pages.

    :param conf: with the options of ``api.conf``; ``[cors]`` allows further
        origins
    """

    def __init__(self, app: WSGIApplication, conf: cfg.ConfigOpts) -> None:
        self.app = app
        self._allowed = frozenset(allowed_origins(conf))
        public = urllib.parse.urlsplit(conf.api.public_endpoint or '')
        self._public = public.netloc.lower()

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        """Serve the request.

        :raises api.errors.CrossOrigin: a page of another site sent it
        """
        if environ['REQUEST_METHOD'] not in _SAFE and is_from_page(environ):
            self._check(environ)
        return self.app(environ, start_response)

    def _check(self, environ: WSGIEnvironment) -> None:
        origin = environ.get(_ORIGIN)
        if {origin, '*'} & self._allowed:
            return
        site = environ.get(_SITE, 'none').lower()
        if origin is None or self._is_own(origin, environ):
            if site not in ('cross-site', 'same-site'):
                return
            origin = origin or f'another ({site})'
        raise errors.CrossOrigin(
            f'A page of the origin {exceptions.cut(origin)} sent this request;'
            ' only pages of this API and of the origins in [cors]'
            ' allowed_origin may send requests that change something.'
        )

    def _is_own(self, origin: str, environ: WSGIEnvironment) -> bool:
        authority = origin.partition('://')[2].lower()
        host = environ.get('HTTP_HOST', '').lower()
        return bool(authority) and authority in (host, self._public)


def _normal(name: str) -> str:
    return name.strip('[]').rstrip('.').lower()


def allowed_origins(conf: cfg.ConfigOpts) -> list[str]:
    """Return the allowed origins; ``*`` allows any."""
    conf.register_opts(cors.OPTS, group=CORS)
    return list(conf[CORS].allowed_origin or ())


def with_cors(app: WSGIApplication, conf: cfg.ConfigOpts) -> WSGIApplication:
    """Wrap the application in CORS if ``[cors]`` allows any origin."""
    if not allowed_origins(conf):
        return app
    for name, value in DEFAULTS.items():
        conf.set_default(name, value, CORS)
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
