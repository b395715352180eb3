# SPDX-License-Identifier: Apache-2.0
"""``/ui``: a read-only page that shows clusters, actions and the fleet.

The page consists of three static files of this package. It requests its data
from the API with the signed-in user's permissions. The only endpoint made for
it is ``/ui/fleet``, which returns the processes known to this one, to admins.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from api import middleware
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

_SLASH_PATH = f'{PATH}/'

#: All paths that :func:`page` serves.
PATHS = (*_FILES, FLEET_PATH, _SLASH_PATH)

#: Policy rule for reading the fleet.
RULE = 'services:index'

#: The browser loads and runs only these files, and other sites cannot frame
#: them. Cluster names therefore cannot inject scripts.
_SECURITY_HEADERS = [
    (
        'Content-Security-Policy',
        "default-src 'none'; script-src 'self'; style-src 'self';"
        " connect-src 'self'; img-src data:; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'",
    ),
    ('X-Content-Type-Options', 'nosniff'),
    ('Referrer-Policy', 'no-referrer'),
]


def page(
    fleet: Callable[[], dict[str, Any]],
    check_access: Callable[[WSGIEnvironment], None],
) -> WSGIApplication:
    """Return the application that serves :data:`PATHS`.

    :param fleet: returns the live processes as JSON data
    :param check_access: raises an error if the caller may not read the fleet
    """
    package = importlib.resources.files(__name__)
    files = {
        path: (package.joinpath(name).read_bytes(), media_type)
        for path, (name, media_type) in _FILES.items()
    }

    def serve(
        environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        path = environ['PATH_INFO']
        if path == _SLASH_PATH:
            # Links of the page are relative, to work behind proxy prefixes.
            start_response('308 Permanent Redirect', [('Location', '../ui')])
            return []
        if path == FLEET_PATH:
            check_access(environ)
            content, media_type = dumps(fleet()), 'application/json'
            cache = 'no-store'
        else:
            content, media_type = files[path]
            # Browsers must revalidate: after an upgrade, a cached script must
            # not run in the new page.
            cache = 'no-cache'
        return middleware.send_page(
            environ,
            start_response,
            content,
            media_type,
            [('Cache-Control', cache), *_SECURITY_HEADERS],
        )

    return serve
