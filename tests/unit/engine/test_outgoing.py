# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading

import pytest

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
