# SPDX-License-Identifier: Apache-2.0
"""Requests that no HTTP library would send.

Valid HTTP gets a document. For anything else, the server sends a status
without a body or closes the connection; it never sends a 5xx or nothing.
``test_granian`` has chunked and slow bodies, joined header lines and HEAD.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import urllib.parse

import pytest

from tests import api_sig, machine_speed
from tests.functional.deployments import Deployment, embedded_sqlite_only
from tests.functional.rest import RestClient

pytestmark = embedded_sqlite_only

#: Timeout of responses in seconds.
TIMEOUT = 120 * machine_speed.scale()

#: Seconds without a response after which the server may expect more data.
SILENCE = 2


def connect(service: Deployment) -> socket.socket:
    parts = urllib.parse.urlsplit(service.url)
    return socket.create_connection(
        (parts.hostname or '', parts.port or 0), timeout=TIMEOUT
    )


def exchange(service: Deployment, raw: bytes, *, whole: bool = False) -> bytes:
    """Send bytes and return all data until the end of the connection.

    :param whole: the bytes are complete requests, the last of which closes
        the connection; otherwise, the server may expect more data, and the
        sending side is closed after some time
    """
    with connect(service) as connection:
        with contextlib.suppress(
            OSError
        ):  # the server may have responded already
            connection.sendall(raw)
        received = b''
        with contextlib.suppress(ConnectionResetError):
            if not whole:
                connection.settimeout(SILENCE)
                with contextlib.suppress(TimeoutError):
                    while part := connection.recv(65536):
                        received += part
                    return received
                connection.settimeout(TIMEOUT)
                connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                received += part
    return received


def read(response: bytes) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of the (first) response."""
    head, _, body = response.partition(b'\r\n\r\n')
    status, *lines = head.decode('latin-1').split('\r\n')
    headers = {}
    for line in lines:
        name, _, value = line.partition(':')
        headers[name.lower()] = value.strip()
    length = int(headers.get('content-length', len(body)))
    return int(status.split()[1]), headers, body[:length]


def ask(
    service: Deployment,
    method: bytes = b'GET',
    path: bytes = b'/v1/clusters',
    *lines: bytes,
    body: bytes = b'',
) -> tuple[int, dict[str, str], bytes]:
    head = b'\r\n'.join(
        (method + b' ' + path + b' HTTP/1.1', b'Host: localhost',
         b'Connection: close', *lines)
    )  # fmt: skip
    return read(exchange(service, head + b'\r\n\r\n' + body, whole=True))


def assert_document(status: int, headers: dict[str, str], body: bytes) -> None:
    api_sig.assert_error_document(json.loads(body), status, headers)


@pytest.mark.parametrize(
    'raw',
    [
        b'pony\r\n\r\n',
        b'GET\r\n\r\n',
        b'GET /\r\n\r\n',
        b'GET / HTTP/9.9\r\n\r\n',
        b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + b'\0' * 200,
        b'\0' * 1000,
        b'GET / HTTP/1.1\r\nno colon here\r\n\r\n',
        b'GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: pony\r\n\r\n',
        b'GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n',
        b'GET /a b c HTTP/1.1\r\nHost: localhost\r\n\r\n',
        b'GET / HTTP/1.1\r\nHost: localhost\r\nBad\0Name: x\r\n\r\n',
        b'POST /v1/clusters HTTP/1.1\r\nHost: localhost\r\n'
        b'Transfer-Encoding: chunked\r\n\r\nzz\r\n',
        b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        b'',
    ],
)
def test_garbage_is_rejected_or_disconnected(
    service: Deployment, raw: bytes
) -> None:
    response = exchange(service, raw)

    if response:
        status, _headers, _body = read(response)
        assert 400 <= status < 500, response


def test_headers_when_many_or_long_are_rejected_or_served(
    service: Deployment,
) -> None:
    many = [b'X-%d: y' % number for number in range(500)]
    for lines in (
        many,
        [b'X-Long: ' + b'y' * 100_000],
        [b'X: ' + b'y' * 10**6],
    ):
        status, _headers, _body = ask(service, b'GET', b'/v1/clusters', *lines)
        assert status == 200 or 400 <= status < 500


def test_body_shorter_than_its_length_is_rejected_or_disconnected(
    service: Deployment,
) -> None:
    response = exchange(
        service,
        b'POST /v1/clusters HTTP/1.1\r\nHost: localhost\r\n'
        b'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{}',
    )

    if response:
        status, headers, body = read(response)
        assert status == 400
        if body:
            assert_document(status, headers, body)


def test_body_longer_than_its_length_is_cut(service: Deployment) -> None:
    response = exchange(
        service,
        b'POST /v1/clusters HTTP/1.1\r\nHost: localhost\r\n'
        b'Connection: close\r\n'
        b'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}{}{}',
        whole=True,
    )

    status, headers, body = read(response)
    assert status == 400
    assert_document(status, headers, body)
    assert b"'cluster' is required" in body


@pytest.mark.parametrize(
    ('path', 'status'),
    [
        (b'/v1/clusters/\xff\xfe', 400),
        (b'/v1/clusters/%', 404),
        (b'/v1/clusters/..', 404),
        (b'http://example.com/v1/clusters/no', 404),
        (b'*', 404),
        (b'/v1/clusters?%ff=%ff', 400),
        (b'/v1/clusters?\xff=1', 400),
        (b'/v1/clusters?name=a#fragment', 200),
    ],
)
def test_odd_path_gets_a_document(
    service: Deployment, path: bytes, status: int
) -> None:
    received, headers, body = ask(service, b'GET', path)

    # The server itself may reject an invalid path.
    if not body:
        assert received == 400
        return
    assert received == status, body
    if status >= 400:
        assert_document(received, headers, body)


def test_clients_that_disconnect_do_no_harm(
    service: Deployment, rest: RestClient
) -> None:
    raw = b'GET /v1/clusters HTTP/1.1\r\nHost: localhost\r\n\r\n'

    def hang_up() -> None:
        for _ in range(20):
            with connect(service) as connection:
                connection.sendall(raw)

    threads = [threading.Thread(target=hang_up) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    rest.get('/v1/clusters')
    service.group.assert_alive()


def test_requests_on_one_connection_are_answered_in_order(
    service: Deployment,
) -> None:
    paths = ['/v1/clusters', '/v1/nobody', '/', '/v1/profiles', '/v1']
    raw = ''.join(
        f'GET {path} HTTP/1.1\r\nHost: localhost\r\n'
        + ('Connection: close\r\n\r\n' if path == paths[-1] else '\r\n')
        for path in paths
    )

    response = exchange(service, raw.encode(), whole=True)

    statuses = []
    while response:
        status, headers, _body = read(response)
        statuses.append(status)
        head = response.index(b'\r\n\r\n') + 4
        response = response[head + int(headers['content-length']) :]
    assert statuses == [200, 404, 300, 200, 200]
