# SPDX-License-Identifier: Apache-2.0
"""Messages are acknowledged before anything in them can crash a server."""

from __future__ import annotations

import types

import pytest

from oslo_messaging_pyamqp import (
    consumption,
    frames,
    message_format,
    topology,
)


class Link:
    def __init__(self, name, settings, outages, on_open, on_failure):
        self.open = on_open


class Channel:
    """Records what becomes of messages, in order with their decoding."""

    timeout = 0.0

    def __init__(self):
        self.events = []

    def acknowledge(self, tag):
        self.events.append('acknowledged')

    def basic_reject(self, tag, requeue):
        self.events.append('requeued' if requeue else 'dropped')

    def basic_cancel(self, name):
        self.events.append('cancelled')

    def consume(self, name, on_message, on_cancel, arguments):
        self.deliver = on_message


def delivered(*, again, body=b'{}'):
    message = frames.Delivered(b'\0\0\0\0\1c' + frames.TAG.pack(7, int(again)))
    message.body = body
    return message


@pytest.fixture
def channel(monkeypatch):
    channel = Channel()
    decode = message_format.decode

    def recorded(message):
        channel.events.append('decoded')
        return decode(message)

    monkeypatch.setattr(message_format, 'decode', recorded)
    monkeypatch.setattr(topology, 'declare_queue', lambda *args: None)
    monkeypatch.setattr(consumption, 'Link', Link)
    settings = types.SimpleNamespace(prefetch=0, consumer_arguments={})
    queue = types.SimpleNamespace(name='q', is_private=False)

    def on_request(request, delivery):
        delivery.acknowledge()

    channel.consumption = consumption.Consumption(
        settings, None, [queue], on_request
    )
    connection = types.SimpleNamespace(channel=lambda: channel)
    channel.consumption.link.open(connection)
    channel.consumption.start()
    return channel


@pytest.mark.parametrize('body', [b'{}', b'not JSON'])
def test_redelivered_message_is_acknowledged_once_before_decoding(
    channel, body
):
    channel.deliver(delivered(again=True, body=body))

    assert channel.events == ['acknowledged', 'decoded']


@pytest.mark.parametrize(
    ('body', 'outcome'), [(b'{}', 'acknowledged'), (b'not JSON', 'dropped')]
)
def test_first_delivery_is_settled_once_after_decoding(channel, body, outcome):
    channel.deliver(delivered(again=False, body=body))

    assert channel.events == ['decoded', outcome]


def test_redelivered_message_when_stopped_is_left_to_others(channel):
    channel.consumption.stop()

    channel.deliver(delivered(again=True))

    assert channel.events == ['cancelled']
