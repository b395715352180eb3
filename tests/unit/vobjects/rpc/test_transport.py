# SPDX-License-Identifier: Apache-2.0
"""oslo.messaging as this package configures it."""

from __future__ import annotations

import pytest
from oslo_config import cfg
from oslo_messaging._drivers import amqpdriver

from vobjects.rpc import transport


class Driver:
    """What a listener wants to know of its driver."""

    prefetch_size = 0


class Silence:
    """A connection to RabbitMQ on which nothing comes."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def consume(self, timeout: float) -> None:
        self.slept.append(timeout)
        raise StopIteration


def test_reader_of_rabbitmq_sleeps_until_a_message_wakes_it() -> None:
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    # Nothing is connected before something is sent.
    transport.open_transport(conf, 'test', (), 'rabbit://nobody@127.0.0.1:1/')
    silence = Silence()
    listener = amqpdriver.RpcAMQPListener(Driver(), silence)
    with pytest.raises(StopIteration):
        listener.poll()
    assert silence.slept == [transport.INITIAL_SLEEP]
