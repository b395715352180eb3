# SPDX-License-Identifier: Apache-2.0
"""The embedded driver through the interface of oslo.messaging."""

from __future__ import annotations

import collections
import os
import pathlib
import threading
import time

import oslo_messaging
import pytest
from oslo_config import cfg
from stevedore import driver as stevedore_driver

from oslo_messaging_driverlib.errors import AnswerLost
from oslo_messaging_embedded import driver, errors
from tests.message_bus import TOPIC
from tests.unit.transports.embedded.conftest import Bus
from tests.waiting import eventually


def test_driver_is_found_by_its_entry_point() -> None:
    manager = stevedore_driver.DriverManager(
        'oslo.messaging.drivers', 'embedded'
    )
    assert manager.driver is driver.EmbeddedDriver


@pytest.mark.parametrize('response', [None, 0, False, '', [], {}])
def test_call_when_response_is_empty_returns_it(
    bus: Bus, response: object
) -> None:
    bus.server()
    assert bus.client().call({}, 'echo', value=response) == [None, response]


def test_call_with_several_servers_uses_them_in_turn(
    bus: Bus,
) -> None:
    for name in ('one', 'two', 'three'):
        bus.server(name)
    client = bus.client()
    calls = collections.Counter(client.call({}, 'identify') for _ in range(30))
    assert calls == {'one': 10, 'two': 10, 'three': 10}


def test_call_when_topic_or_exchange_differs_reaches_no_other(
    bus: Bus,
) -> None:
    bus.server('one', topic='red')
    bus.server('two', topic='blue')
    assert bus.client(topic='red').call({}, 'identify') == 'one'
    assert bus.client(topic='blue').call({}, 'identify') == 'two'
    elsewhere = bus.client(topic='red', timeout=0.1).prepare(
        exchange='elsewhere'
    )
    with pytest.raises(oslo_messaging.MessagingTimeout):
        elsewhere.call({}, 'identify')


def test_call_when_server_raises_another_class_raises_remote_error(
    bus: Bus,
) -> None:
    bus.server()
    client = bus.client(over=bus.transport(allowed=()))
    with pytest.raises(oslo_messaging.RemoteError, match='BadThing too bad'):
        client.call({}, 'fail', kind='BadThing')


def test_call_when_method_is_unknown_raises(bus: Bus) -> None:
    bus.server()
    with pytest.raises(oslo_messaging.NoSuchMethod, match='nonsense'):
        bus.client().call({}, 'nonsense')


@pytest.mark.parametrize(
    ('method', 'arguments', 'reason'),
    [
        ('unsendable', {}, 'keys must be str'),
        ('many', {'size': 3000}, 'max_frame_size'),
    ],
)
def test_call_when_response_cannot_be_sent_raises_the_reason(
    bus: Bus, method: str, arguments: dict[str, int], reason: str
) -> None:
    bus.server(max_frame_size=2000)
    client = bus.client()
    with pytest.raises(oslo_messaging.MessagingTimeout, match=reason):
        client.call({}, method, **arguments)
    assert client.call({}, 'identify') == 'one'


def test_call_when_response_exceeds_the_limit_raises(bus: Bus) -> None:
    bus.server()
    client = bus.client(over=bus.transport(max_frame_size=2000))
    with pytest.raises(AnswerLost, match='max_frame_size'):
        client.call({}, 'many', size=3000)
    assert client.call({}, 'identify') == 'one'


def test_call_when_message_exceeds_the_limit_is_not_sent(
    bus: Bus,
) -> None:
    bus.server()
    client = bus.client(over=bus.transport(max_frame_size=2000))
    with pytest.raises(errors.FrameTooLarge, match='2000'):
        client.call({}, 'echo', value='x' * 3000)


@pytest.mark.parametrize('size', [3000, 3_000_000])
def test_call_when_message_exceeds_the_servers_limit_raises(
    bus: Bus, size: int
) -> None:
    bus.server(max_frame_size=2000)
    client = bus.client()
    with pytest.raises(errors.FrameTooLarge, match='limit of 2000'):
        client.call({}, 'echo', value='x' * size)
    assert client.call({}, 'identify') == 'one'


def test_call_when_response_is_late_times_out(bus: Bus) -> None:
    _, worker = bus.server()
    with pytest.raises(
        oslo_messaging.MessagingTimeout,
        match=r"no response from topic 'work' .*; waited 0.1 s",
    ):
        bus.client(timeout=0.1).call({}, 'hold')
    worker.proceed.set()
    assert bus.client().call({}, 'identify') == 'one'


