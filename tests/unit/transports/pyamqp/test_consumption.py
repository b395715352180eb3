# SPDX-License-Identifier: Apache-2.0
"""Messages are acknowledged before anything in them can crash a server."""

import time
import types

import amqp
import pytest

from oslo_messaging_pyamqp import (
    bindings,
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

    def queue_bind(self, queue, exchange, routing_key, nowait):
        self.events.append(f'{queue} bound to {exchange} by {routing_key}')

    def close(self):
        self.events.append('closed')

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
    exchange = types.SimpleNamespace(name='e')
    queues = [
        types.SimpleNamespace(
            name=name,
            is_private=name == 'own',
            exchange=exchange,
            routing_key='k',
        )
        for name in ('q', 'own')
    ]

    def on_request(request, delivery):
        delivery.acknowledge()

    channel.consumption = consumption.Consumption(
        settings, None, queues, on_request
    )
    channel.connection = types.SimpleNamespace(channel=lambda: channel)
    channel.consumption.link.open(channel.connection)
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

    assert channel.events == ['cancelled', 'cancelled']


def test_bindings_are_repeated_at_intervals_and_only_of_consumed_queues(
    channel, monkeypatch
):
    now = time.monotonic()
    monkeypatch.setattr(bindings.time, 'monotonic', lambda: now)
    channel.connection.on_tick()
    assert channel.events == []

    now += bindings.INTERVAL + 1
    channel.connection.on_tick()
    channel.connection.on_tick()
    assert channel.events == ['q bound to e by k', 'own bound to e by k']

    channel.consumption.drain()
    channel.events.clear()
    now += bindings.INTERVAL
    channel.connection.on_tick()
    assert channel.events == ['own bound to e by k']


@pytest.mark.parametrize('reason', [None, amqp.AccessRefused('not allowed')])
def test_lost_binding_is_declared_again_and_a_refusal_ends_nothing(
    channel, monkeypatch, reason
):
    declared = []

    def declare(setup, queue):
        if reason:
            raise reason
        declared.append(queue.name)

    monkeypatch.setattr(topology, 'declare_queue', declare)

    channel.on_error(amqp.NotFound("no exchange 'e'"))

    assert declared == ([] if reason else ['q', 'own'])
    assert channel.events == ['closed']
