# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gzip
import pathlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from engine import http_client, service
from tests import certificates, http_server, memory_limit, raw_server
from tests.unit.engine.conftest import make_conf
from tests.unit.engine.engine_harness import Harness


@pytest.mark.parametrize('group', ['hooks', 'health_manager'])
def test_engine_with_an_invalid_network_does_not_start(
    harness: Harness, group: str
) -> None:
    harness.conf.set_override('forbidden_networks', ['10.0.0.0/99'], group)
    with pytest.raises(http_client.ConfigError, match=rf'\[{group}\].*/99'):
        service.Engine(harness.conf)


NETWORKS = ['127.0.0.0/8', '::1/128']


@pytest.mark.parametrize(
    'host',
    [
        '0.0.0.0',
        '0.1.2.3',
        '[::]',
        '[::ffff:127.0.0.1]',
        '[::ffff:7f00:1]',
        '[::ffff:0:127.0.0.1]',
        '[::127.0.0.1]',
        '[64:ff9b::127.0.0.1]',
        '[64:ff9b:1::127.0.0.1]',
        '[2002:7f00:1::1]',
        # Teredo: the client, inverted, and the server.
        '[2001:0:c000:201::80ff:fffe]',
        '[2001:0:7f00:1::3fff:fdfe]',
        '[::ffff:0.0.0.0]',
        '2130706433',
        '127.1',
        '0x7f.1',
        '127.0.0.1:1',
        '[::1]',
    ],
)
def test_address_that_leads_to_a_forbidden_one_is_rejected(host: str) -> None:
    with pytest.raises(http_client.OutgoingError, match='forbidden network'):
        http_client.check_url(NETWORKS, f'http://{host}/x', 'it', 60)


@pytest.mark.parametrize('host', ['nowhere.invalid', ''])
def test_unknown_host_is_rejected(host: str) -> None:
    with pytest.raises(http_client.OutgoingError, match='is unknown'):
        http_client.check_url(NETWORKS, f'http://{host}/x', 'it', 60)


@pytest.mark.parametrize(
    'host', ['192.0.2.1', '[2001:db8::1]', '[::ffff:192.0.2.1]']
)
def test_address_outside_the_networks_is_accepted(host: str) -> None:
    http_client.check_url(NETWORKS, f'http://{host}/x', 'it', 60)


@pytest.mark.parametrize(
    'group', ['hooks', 'health_manager', 'provider_docker']
)
@pytest.mark.parametrize(
    'host', ['127.0.0.1', '[::1]', '169.254.169.254', '[fe80::a9fe:a9fe]']
)
def test_loopback_and_link_local_are_forbidden_by_default(
    group: str, host: str
) -> None:
    conf = make_conf()
    with pytest.raises(http_client.OutgoingError, match='forbidden network'):
        http_client.check_url(
            conf[group].forbidden_networks, f'http://{host}/', 'it', 60
        )


@pytest.mark.parametrize(
    'trickle', [raw_server.trickle_head, raw_server.trickle_body]
)
def test_response_that_trickles_times_out(
    trickle: Callable[[threading.Event], raw_server.Reply],
) -> None:
    stop, ended = threading.Event(), threading.Event()

    def reply(connection: socket.socket, head: bytes) -> None:
        try:
            trickle(stop)(connection, head)
        except OSError:
            ended.set()

    with (
        raw_server.serving(reply) as port,
        http_client.session([], 'it', limit=1000) as session,
    ):
        with pytest.raises(
            http_client.OutgoingError, match=r'within 0\.5 sec'
        ):
            session.get(f'http://127.0.0.1:{port}/', timeout=0.5)
        # No thread is left that reads on.
        assert ended.wait(60)
        stop.set()


@pytest.mark.parametrize(
    'location', ['http://[', '/\xff\xfe', 'http://a\u2100b/']
)
def test_redirect_to_an_invalid_url_is_a_response(location: str) -> None:
    with (
        raw_server.serving(raw_server.redirecting(location)) as port,
        http_client.session([], 'it', limit=1000) as session,
    ):
        response = session.get(
            f'http://127.0.0.1:{port}/', timeout=60, allow_redirects=False
        )
    assert response.status_code == 302


def test_response_with_a_negative_chunk_size_is_a_connection_error() -> None:
    def reply(connection: socket.socket, head: bytes) -> None:
        connection.sendall(
            raw_server.OK + b'Transfer-Encoding: chunked\r\n\r\n-5\r\nx\r\n'
        )

    with (
        raw_server.serving(reply) as port,
        http_client.session([], 'it', limit=1000) as session,
        pytest.raises(requests.RequestException),
    ):
        session.get(f'http://127.0.0.1:{port}/', timeout=60)


def test_response_that_floods_is_cut_off_in_little_memory() -> None:
    with raw_server.serving(raw_server.flood) as port:
        printed = memory_limit.run(
            f"""
from engine import http_client as outgoing
with outgoing.session([], 'it', limit=1000) as session:
    url = 'http://127.0.0.1:{port}/'
    print(len(session.get(url, timeout=60).content))
""",
            memory=64 * 2**20,
        )
    assert printed == '1000\n'


