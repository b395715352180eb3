# SPDX-License-Identifier: Apache-2.0
"""Which certificates of a broker a connection accepts."""

from __future__ import annotations

import contextlib
import pathlib
import socket
import ssl
import threading
import urllib.parse
from collections.abc import Iterator
from typing import Any

import oslo_messaging
import pytest
from oslo_config import cfg
from oslo_messaging import opts

from oslo_messaging_pyamqp import broker_connection, settings
from tests.certificates import CertificateAuthority

ADDRESS = '127.0.0.1'
#: What a client of AMQP 0-9-1 sends first.
HEADER = b'AMQP\x00\x00\x09\x01'

ENFORCED = 'ssl_enforce_hostname_verification'
OFFERED = {
    option.name for _, options in opts.list_opts() for option in options
}


@contextlib.contextmanager
def broker(certificate: tuple[str, str]) -> Iterator[tuple[int, list[bytes]]]:
    """Run a server that closes each connection after its first bytes.

    :returns: its port, and the bytes that it has received
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    received: list[bytes] = []

    def serve() -> None:
        accepted, _ = listening.accept()
        with (
            contextlib.suppress(OSError),
            accepted,
            context.wrap_socket(accepted, server_side=True) as secure,
        ):
            received.append(secure.recv(len(HEADER)))

    with socket.create_server((ADDRESS, 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1], received
        thread.join()


def connect(port: int, **options: Any) -> OSError:
    """Connect, and return the error."""
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    query = urllib.parse.urlencode({'ssl': 'true', **options})
    url = oslo_messaging.TransportURL.parse(
        conf, f'pyamqp://guest:guest@{ADDRESS}:{port}/?{query}'
    )
    loaded = settings.Settings.load(conf, url)
    connection = broker_connection.BrokerConnection(
        loaded.hosts[0], loaded, lambda is_blocked: None
    )
    try:
        connection.connect()
    except OSError as error:
        return error
    finally:
        connection.collect()
    raise AssertionError('the server closes each connection')


@pytest.mark.parametrize('authorities', ['file', 'system'])
@pytest.mark.parametrize(
    ('signed_by', 'names', 'enforced', 'is_accepted'),
    [
        ('ca', ADDRESS, True, True),
        ('ca', ADDRESS, False, True),
        ('ca', '127.0.0.2', True, False),
        ('ca', '', True, False),
        ('ca', '127.0.0.2', False, True),
        ('other', ADDRESS, True, False),
        ('other', ADDRESS, False, False),
    ],
)
def test_certificate_must_be_trusted_and_name_the_host(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    authorities: str,
    signed_by: str,
    names: str,
    enforced: bool,
    is_accepted: bool,
) -> None:
    if not enforced and ENFORCED not in OFFERED:
        pytest.skip(f'this release of oslo.messaging has no {ENFORCED}')
    trusted = CertificateAuthority(tmp_path)
    signers = {
        'ca': trusted,
        'other': CertificateAuthority(tmp_path, 'other'),
    }
    options: dict[str, Any] = {}
    if ENFORCED in OFFERED:
        options[ENFORCED] = enforced
    if authorities == 'file':
        options['ssl_ca_file'] = trusted.file
    else:
        monkeypatch.setenv('SSL_CERT_FILE', str(trusted.file))
    certificate = signers[signed_by].sign('broker', names)
    with broker(certificate) as (port, received):
        error = connect(port, **options)
    assert received == ([HEADER] if is_accepted else [])
    assert isinstance(error, ssl.SSLCertVerificationError) != is_accepted
