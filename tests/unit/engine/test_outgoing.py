# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import datetime
import http.server
import pathlib
import socket
import ssl
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from engine import outgoing, service
from tests.unit.engine import fleet


@pytest.mark.parametrize('group', ['hooks', 'health_manager'])
def test_engine_with_a_network_that_is_none_does_not_start(
    world: fleet.World, group: str
) -> None:
    world.conf.set_override('forbidden_networks', ['10.0.0.0/99'], group)
    with pytest.raises(outgoing.ConfigError, match=rf'\[{group}\].*/99'):
        service.Engine(world.conf)


NETWORKS = ['127.0.0.0/8', '::1/128']


@pytest.mark.parametrize(
    ('url', 'says'),
    [
        ('http://127.0.0.1:1/x', 'in a forbidden network'),
        ('http://[::1]/x', 'in a forbidden network'),
        ('http://nowhere.invalid/x', 'is unknown'),
        ('http:///x', 'is unknown'),
    ],
)
def test_url_in_a_forbidden_network_is_refused(url: str, says: str) -> None:
    with pytest.raises(outgoing.OutgoingError, match=says):
        outgoing.refuse_forbidden(NETWORKS, url, 'it')


def test_url_elsewhere_is_not_refused() -> None:
    outgoing.refuse_forbidden(NETWORKS, 'http://192.0.2.1/x', 'it')


class Served(http.server.BaseHTTPRequestHandler):
    """Answers with the name it was called by."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.headers['Host'].encode())

    def log_message(self, *arguments: Any) -> None:
        """Keep it to ourselves."""


@pytest.fixture
def port() -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Served)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have names lead to these addresses, each look-up to the next."""
    answers: list[str] = []
    real = socket.getaddrinfo

    def resolve(host: Any, *arguments: Any, **options: Any) -> Any:
        found = answers.pop(0) if host == 'rebound.example' else host
        return real(found, *arguments, **options)

    monkeypatch.setattr(socket, 'getaddrinfo', resolve)
    return answers


def test_name_is_looked_up_once_and_what_was_found_is_called(
    port: int, resolved: list[str]
) -> None:
    resolved += ['127.0.0.1', '192.0.2.1']
    with outgoing.session(['192.0.2.0/24'], 'it') as session:
        answer = session.get(f'http://rebound.example:{port}/', timeout=60)
    assert answer.text == f'rebound.example:{port}'
    assert resolved == ['192.0.2.1']


def test_name_that_leads_to_a_forbidden_network_is_not_called(
    port: int, resolved: list[str]
) -> None:
    resolved += ['127.0.0.1']
    with (
        outgoing.session(NETWORKS, 'it') as session,
        pytest.raises(outgoing.OutgoingError, match='in a forbidden network'),
    ):
        session.get(f'http://rebound.example:{port}/', timeout=60)


def test_name_that_a_proxy_calls_is_looked_at_before(
    port: int, resolved: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('http_proxy', f'http://127.0.0.1:{port}')
    resolved += ['192.0.2.1']
    with (
        outgoing.session(['192.0.2.0/24'], 'it') as session,
        pytest.raises(outgoing.OutgoingError, match='in a forbidden network'),
    ):
        session.get('http://rebound.example/', timeout=60)


@pytest.mark.parametrize('name', ['rebound.example', 'other.example'])
def test_certificate_is_held_against_the_name(
    tmp_path: pathlib.Path, resolved: list[str], name: str
) -> None:
    resolved += ['127.0.0.1']
    file = _certificate(tmp_path, name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Served)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    url = f'https://rebound.example:{server.server_port}/'
    try:
        with outgoing.session([], 'it') as session:
            if name == 'rebound.example':
                answer = session.get(url, timeout=60, verify=str(file))
                assert answer.status_code == 200
            else:
                with pytest.raises(requests.exceptions.SSLError):
                    session.get(url, timeout=60, verify=str(file))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _certificate(directory: pathlib.Path, name: str) -> pathlib.Path:
    """Return a file with a key and a certificate, which signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    file = directory / 'key-and-certificate.pem'
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return file


def test_nobody_there_is_an_error_of_requests(resolved: list[str]) -> None:
    resolved += ['127.0.0.1']
    with (
        outgoing.session([], 'it') as session,
        pytest.raises(requests.ConnectionError),
    ):
        session.get('http://rebound.example:1/', timeout=60)


def test_call_that_takes_too_long_is_not_waited_for() -> None:
    never = threading.Event()
    with pytest.raises(outgoing.OutgoingError, match=r'within 0\.01 seconds'):
        outgoing.within(0.01, lambda: never.wait(60), 'it')
    never.set()


def test_call_that_fails_fails() -> None:
    def fail() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        outgoing.within(60, fail, 'it')
    assert outgoing.within(60, lambda: 1, 'it') == 1
