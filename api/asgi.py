# SPDX-License-Identifier: Apache-2.0
"""Run the WSGI application in an ASGI server.

:class:`Gateway` calls the application in threads, as a WSGI server does, but
waits for request bodies in the event loop. A slow body therefore delays its
own request only, and the server's end-of-body events tell a complete chunked
body from a truncated one, which ``wsgi.input`` cannot express.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import sys
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from api import errors, outbox, request_threads
from vobjects.microversions import errors as input_errors
from vobjects.microversions.asgi import environ_from

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

#: Requests per process that may wait for their bodies at the same time.
MAX_UPLOADS = 512

#: Bytes of a body to receive before calling the application. This saves nearly
#: all requests a switch from their thread back to the event loop.
EAGER_BYTES = 1 << 16

#: Each part (chunk or packet) of a body costs time in the event loop, however
#: short it is. Beyond the first ``FREE_PARTS``, the parts of a body must have
#: ``PART_BYTES`` bytes on average.
FREE_PARTS = 2_000
PART_BYTES = 64

#: Limits in bytes and seconds for discarding the part of a body that the
#: application did not read, so that the client can read the response.
MAX_DRAINED_BYTES = 1 << 24
DRAIN_SECONDS = 5.0

#: Each discarded part counts as this many bytes, at least: see FREE_PARTS.
DRAINED_PART_BYTES = 1 << 10


class Gateway:
    """ASGI application that calls a WSGI application in threads.

    A request counts towards ``threads`` while the application works on it, but
    not while it waits for its body.

    :param threads: requests that the application processes at the same time
    :param body_timeout: seconds within which a whole request body must arrive
    :param max_body_size: bytes; of a longer body, one byte more is read
    :param response_timeout: seconds within which a client must read the next
        part of a response
    :param max_waiting_bytes: bytes of responses that may wait for their
        clients
    """

    def __init__(
        self,
        app: WSGIApplication,
        *,
        threads: int,
        body_timeout: float,
        max_body_size: int,
        response_timeout: float,
        max_waiting_bytes: int,
    ) -> None:
        self.app = app
        self.body_timeout = body_timeout
        self.max_body_size = max_body_size
        self.waiting_uploads = 0
        self._outbox = outbox.Outbox(max_waiting_bytes, response_timeout)
        self.slots = asyncio.Semaphore(threads)
        # Enough for all slots and all uploads that wait.
        self._threads = request_threads.RequestThreads(threads + MAX_UPLOADS)

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        loop = asyncio.get_running_loop()
        body = _Body(self, loop, receive)
        try:
            environ = make_environ(scope, body)
            if body.read_headers(environ):
                await body.receive(EAGER_BYTES)
            async with self.slots:
                status, headers, content = await self._threads.call(
                    _call_app, self.app, environ
                )
            if body.failed:
                headers.append((b'connection', b'close'))
            await send(
                {
                    'type': 'http.response.start',
                    'status': status,
                    'headers': headers,
                }
            )
            await self._outbox.send(send, content, environ['REMOTE_ADDR'])
            await body.drain()
        finally:
            body.close()


class _Body:
    """``wsgi.input``: the body of a request.

    The first bytes are received before the application is called. The rest is
    received when the application reads it, which it does not do for callers
    that fail to authenticate.

    :ivar ended: nothing more will be received
    :ivar failed: why the body cannot be read to its end, or None
    """

    def __init__(
        self,
        gateway: Gateway,
        loop: asyncio.AbstractEventLoop,
        receive: Receive,
    ) -> None:
        self.ended = False
        self.failed: input_errors.ApiError | None = None
        self._gateway = gateway
        self._loop = loop
        self._receive = receive
        self._length: int | None = None
        self._expects_continue = False
        self._part_count = 0
        self._seconds_left = gateway.body_timeout
        self._received = bytearray()
        self._content: io.BytesIO | None = None

    def read_headers(self, environ: WSGIEnvironment) -> bool:
        """Read the length of the body from the headers.

        :returns: whether the client sends a body of acceptable size without
            waiting for ``100 Continue``
        """
        if 'HTTP_TRANSFER_ENCODING' not in environ:
            # The server has already rejected values that are not numbers.
            self._length = int(environ.get('CONTENT_LENGTH') or 0)
            self.ended = self._length == 0
        self._expects_continue = 'HTTP_EXPECT' in environ
        return not (
            self.ended
            or self._expects_continue
            or (self._length or 0) > self._gateway.max_body_size
        )

    def read(self, size: int = -1, /) -> bytes:
        return self._complete().read(size)

    def readline(self, size: int = -1, /) -> bytes:
        return self._complete().readline(size)

    def readlines(self, hint: int = -1, /) -> list[bytes]:
        return self._complete().readlines(hint)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._complete())

    def _complete(self) -> io.BytesIO:
        """Return the whole body; called from the application's thread.

        :raises vobjects.microversions.errors.BodyTimeout: it did not arrive in
            time
        :raises api.errors.TooManyUploads: too many requests wait for their
            bodies
        :raises vobjects.microversions.errors.MalformedBody: it broke off, or
            has too many small parts
        """
        if self._content is None:
            if not (self.ended or self.failed):
                asyncio.run_coroutine_threadsafe(
                    self._receive_rest(), self._loop
                ).result()
            if self.failed:
                raise self.failed
            self._content = io.BytesIO(self._received)
        return self._content

    async def _receive_rest(self) -> None:
        gateway = self._gateway
        if gateway.waiting_uploads >= MAX_UPLOADS:
            raise errors.TooManyUploads
        gateway.waiting_uploads += 1
        gateway.slots.release()
        try:
            await self.receive(gateway.max_body_size + 1)
        finally:
            gateway.waiting_uploads -= 1
            await gateway.slots.acquire()

    async def receive(self, max_bytes: int) -> None:
        """Receive until the body ends or ``max_bytes`` bytes have arrived."""
        start = self._loop.time()
        try:
            async with asyncio.timeout(self._seconds_left):
                while len(self._received) < max_bytes and not (
                    self.ended or self.failed
                ):
                    self._received += await self._next()
                    full_parts = len(self._received) // PART_BYTES
                    if self._part_count > FREE_PARTS + full_parts:
                        self._fail(
                            f'has too many small parts: {self._part_count}'
                            f' for {len(self._received)} bytes'
                        )
                    if len(self._received) == self._length:
                        self.ended = True
        except TimeoutError:
            self.ended = True
            self.failed = input_errors.BodyTimeout(
                'The request body must arrive within'
                f' {self._gateway.body_timeout:g} seconds ([api]'
                ' body_timeout).'
            )
        self._seconds_left -= self._loop.time() - start

    async def drain(self) -> None:
        """Discard the unread rest of the body, within limits."""
        if self.ended:
            return
        if self._expects_continue and not self._part_count:
            return  # the client is still waiting for 100 Continue
        remaining = MAX_DRAINED_BYTES
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while remaining > 0 and not self.ended:
                    part = await self._next()
                    remaining -= max(len(part), DRAINED_PART_BYTES)

    def close(self) -> None:
        """Receive nothing more.

        The server closes the connection only if nobody can receive the rest of
        the body. This object may exist until the next garbage collection.
        """
        self.ended = True
        self._receive = _disconnected

    async def _next(self) -> bytes:
        message = await self._receive()
        self._part_count += 1
        if message['type'] != 'http.request':
            self.ended = True
            self._fail('broke off before its end')
            return b''
        self.ended = not message.get('more_body', False)
        part: bytes = message.get('body', b'')
        return part

    def _fail(self, reason: str) -> None:
        self.failed = input_errors.MalformedBody(f'The request body {reason}.')


async def _disconnected() -> Message:
    return {'type': 'http.disconnect'}


def make_environ(scope: Scope, body: Any) -> WSGIEnvironment:
    """Return the WSGI environment of a request (PEP 3333).

    :param scope: ASGI connection scope, with ``raw_path``
    """
    environ = environ_from(scope)
    environ |= {
        # The scope's path has lost bytes that are not UTF-8.
        'PATH_INFO': unquote_to_bytes(scope['raw_path']).decode('latin-1'),
        'SERVER_PROTOCOL': (
            'HTTP/1.0' if scope['http_version'] in ('1', '1.0') else 'HTTP/1.1'
        ),
        'REMOTE_ADDR': (scope.get('client') or ('',))[0],
        'wsgi.version': (1, 0),
        'wsgi.input': body,
        'wsgi.input_terminated': True,
        'wsgi.errors': sys.stderr,
        'wsgi.multithread': True,
        'wsgi.multiprocess': True,
        'wsgi.run_once': False,
    }
    return environ


def _call_app(
    app: WSGIApplication, environ: WSGIEnvironment
) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Call the application, and return status, headers and body."""
    status, headers = 0, []

    def start_response(
        line: str,
        response_headers: list[tuple[str, str]],
        exc_info: Any = None,
    ) -> Any:
        nonlocal status, headers
        status = int(line[:3])
        headers = [
            (name.encode('latin-1'), value.encode('latin-1'))
            for name, value in response_headers
        ]
        return None

    parts = app(environ, start_response)
    try:
        content = b''.join(parts)
    finally:
        # Before the body is sent: slow clients must not hold what it reserves.
        getattr(parts, 'close', bytes)()
    return status, headers, content
