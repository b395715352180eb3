# SPDX-License-Identifier: Apache-2.0
"""ASGI middleware: negotiation and discovery, as for WSGI.

::

    application = Microversions(Discovery(app, POLICY), POLICY)

    app = fastapi.FastAPI()
    add_microversions(app, POLICY)

FastAPI and Starlette respond to unknown exceptions with 500 before they raise
them to an outer application. Use :func:`add_microversions`, as above, or
``add_middleware``, so that each error of a handler reaches the middlewares.

:class:`Microversions` adds three keys to the scope: the negotiated version
(``version_policy.MICROVERSION``), the maximum (``version_policy.MAXIMUM``) and
an environ as in WSGI (``version_policy.ENVIRON``). The decorators and
functions of :mod:`vobjects.controllers` read them: pass them the framework's
request or the scope.

Websockets and lifespan events pass through.
"""

from __future__ import annotations

import asyncio
import functools
import json
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any, NoReturn

from vobjects.microversions import (
    application_errors,
    discovery,
    errors,
    json_body,
)
from vobjects.microversions.error_formats import status_phrase
from vobjects.microversions.negotiation import (
    REQUEST_ID,
    Environ,
    Headers,
    Middleware,
)
from vobjects.microversions.version_policy import (
    ENVIRON,
    MAXIMUM,
    MICROVERSION,
    VersionPolicy,
    environ_key,
)
from vobjects.versions import Maximum

if TYPE_CHECKING:
    from starlette.applications import Starlette

__all__ = ['Discovery', 'Microversions', 'add_microversions']

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Seconds in which a client has to send a request body.
BODY_TIMEOUT = 60.0


class Microversions(Middleware[Application]):
    """ASGI middleware that negotiates versions and marks responses.

    It responds to errors of the application as
    :mod:`vobjects.microversions.middleware` does. If the response has started,
    it raises them to the server.

    Until ``maximum`` has returned a version, it runs in a worker thread, where
    it may wait for a server. From then on it runs in the event loop.
    """

    _has_maximum = False

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if scope['type'] != 'http':
            await self.app(scope, receive, send)
            return
        environ = environ_from(scope)
        own, rejection = await self._negotiate(environ)
        if rejection is not None:
            response = self.negotiation.error_response(rejection, environ, own)
            await _send_json(environ, send, *response)
            return
        is_started = False

        async def send_versioned(message: Message) -> None:
            nonlocal is_started
            if message['type'] == 'http.response.start':
                is_started = True
                headers = [
                    (key.decode('latin-1'), value.decode('latin-1'))
                    for key, value in message.get('headers', ())
                ]
                added = self.negotiation.add(headers, own)
                message = {**message, 'headers': _encode(added)}
            await send(message)

        versioned_scope = {
            **scope,
            ENVIRON: environ,
            MICROVERSION: environ[MICROVERSION],
            MAXIMUM: environ[MAXIMUM],
        }
        try:
            try:
                await self.app(versioned_scope, receive, send_versioned)
            except asyncio.CancelledError as error:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                raise RuntimeError('awaited a cancelled task') from error
        except Exception as error:
            if is_started or not self.negotiation.handles(error):
                raise
            response = self.negotiation.error_response(error, environ, own)
            self.negotiation.log(error, environ, response.status)
            await _send_json(environ, send, *response)

    async def _negotiate(
        self, environ: Environ
    ) -> tuple[Headers, errors.ApiError | None]:
        if self._has_maximum or not self.negotiation.asks_maximum:
            return self.negotiation.negotiate(environ)
        result = await asyncio.to_thread(self.negotiation.negotiate, environ)
        self._has_maximum = not isinstance(
            result[1], application_errors.NoServer
        )
        return result


class Discovery(discovery.Middleware[Application]):
    """ASGI middleware that serves both discovery documents to GET and HEAD."""

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        environ = scope.get(ENVIRON, {})
        response = self.find(environ) if environ else None
        if response is not None:
            await _send_json(environ, send, *response)
        else:
            await self.app(scope, receive, send)


def add_microversions(
    app: Starlette,
    policy: VersionPolicy,
    maximum: Callable[[], Maximum] | None = None,
) -> None:
    """Add both middlewares to an application of Starlette or FastAPI.

    The errors of the framework, too, get the format of the policy: this
    function sets the application's exception handlers of ``HTTPException``,
    which reports unknown paths and methods, and of FastAPI's
    ``RequestValidationError``. Call it once, before the first request.

    :param app: the application
    :param policy: version policy of the service
    :param maximum: see :class:`Microversions`
    """
    # Only applications of Starlette need it.
    from starlette.exceptions import HTTPException
    from starlette.responses import Response

    async def respond(request: Any, error: Any) -> Response:
        status = error.status_code
        if status in application_errors.ERROR_STATUSES:
            # Without a text of the application, it is the phrase of the
            # status.
            detail = error.detail
            if detail == status_phrase(status):
                detail = ''
            raise application_errors.HttpError(status, detail, error.headers)
        # A redirection, for example, is no error.
        return Response(status_code=status, headers=error.headers)

    app.add_exception_handler(HTTPException, respond)
    # An application of FastAPI exists only if this module is loaded.
    if fastapi_exceptions := sys.modules.get('fastapi.exceptions'):
        app.add_exception_handler(
            fastapi_exceptions.RequestValidationError, _raise_invalid
        )
    # The middleware added last receives the request first.
    app.add_middleware(Discovery, policy=policy)
    app.add_middleware(Microversions, policy=policy, maximum=maximum)


