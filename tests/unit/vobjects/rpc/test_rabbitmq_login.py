# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import amqp
import kombu
import pytest
from kombu import transport as kombu_transport
from oslo_config import cfg

from vobjects.rpc import rabbitmq_login, transport


class _RefusedConnection:
    def __init__(self, **options: object) -> None:
        assert options['userid'] == 'me'

    def connect(self) -> None:
        raise amqp.AccessRefused('ACCESS_REFUSED - Login was refused.')


class _Transport(rabbitmq_login.Transport):
    Connection = _RefusedConnection


def test_refused_login_is_retried_as_a_lost_connection() -> None:
    connection = kombu.Connection(
        'amqp://me:wrong@broker//', transport=_Transport
    )
    waits: list[float] = []

    with pytest.raises(kombu.exceptions.OperationalError) as caught:
        connection.ensure_connection(
            errback=lambda error, interval: waits.append(interval),
            max_retries=2,
            interval_start=0,
            interval_step=0,
        )

    assert len(waits) == 2
    assert str(caught.value) == (
        'ACCESS_REFUSED - Login was refused; check user, password and virtual'
        ' host in transport_url'
    )


def test_open_transport_makes_kombu_retry_refused_logins() -> None:
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    transport.open_transport(
        conf, 'exchange', url='rabbit://me:secret@127.0.0.1:1/'
    ).cleanup()
    assert (
        kombu_transport.resolve_transport('amqp') is rabbitmq_login.Transport
    )