def test_call_without_heartbeats_times_out_early(bus: Bus) -> None:
    _, worker = bus.server(threads=1)
    client = bus.client()
    busy = threading.Thread(target=client.call, args=({}, 'hold'))
    busy.start()
    assert worker.started.acquire(timeout=120)
    with pytest.raises(
        oslo_messaging.MessagingTimeout, match=r'0.2 s without a heartbeat'
    ):
        bus.client().prepare(call_monitor_timeout=0.2).call({}, 'identify')
    worker.proceed.set()
    busy.join()


def test_call_without_servers_times_out_with_the_reason(bus: Bus) -> None:
    client = bus.client(timeout=0.2)
    begun = time.monotonic()
    with pytest.raises(
        oslo_messaging.MessagingTimeout,
        match=r"no server listens on topic 'work'.*; waited 0.2 s",
    ):
        client.call({}, 'identify')
    assert 0.2 <= time.monotonic() - begun < 1


def test_call_when_the_named_server_is_absent_names_it(bus: Bus) -> None:
    bus.server('one')
    client = bus.client(timeout=0.1).prepare(server='two')
    with pytest.raises(oslo_messaging.MessagingTimeout, match="server 'two'"):
        client.call({}, 'identify')


def test_call_when_server_starts_late_is_answered(bus: Bus) -> None:
    timer = threading.Timer(0.2, bus.server)
    client = bus.client()
    timer.start()
    assert client.call({}, 'identify') == 'one'
    timer.join()


def test_call_without_retry_fails_at_once(bus: Bus) -> None:
    client = bus.client(retry=0)
    with pytest.raises(
        oslo_messaging.MessageDeliveryFailure, match='searched 1 time'
    ):
        client.call({}, 'identify')
    bus.server()
    assert client.call({}, 'identify') == 'one'


def test_cast_without_servers_raises(bus: Bus) -> None:
    client = bus.client(over=bus.transport(delivery_timeout=0.1))
    with pytest.raises(
        oslo_messaging.MessageDeliveryFailure, match='no server listens'
    ):
        client.cast({}, 'store', value=1)


def test_cast_when_server_starts_late_reaches_it(bus: Bus) -> None:
    client = bus.client()
    started = []
    timer = threading.Timer(0.1, lambda: started.append(bus.server()))
    timer.start()
    client.cast({}, 'store', value=1)
    timer.join()
    eventually(lambda: started[0][1].values == [1])


@pytest.mark.parametrize(
    'url', ['embedded://', 'embedded:///', 'embedded://run/x']
)
def test_transport_when_url_names_no_directory_raises(url: str) -> None:
    with pytest.raises(
        oslo_messaging.InvalidTransportURL, match='three slashes'
    ):
        oslo_messaging.get_rpc_transport(cfg.ConfigOpts(), url)


def test_transport_when_others_have_access_raises(
    bus: Bus, tmp_path: pathlib.Path
) -> None:
    bus.root.mkdir(mode=0o755)
    with pytest.raises(errors.UnsafeDirectory, match='chmod 0700'):
        bus.transport()


def test_notifications_are_rejected(bus: Bus) -> None:
    transport = bus.transport()
    target = oslo_messaging.Target(topic=TOPIC)
    with pytest.raises(NotImplementedError, match='log or noop'):
        transport._send_notification(target, {}, {}, 2.0)
    with pytest.raises(NotImplementedError, match='log or noop'):
        transport._listen_for_notifications([(target, 'info')], None, 1, None)


def test_call_when_transport_was_cleaned_up_raises(bus: Bus) -> None:
    bus.server()
    transport = bus.transport()
    client = bus.client(over=transport)
    client.call({}, 'identify')
    transport.cleanup()
    with pytest.raises(
        oslo_messaging.MessageDeliveryFailure, match='cleaned up'
    ):
        client.call({}, 'identify')


def test_server_when_stopped_and_started_again_serves(bus: Bus) -> None:
    server, _ = bus.server()
    client = bus.client()
    assert client.call({}, 'identify') == 'one'
    server.stop()
    server.wait()
    assert bus.sockets() == []
    server.start()
    assert client.call({}, 'identify') == 'one'


def test_call_when_servers_restart_leaks_no_descriptors(
    bus: Bus,
) -> None:
    client = bus.client()

    def open_files() -> int:
        return len(os.listdir('/proc/self/fd'))

    for turn in range(8):
        server, _ = bus.server()
        client.call({}, 'identify')
        server.stop()
        server.wait()
        if turn == 1:
            before = open_files()
    assert open_files() <= before + 1


def test_list_opts_returns_all_options() -> None:
    [(group, options)] = driver.list_opts()
    assert group == 'embedded_messaging'
    assert options == driver.OPTS
