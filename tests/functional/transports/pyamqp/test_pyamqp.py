# SPDX-License-Identifier: Apache-2.0
"""The driver on py-amqp, alone and together with oslo.messaging's own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import amqp
import kombu
import oslo_messaging
import pytest

from oslo_messaging_driverlib.errors import AnswerLost
from oslo_messaging_pyamqp import bindings, errors
from tests.functional import brokers
from tests.functional.library_suites import results_of
from tests.functional.processes import TIMEOUT, wait_for
from tests.message_bus import (
    EXCHANGE,
    OSLO,
    OURS,
    TOPIC,
    Bus,
    rabbit_bus,
    stop,
)

pytestmark = pytest.mark.rabbit

#: Driver of the server, driver of the client.
PAIRS = [
    pytest.param((OURS, OURS), id='ours'),
    pytest.param((OURS, OSLO), id='our-server'),
    pytest.param((OSLO, OURS), id='our-client'),
]

#: Functional test of oslo.messaging -> why it cannot pass. All others must,
#: except those of test_rabbitmq, which read attributes of its own driver.
EXCLUDED = {
    'oslo_messaging.tests.functional.test_functional.MetricsTestCase'
    '.test_functional': 'needs the package oslo.metrics, and its fixed port',
}

#: Processes for these tests, which mostly wait.
SUITE_PARTS = 6


@pytest.fixture
def bus(url: str) -> Iterator[Bus]:
    bus = rabbit_bus(url)
    yield bus
    bus.close()
    delete_queues(url)


def channel_of(url: str) -> Any:
    """Return a connection for checks, and its channel."""
    connection = kombu.Connection(url.replace('rabbit', 'amqp', 1))
    return connection, connection.channel()


def delete_queues(url: str) -> None:
    """Delete the queues of the servers, with messages that remain."""
    connection, channel = channel_of(url)
    with connection:
        for name in (TOPIC, *(f'{TOPIC}.{n}' for n in ('one', 'two'))):
            channel.queue_delete(name)


def test_call_when_the_response_cannot_be_sent_raises_at_once(
    bus: Bus,
) -> None:
    bus.server()
    with pytest.raises(
        oslo_messaging.MessagingTimeout, match='cannot be sent'
    ):
        bus.client().call({}, 'unsendable')


def test_call_with_monitoring_when_no_heartbeat_arrives_times_out(
    bus: Bus,
) -> None:
    stop(*bus.server())  # its queue remains
    client = bus.client().prepare(timeout=TIMEOUT, call_monitor_timeout=1)
    with pytest.raises(oslo_messaging.MessagingTimeout, match='heartbeat'):
        client.call({}, 'hold')


def test_fanout_when_servers_have_both_drivers_reaches_all(
    bus: Bus,
) -> None:
    workers = [bus.server(OURS, OURS)[1], bus.server(OSLO, OSLO)[1]]
    for driver in (OURS, OSLO):
        bus.client(driver).prepare(fanout=True).cast({}, 'store', value=1)
        for worker in workers:
            assert worker.stored.acquire(timeout=TIMEOUT)


def delete_fanout_exchange(channel: Any) -> None:
    channel.exchange_delete(f'{TOPIC}_fanout')


def replace_fanout_exchange(channel: Any) -> None:
    delete_fanout_exchange(channel)
    channel.exchange_declare(
        f'{TOPIC}_fanout', 'fanout', durable=False, auto_delete=True
    )
    # Unless something is bound, the broker may return a message.
    queue = channel.queue_declare(exclusive=True).queue
    channel.queue_bind(queue, f'{TOPIC}_fanout')


def delete_fanout_queues(channel: Any) -> None:
    url = channel.connection.client.as_uri(include_password=True)
    for name in brokers.queues(url):
        if name.startswith(f'{TOPIC}_fanout_'):
            channel.queue_delete(name)


@pytest.mark.parametrize('driver', [OURS, OSLO])
@pytest.mark.parametrize(
    'remove',
    [delete_fanout_exchange, replace_fanout_exchange, delete_fanout_queues],
)
def test_fanout_after_its_exchange_or_queue_was_deleted_reaches_all(
    bus: Bus,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
    remove: Callable[[Any], None],
    driver: str,
) -> None:
    monkeypatch.setattr(bindings, 'INTERVAL', 0.1)
    workers = [
        bus.server(name, heartbeat_timeout_threshold=4)[1]
        for name in ('one', 'two')
    ]
    client = bus.client(driver).prepare(fanout=True)
    connection, channel = channel_of(url)
    with connection:
        remove(channel)

        def reaches_all() -> bool:
            client.cast({}, 'store', value=1)
            return all(
                worker.stored.acquire(timeout=0.2) for worker in workers
            )

        wait_for('messages reach all servers', reaches_all)


def test_calls_when_servers_have_both_drivers_reach_each(
    bus: Bus,
) -> None:
    bus.server(OURS, OURS)
    bus.server(OSLO, OSLO)
    for driver in (OURS, OSLO):
        client = bus.client(driver)
        names = {client.call({}, 'identify') for _ in range(10)}
        assert names == {OURS, OSLO}


@pytest.mark.parametrize('method', ['call', 'cast'])
def test_message_that_must_have_a_queue_raises_at_once_without_one(
    bus: Bus, method: str
) -> None:
    client = bus.client(topic='nobody', at_least_once=True)
    with pytest.raises(oslo_messaging.MessageUndeliverable) as raised:
        getattr(client, method)({}, 'echo', value=1)
    assert raised.value.routing_key == 'nobody'
    assert isinstance(raised.value.exception, amqp.ChannelError)


def test_queue_when_its_server_leaves_keeps_messages_for_the_next(
    bus: Bus,
) -> None:
    stop(*bus.server())
    bus.client().cast({}, 'store', value=1)
    _, worker = bus.server()
    assert worker.stored.acquire(timeout=TIMEOUT)


@pytest.mark.parametrize('pair', PAIRS)
def test_notification_is_stored_until_a_listener_handles_it(
    bus: Bus, pair: tuple[str, str]
) -> None:
    notifier = oslo_messaging.Notifier(
        bus.transport(pair[1]),
        publisher_id='me',
        driver='messagingv2',
        topics=['events'],
    )
    for number in range(3):
        notifier.info({}, 'thing.changed', {'number': number})
    received: list[Any] = []

    class Endpoint:
        def info(
            self, context: Any, publisher: str, kind: str, *rest: Any
        ) -> Any:
            received.append((publisher, kind, rest[0]['number']))
            if len(received) == 1:
                return oslo_messaging.NotificationResult.REQUEUE
            return oslo_messaging.NotificationResult.HANDLED

    server = oslo_messaging.get_notification_listener(
        bus.transport(pair[0]),
        [oslo_messaging.Target(topic='events')],
        [Endpoint()],
        allow_requeue=True,
    )
    server.start()
    try:
        wait_for('all are handled', lambda: len(received) == 4)
    finally:
        server.stop()
        server.wait()
    expected = [('me', 'thing.changed', number) for number in range(3)]
    assert sorted({*received}) == expected


@pytest.mark.parametrize('pair', PAIRS)
def test_notifications_of_all_priorities_reach_a_listener_with_a_pool(
    bus: Bus, pair: tuple[str, str]
) -> None:
    received: list[str] = []

    class Endpoint:
        def info(
            self, context: Any, publisher: str, kind: str, *_: Any
        ) -> None:
            received.append(kind)

        error = info

    # Its queue has a binding for each priority.
    server = oslo_messaging.get_notification_listener(
        bus.transport(pair[0]),
        [oslo_messaging.Target(topic='pooled')],
        [Endpoint()],
        pool='listeners',
    )
    server.start()
    try:
        notifier = oslo_messaging.Notifier(
            bus.transport(pair[1]),
            publisher_id='me',
            driver='messagingv2',
            topics=['pooled'],
        )
        notifier.info({}, 'thing.changed', {})
        notifier.error({}, 'thing.failed', {})
        wait_for('both are handled', lambda: len(received) == 2)
    finally:
        server.stop()
        server.wait()
    assert sorted(received) == ['thing.changed', 'thing.failed']


def test_compressed_messages_are_understood(bus: Bus) -> None:
    bus.server(driver=OSLO, kombu_compression='gzip')
    client = bus.client(OURS, kombu_compression='bzip2')
    assert client.call({}, 'echo', value='x' * 500) == [None, 'x' * 500]


def test_directed_queue_with_a_ttl_expires(bus: Bus, url: str) -> None:
    stop(*bus.server(rabbit_directed_queue_ttl=1))
    connection, channel = channel_of(url)
    with connection:

        def is_gone() -> bool:
            try:
                channel.queue_declare(f'{TOPIC}.one', passive=True)
            except amqp.NotFound:
                return True
            return False

        wait_for('the queue has expired', is_gone)
        channel.queue_declare(TOPIC, passive=True)


def test_listen_when_the_queue_has_other_arguments_uses_it(
    bus: Bus,
) -> None:
    stop(*bus.server(rabbit_quorum_queue='false'))
    bus.server(rabbit_quorum_queue='true')
    client = bus.client(rabbit_quorum_queue='true')
    assert client.call({}, 'identify') == 'one'


def test_cast_when_its_exchange_was_deleted_declares_it_again(
    bus: Bus, url: str
) -> None:
    client = bus.client(topic='other')
    client.cast({}, 'store', value=1)
    connection, channel = channel_of(url)
    with connection:
        channel.exchange_delete(EXCHANGE)
        client.cast({}, 'store', value=2)
        channel.exchange_declare(EXCHANGE, 'topic', passive=True)


def test_call_when_its_exchange_was_deleted_reports_the_loss(
    bus: Bus, url: str
) -> None:
    client = bus.client(topic='other')
    client.cast({}, 'store', value=1)
    connection, channel = channel_of(url)
    with connection:
        channel.exchange_delete(EXCHANGE)
    with pytest.raises(AnswerLost):
        client.call({}, 'echo', value=1)


@pytest.mark.parametrize('server_name', [None, 'one'])
@pytest.mark.parametrize('is_created_again', [False, True])
def test_calls_and_casts_after_their_exchange_was_deleted_reach_the_server(
    bus: Bus, url: str, is_created_again: bool, server_name: str | None
) -> None:
    _, worker = bus.server()
    client = bus.client().prepare(server=server_name)
    assert client.call({}, 'identify') == 'one'
    for method in ('call', 'cast'):
        connection, channel = channel_of(url)
        with connection:
            channel.exchange_delete(EXCHANGE)
            if is_created_again:
                channel.exchange_declare(
                    EXCHANGE, 'topic', durable=True, auto_delete=False
                )
        if method == 'cast':
            client.cast({}, 'store', value=1)
            assert worker.stored.acquire(timeout=TIMEOUT)
            continue
        if not is_created_again:
            with pytest.raises(AnswerLost, match='no exchange'):
                client.call({}, 'identify')
        assert client.call({}, 'identify') == 'one'


def test_call_without_a_queue_fails_at_once(bus: Bus) -> None:
    client = bus.client(topic='nobody', timeout=TIMEOUT)
    with pytest.raises(errors.NoQueue, match='nobody'):
        client.call({}, 'identify')
    client.cast({}, 'store', value=1)


def test_limit_of_the_broker_is_named_at_once(bus: Bus, url: str) -> None:
    vhost = url.rpartition('/')[2]

    def limit(*arguments: str) -> None:
        subprocess.run(
            ['rabbitmqctl', '-q', arguments[0], '-p', vhost, *arguments[1:]],
            check=True,
        )

    limit('set_vhost_limits', '{"max-queues": 0}')
    with pytest.raises(
        oslo_messaging.MessageDeliveryFailure, match='queue limit'
    ):
        bus.server()
    with pytest.raises(
        oslo_messaging.MessageDeliveryFailure, match='queue limit'
    ):
        bus.client(timeout=TIMEOUT).call({}, 'identify')
    limit('clear_vhost_limits')
    bus.server('two')
    assert bus.client().call({}, 'identify') == 'two'


@pytest.mark.parametrize(
    'message',
    [
        amqp.Message(b''),
        amqp.Message(b'[]'),
        amqp.Message(b'{"oslo.version": "9.0", "oslo.message": 1}'),
        amqp.Message(b'{"_unique_id": ["a"]}'),
        amqp.Message(b'{"_msg_id": 1, "_reply_q": "q", "method": "identify"}'),
        amqp.Message(
            b'{"_msg_id": "1", "_reply_q": "%s", "method": "identify"}'
            % (b'q' * 256)
        ),
        amqp.Message(b'{', content_type=b'\xff'),
        amqp.Message(b'', content_type=b'\xff'),
    ],
    ids=[
        'empty',
        'list',
        'envelope',
        'unique id',
        'call id',
        'reply queue',
        'properties',
        'properties without body',
    ],
)
def test_message_that_cannot_be_read_is_dropped(
    bus: Bus,
    url: str,
    message: amqp.Message,
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus.server()
    connection, channel = channel_of(url)
    with connection:
        channel.basic_publish(message, exchange=EXCHANGE, routing_key=TOPIC)
        channel.basic_publish(
            message, exchange=f'{TOPIC}_fanout', routing_key=b'\xff'
        )
    assert bus.client().call({}, 'identify') == 'one'
    assert 'connecting again' not in caplog.text


@pytest.mark.long
@pytest.mark.timeout(900)
def test_suite_of_oslo_messaging_passes(url: str) -> None:
    with futures.ThreadPoolExecutor(SUITE_PARTS) as pool:
        parts = [
            pool.submit(
                results_of,
                'transports.pyamqp.messaging_suite',
                *(url, str(number), str(SUITE_PARTS)),
            )
            for number in range(SUITE_PARTS)
        ]
    results = [part.result() for part in parts]
    assert sum(part['ran'] for part in results) > 30
    assert not any(part['skipped'] for part in results), results
    failed = {
        test: trace
        for part in results
        for test, trace in part['failed'].items()
    }
    assert failed.keys() == EXCLUDED.keys(), failed


def take_queue(channel: Any) -> None:
    channel.queue_declare(TOPIC, exclusive=True, auto_delete=False)


def declare_another_exchange(channel: Any) -> None:
    channel.exchange_delete(EXCHANGE)
    channel.exchange_declare(EXCHANGE, 'fanout', auto_delete=False)


@pytest.mark.parametrize(
    ('occupy', 'reason'),
    [
        (take_queue, 'RESOURCE_LOCKED'),
        (declare_another_exchange, "inequivalent arg 'type'"),
    ],
)
def test_listen_when_another_program_has_the_name_raises_at_once(
    bus: Bus, url: str, occupy: Callable[[Any], None], reason: str
) -> None:
    connection, channel = channel_of(url)
    with connection:
        occupy(channel)
        with pytest.raises(
            oslo_messaging.MessageDeliveryFailure, match=reason
        ):
            bus.server()
        channel.exchange_delete(EXCHANGE)
    bus.server('two')
    assert bus.client().call({}, 'identify') == 'two'
