# SPDX-License-Identifier: Apache-2.0
"""The WSGI application behind the ASGI gateway, with scripted messages."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from api import asgi
from vobjects.microversions import errors as input_errors

PART = b'x' * (asgi.EAGER_BYTES // 2)


class Client:
    """Sends the parts of a body, then nothing.

    :param parts: None: the connection breaks
    """

    def __init__(self, parts: list[bytes | None], *, ends: bool) -> None:
        self.sent: list[bytes | None] = []
        self.messages: list[Any] = []
        self._parts = list(parts)
        self._ends = ends

    async def receive(self) -> asgi.Message:
        if not self._parts:
            await asyncio.Event().wait()
        part = self._parts.pop(0)
        self.sent.append(part)
        if part is None:
            return {'type': 'http.disconnect'}
        more = bool(self._parts) or not self._ends
        return {'type': 'http.request', 'body': part, 'more_body': more}

    async def send(self, message: asgi.Message) -> None:
        self.messages.append(message)

    @property
    def content(self) -> bytes:
        return b''.join(message['body'] for message in self.messages[1:])

    @property
    def status(self) -> int:
        status: int = self.messages[0]['status']
        return status


def scope(*headers: tuple[bytes, bytes], **changes: Any) -> asgi.Scope:
    return {
        'type': 'http',
        'http_version': '1.1',
        'method': 'POST',
        'scheme': 'http',
        'path': '/café/',
        'raw_path': b'/caf%C3%A9%2F',
        'query_string': b'a=%20b',
        'server': ('127.0.0.1', '8777'),
        'client': ('192.0.2.1', '1234'),
        'headers': list(headers),
        **changes,
    }


def gateway(app: Any, **limits: Any) -> asgi.Gateway:
    return asgi.Gateway(
        app,
        **{
            'threads': 1,
            'body_timeout': 60.0,
            'max_body_size': 1 << 20,
            'response_timeout': 5.0,
            'max_waiting_bytes': 1 << 20,
            **limits,
        },
    )


CHUNKED = (b'transfer-encoding', b'chunked')


def reject(environ: Any, start_response: Any) -> list[bytes]:
    start_response('401 Unauthorized', [])
    return []


def read(environ: Any, start_response: Any) -> list[bytes]:
    """Return the body, or name the error."""
    try:
        content = environ['wsgi.input'].read()
    except input_errors.ApiError as error:
        start_response(f'{error.status} Error', [])
        return [type(error).__name__.encode()]
    start_response('200 OK', [('X-Length', str(len(content)))])
    return [content]


def run(
    app: Any,
    client: Client,
    *headers: tuple[bytes, bytes],
    **limits: Any,
) -> None:
    served = gateway(app, **limits)
    asyncio.run(served(scope(*headers), client.receive, client.send))


def test_body_when_authentication_fails_is_received_only_in_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asgi, 'MAX_DRAINED_BYTES', 0)
    client = Client([PART] * 10, ends=True)
    run(reject, client, CHUNKED)
    assert client.status == 401
    assert len(client.sent) == 2


def test_body_when_unread_is_discarded_after_the_response() -> None:
    client = Client([PART] * 10, ends=True)
    run(reject, client, CHUNKED)
    assert len(client.sent) == 10


@pytest.mark.parametrize('length', [b'', str(len(PART) * 10).encode()])
def test_body_when_in_parts_arrives_whole(length: bytes) -> None:
    client = Client([PART] * 10, ends=True)
    header = (b'content-length', length) if length else CHUNKED
    run(read, client, header)
    assert client.status == 200
    assert client.content == PART * 10


@pytest.mark.parametrize(
    ('part_bytes', 'status'),
    [
        (1, input_errors.MalformedBody.status),
        (asgi.PART_BYTES // 2, input_errors.MalformedBody.status),
        (asgi.PART_BYTES, 200),
    ],
)
def test_body_when_in_many_parts_needs_larger_ones(
    part_bytes: int, status: int
) -> None:
    client = Client([b' ' * part_bytes] * asgi.FREE_PARTS * 3, ends=True)
    run(read, client, CHUNKED)
    assert client.status == status


@pytest.mark.parametrize('parts', [[b'{}'], [PART] * 3])
def test_body_when_it_does_not_end_times_out(
    parts: list[bytes | None],
) -> None:
    client = Client(parts, ends=False)
    run(read, client, CHUNKED, body_timeout=0.2)
    assert client.status == input_errors.BodyTimeout.status
    assert (b'connection', b'close') in client.messages[0]['headers']


@pytest.mark.parametrize('parts', [[b'{}', None], [PART, PART, PART, None]])
def test_body_when_it_breaks_off_is_an_error(
    parts: list[bytes | None],
) -> None:
    client = Client(parts, ends=False)
    run(read, client, CHUNKED)
    assert client.messages[1]['body'] == b'MalformedBody'
    assert (b'connection', b'close') in client.messages[0]['headers']


def test_request_when_it_waits_for_its_body_takes_no_thread() -> None:
    finished = threading.Event()

    def app(environ: Any, start_response: Any) -> list[bytes]:
        if environ['REQUEST_METHOD'] == 'GET':
            finished.set()
        return read(environ, start_response)

    async def serve() -> tuple[Client, Client]:
        served = gateway(app, body_timeout=60)
        slow, quick = Client([PART] * 3, ends=False), Client([], ends=True)
        waiting = asyncio.create_task(
            served(scope(CHUNKED), slow.receive, slow.send)
        )
        while not served.waiting_uploads:
            await asyncio.sleep(0.01)
        await served(scope(method='GET'), quick.receive, quick.send)
        assert not waiting.done()
        slow._parts.append(None)
        waiting.cancel()
        return slow, quick

    _, quick = asyncio.run(serve())
    assert quick.status == 200
    assert finished.is_set()


def test_environ_has_path_query_and_headers() -> None:
    environ = asgi.make_environ(
        scope(
            (b'host', b'h'),
            (b'x-list', b'a'),
            (b'x-list', b'b'),
            (b'cookie', b'a=1'),
            (b'cookie', b'b=2'),
            (b'x_list', b'evil'),
            (b'content_type', b'evil'),
            (b'content-type', b'application/json'),
            http_version='1',
        ),
        None,
    )
    assert environ['PATH_INFO'] == '/café/'.encode().decode('latin-1')
    assert environ['QUERY_STRING'] == 'a=%20b'
    assert environ['SERVER_PROTOCOL'] == 'HTTP/1.0'
    assert environ['REMOTE_ADDR'] == '192.0.2.1'
    assert environ['CONTENT_TYPE'] == 'application/json'
    assert environ['HTTP_X_LIST'] == 'a,b'
    assert environ['HTTP_COOKIE'] == 'a=1; b=2'
    assert 'evil' not in environ.values()


class Closed:
    """A body that notes how many messages had been sent when it was closed."""

    def __init__(self, client: Client, *, fails: bool) -> None:
        self.client = client
        self.fails = fails
        self.sent: list[int] = []

    def __iter__(self) -> Any:
        yield b'part'
        if self.fails:
            raise KeyError

    def close(self) -> None:
        self.sent.append(len(self.client.messages))


def test_response_is_closed_before_a_slow_client_reads_it() -> None:
    client = Client([b''], ends=True)
    body = Closed(client, fails=False)

    def respond(environ: Any, start_response: Any) -> Any:
        start_response('200 OK', [])
        return body

    run(respond, client)
    assert body.sent == [0]
    assert client.messages[1]['body'] == b'part'


def test_response_when_it_fails_is_closed() -> None:
    client = Client([b''], ends=True)
    body = Closed(client, fails=True)

    def respond(environ: Any, start_response: Any) -> Any:
        start_response('200 OK', [])
        return body

    with pytest.raises(KeyError):
        run(respond, client)
    assert body.sent == [0]
