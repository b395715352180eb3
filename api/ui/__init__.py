# SPDX-License-Identifier: Apache-2.0
"""``/ui``: a console for the browser.

It consists of the static files in this package. It requests its data from the
API with the signed-in user's permissions. The endpoints made for it are::

    /ui/session   GET: the caller, and the policy rules that allow the caller;
                  POST: sign in to Keystone; DELETE: sign out
    /ui/fleet     GET: the processes known to this one, for admins
    /ui/summary   GET: the numbers of resources by status
    /ui/rollback  GET: whether the previous release can read what is stored,
                  for admins

::

    fleet_groups  groups processes by manifest
    sign_in       exchanges a name and a password for a Keystone token
"""

from __future__ import annotations

import hashlib
import importlib.resources
import pathlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from api import errors, middleware, policy, request_body, routes
from api.authentication import Authenticate
from api.ui import fleet_groups
from vobjects import exceptions, objects
from vobjects.clustering.context import RequestContext
from vobjects.clustering.requests import services
from vobjects.objects import manifest
from vobjects.wire import dumps

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

    from api.ui.sign_in import KeystoneSignIn

PATH = '/ui'
FLEET_PATH = f'{PATH}/fleet'
ROLLBACK_PATH = f'{PATH}/rollback'
SESSION_PATH = f'{PATH}/session'
SUMMARY_PATH = f'{PATH}/summary'

_SLASH_PATH = f'{PATH}/'

_MEDIA_TYPES = {
    '.css': 'text/css; charset=utf-8',
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.svg': 'image/svg+xml',
}

_INDEX = 'index.html'


def _static_files() -> dict[str, tuple[bytes, str, str]]:
    """Return content, media type and ETag of the files by path."""
    directory = importlib.resources.files(__name__) / 'static'
    return {
        PATH if file.name == _INDEX else f'{PATH}/{file.name}': (
            content := file.read_bytes(),
            media_type,
            f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"',
        )
        for file in directory.iterdir()
        if (media_type := _MEDIA_TYPES.get(pathlib.Path(file.name).suffix))
    }


_STATIC_FILES = _static_files()

#: All paths that :func:`page` serves.
PATHS = (
    *_STATIC_FILES,
    FLEET_PATH,
    ROLLBACK_PATH,
    SESSION_PATH,
    SUMMARY_PATH,
    _SLASH_PATH,
)

#: The paths with methods other than reads.
WRITABLE_PATHS = (SESSION_PATH,)

#: Policy rule for reading the fleet, and the verdict about a rollback.
RULE = 'services:index'

#: Policy rules for reading the summary, which counts the items of these lists.
SUMMARY_RULES = ('clusters:index', 'nodes:index', 'actions:index')

_RULES = sorted({route.rule for route in routes.ROUTES})

#: Maximum bytes of a sign-in request.
_MAX_BODY_SIZE = 65536

#: The browser loads and runs only these files, and other sites cannot frame
#: them. Names of clusters therefore cannot inject scripts.
_SECURITY_HEADERS = [
    (
        'Content-Security-Policy',
        "default-src 'none'; script-src 'self'; style-src 'self';"
        " connect-src 'self'; img-src 'self'; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'",
    ),
    ('X-Content-Type-Options', 'nosniff'),
    ('Referrer-Policy', 'no-referrer'),
]


def page(
    fleet: Callable[[], dict[str, Any]],
    call: Callable[[RequestContext, objects.Request], Any],
    authenticate: Authenticate,
    enforcer: policy.Enforcer,
    sign_in: KeystoneSignIn | None = None,
    trace_url: str | None = None,
) -> WSGIApplication:
    """Return the application that serves :data:`PATHS`.

    :param fleet: returns the live processes as JSON data
    :param call: sends a request to an engine and returns its result
    :param authenticate: returns the context of the caller
    :param sign_in: None: callers cannot sign in here
    :param trace_url: finds the trace of ``{request_id}``
    """

    def read_fleet(environ: WSGIEnvironment) -> dict[str, Any]:
        enforcer.check(authenticate(environ), RULE)
        return fleet_groups.describe(fleet())

    def read_summary(environ: WSGIEnvironment) -> dict[str, Any]:
        caller = authenticate(environ)
        for rule in SUMMARY_RULES:
            enforcer.check(caller, rule)
        return ask(caller, services.SummaryRequest(), 'count')

    def read_rollback(environ: WSGIEnvironment) -> dict[str, Any]:
        caller = authenticate(environ)
        enforcer.check(caller, RULE)
        return ask(
            caller,
            services.RollbackVerdictRequest(),
            'tell what is stored; run "vobjects fleet can-roll-back"',
        )

    def ask(
        caller: RequestContext, question: objects.Request, purpose: str
    ) -> dict[str, Any]:
        try:
            answer = call(caller, question)
        except exceptions.UnsupportedType:
            return {
                'reason': f'An engine of an older release cannot {purpose}.'
            }
        return objects.to_json(answer, manifest.local())

    def read_session(environ: WSGIEnvironment) -> dict[str, Any]:
        caller = authenticate(environ)
        return {
            'user': caller.user_name or caller.user_id,
            'project': caller.project_name or caller.project_id,
            'can_sign_out': sign_in is not None,
            'trace_url': trace_url,
            'rules': [
                rule for rule in _RULES if enforcer.allows(caller, rule)
            ],
        }

    def change_session(environ: WSGIEnvironment) -> dict[str, Any]:
        method = environ['REQUEST_METHOD']
        if sign_in is None or method not in ('POST', 'DELETE'):
            raise errors.MethodNotAllowed(
                method,
                SESSION_PATH,
                'GET, HEAD' if sign_in is None else 'DELETE, GET, HEAD, POST',
            )
        if method == 'DELETE':
            sign_in.sign_out(environ)
            return {}
        body = request_body.read_json(environ, _MAX_BODY_SIZE)
        return sign_in.sign_in(environ, body)

    reads: Mapping[str, Callable[[WSGIEnvironment], dict[str, Any]]] = {
        FLEET_PATH: read_fleet,
        ROLLBACK_PATH: read_rollback,
        SESSION_PATH: read_session,
        SUMMARY_PATH: read_summary,
    }

    def serve(
        environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        path = environ['PATH_INFO']
        if path == _SLASH_PATH:
            # Links of the page are relative, to work behind proxy prefixes.
            start_response('308 Permanent Redirect', [('Location', '../ui')])
            return []
        if path in _STATIC_FILES:
            content, media_type, etag = _STATIC_FILES[path]
            headers = [
                ('ETag', etag),
                # Browsers must revalidate: after an upgrade, a cached script
                # must not run in the new page.
                ('Cache-Control', 'no-cache'),
                *_SECURITY_HEADERS,
            ]
            # RFC 9110, section 13.1.2
            cached = environ.get('HTTP_IF_NONE_MATCH', '').split(',')
            if etag in [tag.strip().removeprefix('W/') for tag in cached]:
                start_response('304 Not Modified', headers)
                return []
            return middleware.send_page(
                environ, start_response, content, media_type, headers
            )
        is_read = environ['REQUEST_METHOD'] in ('GET', 'HEAD')
        read = reads[path] if is_read else change_session
        return middleware.send_page(
            environ,
            start_response,
            dumps(read(environ)),
            'application/json',
            [('Cache-Control', 'no-store'), *_SECURITY_HEADERS],
        )

    return serve
