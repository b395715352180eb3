# SPDX-License-Identifier: Apache-2.0
"""Configuration of oslo.messaging."""

from __future__ import annotations

import pytest
from oslo_config import cfg
from oslo_messaging._drivers import amqpdriver

from vobjects.rpc import transport


class Driver:
    """The part of a driver that a listener uses."""

    prefetch_size = 0


class IdleConnection:
    """A connection to RabbitMQ without messages."""

    def __init__(self) -> None:
        self.timeouts: list[float] = []

    def consume(self, timeout: float) -> None:
        self.timeouts.append(timeout)
        raise StopIteration


def test_rabbitmq_listener_without_messages_starts_with_a_long_sleep() -> None:
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    # Transports connect when the first message is sent.
    transport.open_transport(conf, 'test', (), 'rabbit://nobody@127.0.0.1:1/')
    connection = IdleConnection()
    listener = amqpdriver.RpcAMQPListener(Driver(), connection)
    with pytest.raises(StopIteration):
        listener.poll()
    assert connection.timeouts == [transport.INITIAL_SLEEP]
