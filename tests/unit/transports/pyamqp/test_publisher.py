# SPDX-License-Identifier: Apache-2.0
"""Messages that wait for the confirmation of RabbitMQ."""

from __future__ import annotations

import collections
import struct
import threading
from collections.abc import Callable
from typing import Any

import oslo_messaging
import pytest
from oslo_config import cfg

from oslo_messaging_driverlib.deadline import Deadline
from oslo_messaging_pyamqp import publisher, topology
from oslo_messaging_pyamqp.settings import Settings

#: A timeout in seconds that does not expire even on a slow machine.
LONG = 1000.0


class Channel:
    """A channel that records published messages and confirms on demand."""

    def __init__(self, connection: Connection | None = None) -> None:
        self.connection = connection
        self.events: dict[str, set[Callable[..., None]]] = (
            collections.defaultdict(set)
        )
        self.published = 0
        self.is_closed = False

    def confirm_select(self) -> None:
        """Do nothing."""

    def publish(self, message: Any, exchange: str, key: str, _: Any) -> None:
        if len(key) > 255:
            raise struct.error('string too long')
        self.published += 1

    def close(self) -> None:
        self.is_closed = True

    def reject(self, number: int) -> None:
        for listener in self.events['basic_nack']:
            listener(number, False)

    def confirm(self, number: int, multiple: bool = False) -> None:
        for listener in self.events['basic_ack']:
            listener(number, multiple)


class Connection:
    """A connection that records its channels."""

    def __init__(self) -> None:
        self.channels: list[Channel] = []

    def channel(self) -> Channel:
        self.channels.append(Channel(self))
        return self.channels[-1]


class ReadyLink:
    """A connected link."""

    is_ready = True


@pytest.fixture
def channel() -> Channel:
    return Channel()


@pytest.fixture
def full(channel: Channel, monkeypatch: pytest.MonkeyPatch) -> publisher.Lane:
    """A lane with as many unconfirmed messages as allowed."""
    monkeypatch.setattr(publisher, 'MAX_UNCONFIRMED', 3)
    lane = publisher.Lane('', lambda: None, lambda lane: None)
    lane.open(channel)  # type: ignore[arg-type]
    for _ in range(3):
        assert not lane.is_full
        lane.publish(
            publisher.Publication(
                topology.DEFAULT, 'queue', b'', lambda error: None
            )
        )
    assert channel.published == 3
    return lane


def test_wait_for_room_without_a_confirmation_times_out(
    full: publisher.Lane,
) -> None:
    assert full.is_full
    with pytest.raises(TimeoutError):
        full.wait_for_room(Deadline(0.01))


@pytest.mark.parametrize(
    'make_room',
    [
        pytest.param(lambda lane, channel: channel.confirm(2), id='one'),
        pytest.param(lambda lane, channel: channel.confirm(3, True), id='all'),
        pytest.param(
            lambda lane, channel: lane.close(OSError('lost')), id='lost'
        ),
    ],
)
def test_wait_for_room_ends_when_messages_are_settled(
    full: publisher.Lane,
    channel: Channel,
    make_room: Callable[[publisher.Lane, Channel], None],
) -> None:
    waiting = threading.Thread(
        target=full.wait_for_room, args=[Deadline(LONG)]
    )
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    make_room(full, channel)
    waiting.join(LONG)
    assert not waiting.is_alive()
    assert not full.is_full


def test_message_that_cannot_be_sent_shifts_no_confirmation(
    channel: Channel,
) -> None:
    lane = publisher.Lane('', lambda: None, lambda lane: None)
    lane.open(channel)  # type: ignore[arg-type]
    outcomes: list[Exception | None] = []

    def message(name: str, **options: Any) -> publisher.Publication:
        return publisher.Publication(
            topology.DEFAULT, name, b'{}', outcomes.append, **options
        )

    assert lane.publish(message('one'))
    with pytest.raises(publisher.Rejected, match='cannot be sent'):
        lane.publish(message('x' * 256))
    with pytest.raises(publisher.Rejected, match='cannot be sent'):
        lane.publish(message('two', expiration=float('inf')))
    assert lane.publish(message('two'))
    channel.confirm(2)
    channel.confirm(1)
    assert outcomes == [None, None]


def test_rejection_replaces_the_channel_and_keeps_pending_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(publisher, 'REPLACE_INTERVAL', 0.0)
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    url = oslo_messaging.TransportURL.parse(conf, 'rabbit://')
    connection = Connection()
    sender = publisher.Publisher(
        Settings.load(conf, url),
        ReadyLink(),  # type: ignore[arg-type]
    )
    sender.open(connection)  # type: ignore[arg-type]
    outcomes: dict[str, Exception | None] = {}

    def publish(name: str) -> None:
        sender.publish(
            publisher.Publication(
                topology.DEFAULT,
                'queue',
                b'{}',
                lambda error: outcomes.update({name: error}),
            ),
            Deadline(LONG),
        )

    def channel_of(name: str) -> Channel:
        before = [each.published for each in connection.channels]
        publish(name)
        (used,) = [
            each
            for each, count in zip(connection.channels, before, strict=True)
            if each.published > count
        ]
        return used

    first = channel_of('rejected')
    assert channel_of('pending') is first
    first.reject(1)
    assert isinstance(outcomes['rejected'], publisher.Nacked)
    second = channel_of('rejected again')
    assert second is not first
    second.reject(1)
    third = channel_of('confirmed')
    assert third not in (first, second)
    # The first one still waits for a confirmation.
    assert not first.is_closed
    first.confirm(2)
    assert outcomes['pending'] is None
    third.reject(1)
    assert first.is_closed
    assert second.is_closed
    sender.close(OSError('lost'))
