# SPDX-License-Identifier: Apache-2.0
"""The driver on py-amqp when connections, queues and brokers are lost."""

from __future__ import annotations

import itertools
import os
import pathlib
import threading
import time
import urllib.parse
from collections.abc import Iterator

import kombu
import oslo_messaging
import pytest
from oslo_config import cfg

from oslo_messaging_driverlib.errors import AnswerLost
from oslo_messaging_pyamqp import driver
from oslo_messaging_pyamqp.broker_connection import BrokerConnection
from oslo_messaging_pyamqp.link import Link, OutageLog
from oslo_messaging_pyamqp.settings import Settings
from tests import tcp_proxy
from tests.certificates import CertificateAuthority
from tests.functional import broker_cluster, brokers
from tests.functional.processes import TIMEOUT, free_port, wait_for
from tests.functional.transports.servers import Processes
from tests.message_bus import (
    TOPIC,
    Bus,
    in_background,
    rabbit_bus,
    stop,
)
from tests.tcp_proxy import TcpProxy

pytestmark = pytest.mark.rabbit


@pytest.fixture
def bus(url: str) -> Iterator[Bus]:
    bus = rabbit_bus(url)
    yield bus
    bus.close()


@pytest.fixture
def proxy(url: str) -> Iterator[TcpProxy]:
    parts = urllib.parse.urlsplit(url)
    with tcp_proxy.running(parts.hostname or '', parts.port or 5672) as proxy:
        yield proxy


@pytest.fixture
def remote(url: str, proxy: TcpProxy) -> Iterator[Bus]:
    """Clients and servers that use the proxy."""
    parts = urllib.parse.urlsplit(url)
    host = parts.netloc.rpartition(':')[0]
    bus = rabbit_bus(parts._replace(netloc=f'{host}:{proxy.port}').geturl())
    yield bus
    proxy.restore()
    bus.close()


def amqp_url(url: str) -> str:
    return url.replace('rabbit', 'amqp', 1)


def test_call_when_the_connection_is_cut_raises_at_once(
    bus: Bus, remote: Bus, proxy: TcpProxy
) -> None:
    _, worker = bus.server()
    client = remote.client(timeout=TIMEOUT)
    with in_background(client.call, {}, 'hold') as response:
        assert worker.started.acquire(timeout=TIMEOUT)
        proxy.cut()
        with pytest.raises(AnswerLost):
            response.result(timeout=TIMEOUT)
    worker.proceed.set()
    proxy.restore()
    assert client.call({}, 'identify') == 'one'


def test_call_when_the_connection_is_half_open_raises_after_heartbeats(
    bus: Bus, remote: Bus, proxy: TcpProxy
) -> None:
    _, worker = bus.server()
    client = remote.client(timeout=TIMEOUT, heartbeat_timeout_threshold=2)
    with in_background(client.call, {}, 'hold') as response:
        assert worker.started.acquire(timeout=TIMEOUT)
        proxy.freeze()
        with pytest.raises(AnswerLost, match='heartbeat'):
            response.result(timeout=TIMEOUT)
    worker.proceed.set()
    proxy.restore()
    assert client.call({}, 'identify') == 'one'


def test_idle_connection_is_kept_by_heartbeats(bus: Bus) -> None:
    _, worker = bus.server(heartbeat_timeout_threshold=1)
    client = bus.client(timeout=TIMEOUT, heartbeat_timeout_threshold=1)
    with in_background(client.call, {}, 'hold') as response:
        assert worker.started.acquire(timeout=TIMEOUT)
        time.sleep(4)
        worker.proceed.set()
        assert response.result(timeout=TIMEOUT) == 'one'


def test_call_when_the_servers_connection_is_cut_is_handled_once(
    bus: Bus, remote: Bus, proxy: TcpProxy, url: str
) -> None:
    server, worker = remote.server()
    client = bus.client(timeout=TIMEOUT)
    with in_background(client.call, {}, 'hold', value=1) as response:
        assert worker.started.acquire(timeout=TIMEOUT)
        proxy.cut()
        proxy.restore()
        # The redelivered message precedes this one.
        assert client.call({}, 'identify') == 'one'
        worker.proceed.set()
        assert response.result(timeout=TIMEOUT) == 'one'
    assert worker.values == [1]
    stop(server, worker)
    with kombu.Connection(amqp_url(url)) as connection:
        queue = connection.channel().queue_declare(TOPIC, passive=True)
    assert queue.message_count == 0


