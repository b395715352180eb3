# SPDX-License-Identifier: Apache-2.0
"""Wakeups between processes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from typing import Any

import oslo_messaging
import pytest
from oslo_config import cfg

from vobjects.rpc import transport, wakeups

TOPIC = 'workers'

#: A timeout in seconds that does not expire even on a slow machine.
LONG = 60


@pytest.fixture
def bus() -> Iterator[Any]:
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    bus = transport.open_transport(conf, 'test', (), 'fake://')
    yield bus
    bus.cleanup()


def test_send_wakes_every_server_of_the_topic(bus: Any) -> None:
    events = [threading.Event() for _ in range(2)]
    servers = [
        transport.build_server(
            bus,
            TOPIC,
            f'server-{number}',
            [wakeups.WakeupEndpoint({wakeups.WORK: event.set})],
            1,
        )
        for number, event in enumerate(events)
    ]
    for server in servers:
        server.start()
    try:
        wakeups.WakeupSender(bus, (TOPIC,)).send(wakeups.WORK)
        assert all(event.wait(LONG) for event in events)
    finally:
        for server in servers:
            server.stop()
            server.wait()


def test_notice_when_the_kind_is_unknown_is_ignored() -> None:
    kinds: list[str] = []
    endpoint = wakeups.WakeupEndpoint(
        {wakeups.FLEET: lambda: kinds.append(wakeups.FLEET)}
    )
    for kind in (wakeups.CONNECTED, 'of a later release', wakeups.FLEET):
        endpoint.notice({}, kind)
    assert kinds == [wakeups.FLEET]


def test_send_when_the_bus_fails_logs_the_topic(
    bus: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise oslo_messaging.MessageDeliveryFailure('no broker')

    caplog.set_level(logging.INFO)
    sender = wakeups.WakeupSender(bus, (TOPIC,))
    monkeypatch.setattr(bus, '_send', fail)
    sender.send(wakeups.FLEET)
    assert "Cannot send wakeup 'fleet' to topic workers" in caplog.text
