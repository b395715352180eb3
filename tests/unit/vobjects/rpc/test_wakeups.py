# SPDX-License-Identifier: Apache-2.0
"""Wakeups between processes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from typing import Any

import oslo_messaging
import pytest

from tests.unit.vobjects.rpc.fake_bus import TIMEOUT, TOPIC, FakeBus
from vobjects.rpc import wakeups


@pytest.fixture
def bus() -> Iterator[FakeBus]:
    bus = FakeBus()
    yield bus
    bus.close()


def test_send_wakes_every_server_of_the_topic(bus: FakeBus) -> None:
    events = {name: threading.Event() for name in ('one', 'two')}
    for name, event in events.items():
        endpoint = wakeups.WakeupEndpoint({wakeups.WORK: event.set})
        bus.start(endpoint, name=name)
    wakeups.WakeupSender(bus.transport, (TOPIC,)).send(wakeups.WORK)
    assert all(event.wait(TIMEOUT) for event in events.values())


def test_notice_when_the_kind_is_unknown_is_ignored() -> None:
    kinds: list[str] = []
    endpoint = wakeups.WakeupEndpoint(
        {wakeups.FLEET: lambda: kinds.append(wakeups.FLEET)}
    )
    for kind in (wakeups.CONNECTED, 'of a later release', wakeups.FLEET):
        endpoint.notice({}, kind)
    assert kinds == [wakeups.FLEET]


def test_send_when_the_bus_fails_logs_the_topic(
    bus: FakeBus,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise oslo_messaging.MessageDeliveryFailure('no broker')

    caplog.set_level(logging.INFO)
    sender = wakeups.WakeupSender(bus.transport, (TOPIC,))
    monkeypatch.setattr(bus.transport, '_send', fail)
    sender.send(wakeups.FLEET)
    assert "Cannot send wakeup 'fleet' to topic workers" in caplog.text
