# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
import logging
from typing import Any

import pytest
from oslo_messaging._drivers import impl_rabbit

from vobjects.rpc import outage_log

UNREACHABLE = (
    '[%(connection_id)s] AMQP server on %(hostname)s:%(port)s is unreachable:'
    ' %(err_str)s. Trying again in %(sleep_time)d seconds.'
)


class Log:
    """A filtered log with a clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self._filter = outage_log.OutageFilter(lambda: self.now)

    def has(self, message: str, *args: Any) -> bool:
        record = logging.LogRecord(
            outage_log.DRIVER, logging.ERROR, '', 0, message, args, None
        )
        return self._filter.filter(record)

    def fails(self, reason: str, seconds: int = 1) -> bool:
        values = {
            'connection_id': f'connection-{self.now}',
            'hostname': 'broker',
            'port': 5672,
            'err_str': reason,
            'sleep_time': seconds,
        }
        return self.has(UNREACHABLE, values)

    def recovers(self) -> bool:
        return self.has('[an-id] Reconnected to AMQP server on broker:5672')


@pytest.fixture
def log() -> Log:
    return Log()


def test_failure_when_it_repeats_is_logged_once_per_reason(log: Log) -> None:
    assert log.fails('ECONNREFUSED', 1)
    assert not log.fails('ECONNREFUSED', 4)
    assert log.fails('ACCESS_REFUSED - Login was refused')
    assert not log.has(
        'Connection failed: %s (retrying in %s seconds)',
        'ACCESS_REFUSED - Login was refused',
        1.0,
    )
    assert not log.fails('ECONNREFUSED')


def test_other_messages_during_an_outage_are_dropped(log: Log) -> None:
    message = "Failed to publish message to topic 'x': no connection"
    assert log.has(message)
    log.fails('ECONNREFUSED')
    assert not log.has(message)
    log.recovers()
    assert log.has(message)


def test_recovery_is_logged_once_per_outage(log: Log) -> None:
    assert not log.recovers()
    log.fails('ECONNREFUSED')
    assert log.recovers()
    assert not log.recovers()
    assert log.fails('ECONNREFUSED')


def test_failure_after_a_quiet_period_is_a_new_outage(log: Log) -> None:
    assert log.fails('ECONNREFUSED')
    log.now += outage_log.QUIET / 2
    assert not log.fails('ECONNREFUSED')
    log.now += outage_log.QUIET / 2
    assert not log.fails('ECONNREFUSED')
    log.now += outage_log.QUIET + 1
    assert log.fails('ECONNREFUSED')


def test_driver_still_logs_the_messages_that_the_filter_knows() -> None:
    assert impl_rabbit.LOG.name == outage_log.DRIVER
    source = inspect.getsource(impl_rabbit)
    for text in (
        'is unreachable: ',
        'Trying again in ',
        'Connection failed: %s (retrying in',
        'Reconnected to AMQP server',
    ):
        assert text in source