async def _raise_invalid(request: Any, error: Any) -> NoReturn:
    first = error.errors()[0]
    path = '.'.join(map(str, first['loc']))
    raise errors.ValidationError(path, first['msg'])


async def read_body(
    receive: Receive,
    max_bytes: int = json_body.MAX_BYTES,
    timeout: float = BODY_TIMEOUT,
) -> bytes:
    """Read the body of a request, bounded in size and time.

    :param receive: ``receive`` of the ASGI application; Starlette's request
        has it as ``request.receive``
    :param max_bytes: maximum length of the body; the rest is not read
    :param timeout: seconds in which the client has to send the body
    :raises vobjects.microversions.errors.BodyTooLarge: the body is longer
    :raises vobjects.microversions.errors.BodyTimeout: the body is not complete
        in time
    :raises vobjects.microversions.errors.MalformedBody: the client has
        disconnected
    """
    body = bytearray()
    try:
        async with asyncio.timeout(timeout):
            while True:
                message = await receive()
                if message['type'] == 'http.disconnect':
                    raise errors.MalformedBody(
                        'The request body is incomplete.'
                    )
                body += message.get('body', b'')
                if len(body) > max_bytes:
                    raise errors.BodyTooLarge(
                        f'The request body has more than {max_bytes} bytes,'
                        ' which is the maximum.'
                    )
                if not message.get('more_body', False):
                    return bytes(body)
    except TimeoutError:
        raise errors.BodyTimeout(
            f'The request body was not complete after {timeout:g} seconds.'
        ) from None


def environ_from(scope: Scope) -> dict[str, Any]:
    """Return the environ of a request, as WSGI defines it (PEP 3333).

    It has no streams, and nothing of the connection's client. A request id in
    the scope, set by an outer middleware, is kept. The values of a repeated
    header are joined with commas, those of Cookie with semicolons (RFC 9113,
    section 8.2.3). Headers whose name has an underscore are dropped: in an
    environ they would look like those with a hyphen, which proxies remove or
    set.

    :param scope: HTTP scope of the request
    """
    root = scope.get('root_path', '').rstrip('/')
    path = scope['path']
    if root and (path == root or path.startswith(f'{root}/')):
        path = path[len(root) :]
    host, port = scope.get('server') or ('localhost', None)
    environ: dict[str, Any] = {
        'REQUEST_METHOD': scope['method'],
        'SCRIPT_NAME': _wsgi_text(root),
        'PATH_INFO': _wsgi_text(path),
        'QUERY_STRING': scope.get('query_string', b'').decode('latin-1'),
        'SERVER_NAME': host,
        'SERVER_PORT': str(port or 80),
        'wsgi.url_scheme': scope.get('scheme', 'http'),
    }
    if REQUEST_ID in scope:
        environ[REQUEST_ID] = scope[REQUEST_ID]
    for name, value in scope.get('headers', ()):
        if b'_' in name:
            continue
        key = _header_key(name)
        text = value.decode('latin-1')
        if key in environ:
            separator = '; ' if name == b'cookie' else ','
            text = f'{environ[key]}{separator}{text}'
        environ[key] = text
    return environ


@functools.lru_cache(maxsize=256)
def _header_key(name: bytes) -> str:
    key = environ_key(name.decode('latin-1'))
    return _UNPREFIXED.get(key, key)


#: The keys of these headers have no prefix.
_UNPREFIXED = {
    'HTTP_CONTENT_TYPE': 'CONTENT_TYPE',
    'HTTP_CONTENT_LENGTH': 'CONTENT_LENGTH',
}


def _wsgi_text(text: str) -> str:
    # WSGI strings are bytes decoded as Latin-1 (PEP 3333).
    return text.encode('utf-8', 'surrogatepass').decode('latin-1')


async def _send_json(
    environ: Environ,
    send: Send,
    status: int,
    document: Any,
    headers: Headers | tuple[()] = (),
) -> None:
    """Send a JSON document; without content for HEAD."""
    body = json.dumps(document).encode()
    all_headers = [
        ('content-type', 'application/json'),
        ('content-length', str(len(body))),
        *headers,
    ]
    await send(
        {
            'type': 'http.response.start',
            'status': status,
            'headers': _encode(all_headers),
        }
    )
    if environ['REQUEST_METHOD'] == 'HEAD':
        body = b''
    await send({'type': 'http.response.body', 'body': body})


def _encode(headers: Headers) -> list[tuple[bytes, bytes]]:
    # ASGI requires names in lower case.
    return [
        (name.lower().encode('latin-1'), value.encode('latin-1'))
        for name, value in headers
    ]