def test_call_when_its_server_has_lost_the_connection_goes_to_another(
    bus: Bus, remote: Bus, proxy: TcpProxy
) -> None:
    _, first = remote.server('first')
    client = bus.client(timeout=TIMEOUT)
    with in_background(client.call, {}, 'hold', value=1) as response:
        assert first.started.acquire(timeout=TIMEOUT)
        _, second = bus.server('second')
        proxy.cut()
        assert second.started.acquire(timeout=TIMEOUT)
        second.proceed.set()
        assert response.result(timeout=TIMEOUT) == 'second'


def test_cast_without_a_broker_waits_until_it_is_back(
    bus: Bus, remote: Bus, proxy: TcpProxy
) -> None:
    _, worker = bus.server()
    client = remote.client()
    client.cast({}, 'store', value=1)
    proxy.cut()
    with in_background(client.cast, {}, 'store', value=2) as cast:
        proxy.restore()
        cast.result(timeout=TIMEOUT)
    for _ in range(2):
        assert worker.stored.acquire(timeout=TIMEOUT)
    assert worker.values == [1, 2]


def test_cast_without_retries_when_there_is_no_broker_raises(
    remote: Bus, proxy: TcpProxy
) -> None:
    proxy.cut()
    client = remote.client(retry=0)
    for _ in range(2):
        with pytest.raises(oslo_messaging.MessageDeliveryFailure):
            client.cast({}, 'store', value=1)


@pytest.mark.parametrize('state', ['cut', 'freeze'])
def test_call_when_there_is_no_broker_times_out_in_time(
    remote: Bus, proxy: TcpProxy, state: str
) -> None:
    getattr(proxy, state)()
    reason = {
        'cut': 'cannot connect to RabbitMQ at 127.0.0.1',
        'freeze': 'does not respond',
    }[state]
    with pytest.raises(oslo_messaging.MessagingTimeout, match=reason):
        remote.client(timeout=1).call({}, 'identify')


def test_call_when_the_first_host_is_down_uses_the_next(
    bus: Bus, url: str
) -> None:
    bus.server()
    parts = urllib.parse.urlsplit(url)
    dead = f'guest:guest@127.0.0.1:{free_port()}'
    for hosts in (f'{dead},{parts.netloc}', f'{parts.netloc},{dead}'):
        other = rabbit_bus(parts._replace(netloc=hosts).geturl())
        assert other.client().call({}, 'identify') == 'one'
        other.close()


