# SPDX-License-Identifier: Apache-2.0
"""``/ui``: a read-only page that shows clusters, actions and the fleet.

The page consists of three static files of this package. It requests its data
from the API with the signed-in user's permissions. The only endpoint made for
it is ``/ui/fleet``, which returns the processes known to this one, to admins.
"""

from __future__ import annotations

import dataclasses
import importlib.resources
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from api import context, policy, request_body
from vobjects.objects.codec.json_text import dumps

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

PATH = '/ui'
FLEET_PATH = f'{PATH}/fleet'

#: Path -> file of this package and its media type.
_FILES = {
    PATH: ('page.html', 'text/html; charset=utf-8'),
    f'{PATH}/page.css': ('page.css', 'text/css; charset=utf-8'),
    f'{PATH}/page.js': ('page.js', 'text/javascript; charset=utf-8'),
}

#: Policy rule for reading the fleet.
RULE = 'services:index'

#: The browser loads and runs only these files, and other sites cannot frame
#: them. Cluster names therefore cannot inject scripts.
_SAFE = [
    (
        'Content-Security-Policy',
        "default-src 'none'; script-src 'self'; style-src 'self';"
        " connect-src 'self'; img-src data:; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'",
    ),
    ('X-Content-Type-Options', 'nosniff'),
    ('Referrer-Policy', 'no-referrer'),
]


@dataclasses.dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    headers: list[tuple[str, str]]


class Pages:
    """WSGI middleware that serves the page.

    :param fleet: returns the live processes as JSON data
    :param may_see: raises an error if the caller may not read the fleet
    """

    def __init__(
        self,
        app: WSGIApplication,
        fleet: Callable[[], dict[str, Any]],
        may_see: Callable[[WSGIEnvironment], None],
    ) -> None:
        self.app = app
        self._fleet = fleet
        self._may_see = may_see
        self._files = {path: _read(*file) for path, file in _FILES.items()}

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        path = environ.get('PATH_INFO', '')
        if not path.startswith(PATH):
            return self.app(environ, start_response)
        if path == f'{PATH}/':
            # Links of the page are relative, to work behind proxy prefixes.
            start_response('308 Permanent Redirect', [('Location', '../ui')])
            return []
        served = self._files.get(path)
        if served is None and path != FLEET_PATH:
            return self.app(environ, start_response)
        request_body.only_read(environ, path)
        if served is None:
            served = self._fleet_for(environ)
        start_response('200 OK', [*served.headers])
        return [] if environ['REQUEST_METHOD'] == 'HEAD' else [served.content]

    def _fleet_for(self, environ: WSGIEnvironment) -> _File:
        self._may_see(environ)
        headers = [('Cache-Control', 'no-store')]
        return _file(dumps(self._fleet()), 'application/json', headers)


def access_check(
    authenticate: context.Authenticate, enforcer: policy.Enforcer
) -> Callable[[WSGIEnvironment], None]:
    """Return a function that rejects callers who may not see the fleet.

    It raises api.errors.Forbidden, or any error of ``authenticate``.
    """
    return lambda environ: enforcer.check(authenticate(environ), RULE)


def _read(name: str, media_type: str) -> _File:
    content = importlib.resources.files(__name__).joinpath(name).read_bytes()
    # Browsers must revalidate: after an upgrade, a cached script must not run
    # in the new page.
    return _file(content, media_type, [('Cache-Control', 'no-cache')])


def _file(
    content: bytes, media_type: str, headers: list[tuple[str, str]]
) -> _File:
    return _File(
        content,
        [
            ('Content-Type', media_type),
            ('Content-Length', str(len(content))),
            *headers,
            *_SAFE,
        ],
    )