def test_compressed_response_is_not_decompressed() -> None:
    bomb = gzip.compress(b'x' * 10_000_000)

    def reply(connection: socket.socket, head: bytes) -> None:
        assert b'Accept-Encoding: identity' in head
        connection.sendall(
            raw_server.OK
            + b'Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n'
            % len(bomb)
            + bomb
        )

    with (
        raw_server.serving(reply) as port,
        http_client.session([], 'it', limit=100_000) as session,
    ):
        response = session.get(f'http://127.0.0.1:{port}/', timeout=60)
    assert response.content == bomb


def test_credentials_of_netrc_are_not_sent(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / 'netrc'
    netrc.write_text('default login engine password secret\n')
    monkeypatch.setenv('NETRC', str(netrc))
    heads: list[bytes] = []

    def reply(connection: socket.socket, head: bytes) -> None:
        heads.append(head)
        raw_server.answering({})(connection, head)

    with (
        raw_server.serving(reply) as port,
        http_client.session([], 'it', limit=1000) as session,
    ):
        session.get(f'http://127.0.0.1:{port}/', timeout=60)
    assert b'uthorization' not in heads[0]


def test_response_by_a_proxy_times_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop = threading.Event()
    with (
        raw_server.serving(raw_server.trickle_body(stop)) as port,
        http_client.session(NETWORKS, 'it', limit=1000) as session,
    ):
        monkeypatch.setenv('http_proxy', f'http://127.0.0.1:{port}')
        with pytest.raises(
            http_client.OutgoingError, match=r'within 0\.5 sec'
        ):
            session.get('http://192.0.2.1/', timeout=0.5)
        stop.set()


class Served(http_server.Handler):
    """Responds with the Host header of the request."""

    def do_GET(self) -> None:  # noqa: N802
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.headers['Host'].encode())


@pytest.fixture
def port() -> Iterator[int]:
    with http_server.serving(Served) as port:
        yield port


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses of a name; each look-up returns the next one."""
    addresses: list[str] = []
    real = socket.getaddrinfo

    def resolve(host: Any, *arguments: Any, **options: Any) -> Any:
        address = addresses.pop(0) if host == 'rebound.example' else host
        return real(address, *arguments, **options)

    monkeypatch.setattr(socket, 'getaddrinfo', resolve)
    return addresses


def test_name_is_resolved_once_for_check_and_connection(
    port: int, resolved: list[str]
) -> None:
    resolved += ['127.0.0.1', '192.0.2.1']
    with http_client.session(['192.0.2.0/24'], 'it', limit=1000) as session:
        response = session.get(f'http://rebound.example:{port}/', timeout=60)
    assert response.text == f'rebound.example:{port}'
    assert resolved == ['192.0.2.1']


def test_name_in_a_forbidden_network_is_rejected(
    port: int, resolved: list[str]
) -> None:
    resolved += ['127.0.0.1']
    with (
        http_client.session(NETWORKS, 'it', limit=1000) as session,
        pytest.raises(
            http_client.OutgoingError, match='in a forbidden network'
        ),
    ):
        session.get(f'http://rebound.example:{port}/', timeout=60)


def test_name_is_checked_before_a_proxy_connects(
    port: int, resolved: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('http_proxy', f'http://127.0.0.1:{port}')
    resolved += ['192.0.2.1']
    with (
        http_client.session(['192.0.2.0/24'], 'it', limit=1000) as session,
        pytest.raises(
            http_client.OutgoingError, match='in a forbidden network'
        ),
    ):
        session.get('http://rebound.example/', timeout=60)


@pytest.mark.parametrize('name', ['rebound.example', 'other.example'])
def test_certificate_is_checked_against_the_name(
    tmp_path: pathlib.Path, resolved: list[str], name: str
) -> None:
    resolved += ['127.0.0.1']
    authority = certificates.CertificateAuthority(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.sign('server', name))
    with (
        http_server.serving(Served, context) as port,
        http_client.session([], 'it', limit=1000) as session,
    ):
        url = f'https://rebound.example:{port}/'
        if name == 'rebound.example':
            response = session.get(url, timeout=60, verify=str(authority.file))
            assert response.status_code == 200
        else:
            with pytest.raises(requests.exceptions.SSLError):
                session.get(url, timeout=60, verify=str(authority.file))


def test_refused_connection_is_an_error_of_requests(
    resolved: list[str],
) -> None:
    resolved += ['127.0.0.1']
    with (
        http_client.session([], 'it', limit=1000) as session,
        pytest.raises(requests.ConnectionError),
    ):
        session.get('http://rebound.example:1/', timeout=60)


def test_slow_call_times_out() -> None:
    never = threading.Event()
    with pytest.raises(
        http_client.OutgoingError, match=r'within 0\.01 seconds'
    ):
        http_client.call_with_timeout(0.01, lambda: never.wait(60), 'it')
    never.set()


def test_error_of_the_call_is_raised() -> None:
    def fail() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        http_client.call_with_timeout(60, fail, 'it')
    assert http_client.call_with_timeout(60, lambda: 1, 'it') == 1