def test_server_whose_queues_are_deleted_consumes_again(
    bus: Bus, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    bus.server()
    client = bus.client()
    with kombu.Connection(amqp_url(url)) as connection:
        for queue in (TOPIC, f'{TOPIC}.one'):
            connection.channel().queue_delete(queue)
    wait_for(
        'both queues exist again',
        lambda: caplog.text.count('Consuming from') == 2,
    )
    assert client.call({}, 'identify') == 'one'
    assert client.prepare(server='one').call({}, 'identify') == 'one'


def test_call_when_the_reply_queue_is_deleted_raises_at_once(
    bus: Bus, url: str
) -> None:
    _, worker = bus.server()
    client = bus.client(timeout=TIMEOUT)
    with in_background(client.call, {}, 'hold') as response:
        assert worker.started.acquire(timeout=TIMEOUT)
        # Also those of other tests, which have not expired yet.
        delete_reply_queues(url)
        with pytest.raises(AnswerLost):
            response.result(timeout=TIMEOUT)
    worker.proceed.set()
    assert client.call({}, 'identify') == 'one'


def test_response_without_a_reply_queue_is_dropped(
    bus: Bus, caplog: pytest.LogCaptureFixture
) -> None:
    server, worker = bus.server(kombu_missing_consumer_retry_timeout=1)
    client = bus.client(timeout=1)
    with pytest.raises(oslo_messaging.MessagingTimeout):
        client.call({}, 'hold')
    client.transport.cleanup()
    delete_reply_queues(bus.url)
    worker.proceed.set()
    wait_for('it is dropped', lambda: 'Dropped 1 response' in caplog.text)
    stop(server, worker)
    # The call was acknowledged.
    _, worker = bus.server()
    assert bus.client().call({}, 'identify') == 'one'
    assert not worker.values


def delete_reply_queues(url: str) -> None:
    with kombu.Connection(amqp_url(url)) as connection:
        channel = connection.channel()
        for name in brokers.queues(url):
            if name.startswith('reply_'):
                channel.queue_delete(name)


def test_client_with_a_wrong_password_connects_after_it_is_changed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with brokers.temporary_with_user('rabbit') as url:
        brokers.change_password(url, 'other')
        bus = rabbit_bus(url)
        client = bus.client(timeout=1)
        for _ in range(3):
            with pytest.raises(oslo_messaging.MessagingTimeout):
                client.call({}, 'identify')
        text = 'check user, password and virtual host'
        assert caplog.text.count(text) == 1
        brokers.change_password(url)
        bus.server()
        assert client.prepare(timeout=TIMEOUT).call({}, 'identify') == 'one'
        bus.close()


def test_call_when_the_user_may_not_create_queues_raises_at_once() -> None:
    with brokers.temporary_with_user('rabbit') as url:
        brokers.forbid_declarations(url)
        bus = rabbit_bus(url)
        client = bus.client(timeout=TIMEOUT)
        with pytest.raises(
            oslo_messaging.MessageDeliveryFailure,
            match=r'reply queue: ACCESS_REFUSED.*the permissions of the user',
        ):
            client.call({}, 'identify')
        bus.close()


def test_cast_that_the_broker_refuses_raises() -> None:
    with brokers.temporary_with_user('rabbit') as url:
        bus = rabbit_bus(url)
        server, worker = bus.server()
        stop(server, worker)
        brokers.forbid_messages(url)
        client = bus.client(timeout=TIMEOUT)
        with pytest.raises(
            oslo_messaging.MessageDeliveryFailure,
            match=r'has closed the channel.*permissions of the user',
        ):
            client.cast({}, 'store', value=1)
        # Calls may have been delivered.
        with pytest.raises(AnswerLost, match='ACCESS_REFUSED'):
            client.call({}, 'identify')
        bus.close()


@pytest.mark.parametrize('method', ['cast', 'call'])
def test_message_for_a_full_queue_is_sent_again_until_there_is_room(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if brokers.VARIABLE in os.environ:
        pytest.skip(f'{brokers.VARIABLE} is set: cannot limit queues')
    # The server may need longer to start than senders usually wait.
    monkeypatch.setattr(driver, 'MAX_NACKS', TIMEOUT)
    monkeypatch.setattr(driver, 'NACK_PAUSE', 0.1)
    with brokers.temporary('rabbit') as url:
        bus = rabbit_bus(url)
        stop(*bus.server())
        brokers.limit_queues(url, 1)
        impatient = bus.client(retry=0)

        def fill() -> None:
            # A queue may exceed its limit by some messages.
            for value in range(100):
                impatient.cast({}, 'store', value=value)

        with pytest.raises(
            oslo_messaging.MessageDeliveryFailure, match='did not accept'
        ):
            fill()
        client = bus.client(timeout=TIMEOUT)
        send = getattr(client, method)
        with in_background(send, {}, 'echo', value='x') as outcome:
            time.sleep(0.3)
            assert not outcome.done()
            bus.server()
            outcome.result(timeout=TIMEOUT)
        bus.close()


def test_child_process_opens_its_own_connections(
    url: str, tmp_path: pathlib.Path
) -> None:
    processes = Processes(url.replace('rabbit', 'pyamqp', 1), tmp_path)
    try:
        processes.server('one')
        client = processes.client()
        _, parent = client.call({}, 'identify')
        child, answered = client.call({}, 'fork')
        assert answered == parent != child
        os.kill(child, 9)
    finally:
        processes.close()


@pytest.fixture(scope='module')
def node(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[broker_cluster.BrokerCluster]:
    """A broker with TLS that tests may block and restart."""
    directory = tmp_path_factory.mktemp('broker')
    authority = CertificateAuthority(directory)
    certificate, key = authority.sign('broker', '127.0.0.1')
    port = free_port()
    with broker_cluster.running(
        directory,
        1,
        f'listeners.ssl.1 = 127.0.0.1:{port}\n'
        f'ssl_options.cacertfile = {authority.file}\n'
        f'ssl_options.certfile = {certificate}\n'
        f'ssl_options.keyfile = {key}\n',
    ) as cluster:
        cluster.tls = {
            'url': f'rabbit://guest:guest@127.0.0.1:{port}/',
            'ssl_ca_file': str(authority.file),
        }
        yield cluster


@pytest.fixture
def own(node: broker_cluster.BrokerCluster) -> Iterator[Bus]:
    """Clients and servers of that broker."""
    bus = rabbit_bus(node.url)
    yield bus
    bus.close()


def test_calls_over_tls_are_answered(
    node: broker_cluster.BrokerCluster,
) -> None:
    options = {'ssl': 'true', 'ssl_ca_file': node.tls['ssl_ca_file']}
    bus = rabbit_bus(node.tls['url'])
    try:
        bus.server(**options)
        client = bus.client(**options)
        value = 'x' * 500_000
        for size in (0, 100, 500_000):
            expected = [None, value[:size]]
            assert client.call({}, 'echo', value=value[:size]) == expected
    finally:
        bus.close()


def test_broker_without_a_trusted_certificate_is_not_used(
    node: broker_cluster.BrokerCluster, tmp_path: pathlib.Path
) -> None:
    other = CertificateAuthority(tmp_path, 'other')
    bus = rabbit_bus(node.tls['url'])
    try:
        client = bus.client(retry=0, ssl='true', ssl_ca_file=str(other.file))
        with pytest.raises(
            oslo_messaging.MessageDeliveryFailure, match='CERTIFICATE'
        ):
            client.cast({}, 'store', value=1)
    finally:
        bus.close()


def test_broker_out_of_memory_delays_calls_and_casts(
    node: broker_cluster.BrokerCluster, own: Bus
) -> None:
    (broker,) = node.nodes
    _, worker = own.server()
    client = own.client(timeout=TIMEOUT)
    assert client.call({}, 'identify') == 'one'
    broker.control('set_vm_memory_high_watermark', '0.000001')
    try:
        # The broker blocks a connection when it publishes the next time.
        with pytest.raises(oslo_messaging.MessagingTimeout):
            client.prepare(timeout=1).call({}, 'identify')
        with pytest.raises(oslo_messaging.MessageDeliveryFailure):
            client.prepare(retry=0).cast({}, 'store', value=1)
        with (
            in_background(client.call, {}, 'echo', value=2) as response,
            in_background(client.cast, {}, 'store', value=3) as cast,
        ):
            time.sleep(1)
            assert not response.done()
            assert not cast.done()
            broker.control('set_vm_memory_high_watermark', '0.6')
            assert response.result(timeout=TIMEOUT) == [None, 2]
            cast.result(timeout=TIMEOUT)
    finally:
        broker.control('set_vm_memory_high_watermark', '0.6')
    assert worker.stored.acquire(timeout=TIMEOUT)


def test_broker_that_restarts_is_used_again(
    node: broker_cluster.BrokerCluster, own: Bus
) -> None:
    (broker,) = node.nodes
    _, worker = own.server()
    client = own.client(timeout=TIMEOUT)
    with in_background(client.call, {}, 'hold', value=1) as response:
        assert worker.started.acquire(timeout=TIMEOUT)
        broker.kill()
        with pytest.raises(AnswerLost):
            response.result(timeout=TIMEOUT)
    with (
        in_background(client.call, {}, 'identify') as response,
        in_background(client.cast, {}, 'store', value=2) as cast,
    ):
        broker.start()
        cast.result(timeout=TIMEOUT)
        assert response.result(timeout=TIMEOUT) == 'one'
    assert worker.stored.acquire(timeout=TIMEOUT)
    client.prepare(fanout=True).cast({}, 'store', value=3)
    assert worker.stored.acquire(timeout=TIMEOUT)
    assert worker.values == [1, 2, 3]


def test_link_pauses_if_each_connection_is_soon_lost(url: str) -> None:
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    parsed = oslo_messaging.TransportURL.parse(conf, url)
    connections: list[float] = []
    has_enough = threading.Event()

    def cut(connection: BrokerConnection) -> None:
        connections.append(time.monotonic())
        if len(connections) == 4:
            has_enough.set()
        connection.abort()

    link = Link(
        'short', Settings.load(conf, parsed), OutageLog(), cut, lambda _: None
    )
    link.start()
    try:
        assert has_enough.wait(TIMEOUT)
    finally:
        link.close()
    pauses = [late - early for early, late in itertools.pairwise(connections)]
    assert pauses[0] < min(pauses[1:])
    assert min(pauses[1:]) > 0.5
