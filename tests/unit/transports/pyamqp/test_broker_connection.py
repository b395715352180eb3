# SPDX-License-Identifier: Apache-2.0
"""The end of connections to RabbitMQ with TLS."""

from __future__ import annotations

import warnings

import oslo_messaging
import pytest
from amqp import transport as transports
from oslo_config import cfg

from oslo_messaging_pyamqp import broker_connection, settings


class Socket:
    """A TLS socket whose connection has been shut down."""

    is_closed = False

    def unwrap(self) -> None:
        raise ValueError('No SSL wrapper around')

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def connection() -> broker_connection.BrokerConnection:
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    url = oslo_messaging.TransportURL.parse(
        conf, 'pyamqp://guest:guest@localhost:1/?ssl=true'
    )
    loaded = settings.Settings.load(conf, url)
    return broker_connection.BrokerConnection(
        loaded.hosts[0], loaded, lambda is_blocked: None
    )


def test_collect_when_tls_is_shut_down_releases_everything(
    connection: broker_connection.BrokerConnection,
) -> None:
    sock = Socket()
    connection.transport = transport = transports.SSLTransport('localhost:1')
    transport.sock = sock
    connection.collect()
    assert sock.is_closed
    assert connection.channels is None


def test_collect_without_a_transport_does_not_connect(
    connection: broker_connection.BrokerConnection,
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        connection.collect()
    assert not connection.connected
