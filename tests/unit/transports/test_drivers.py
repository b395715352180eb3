# SPDX-License-Identifier: Apache-2.0
"""What both drivers promise, also beside oslo.messaging's own for RabbitMQ."""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Iterator

import oslo_messaging
import pytest

from tests.functional import brokers
from tests.message_bus import (
    ERRORS,
    OSLO,
    OURS,
    TIMEOUT,
    Bus,
    in_background,
    rabbit_bus,
    stop,
)
from tests.waiting import eventually, in_threads


@pytest.fixture(
    params=[
        pytest.param(None, id='embedded'),
        *(
            pytest.param(
                pair, id=f'{pair[0]}-{pair[1]}', marks=[pytest.mark.rabbit]
            )
            for pair in ((OURS, OURS), (OURS, OSLO), (OSLO, OURS))
        ),
    ]
)
def bus(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path
) -> Iterator[Bus]:
    """A bus with a driver of servers and a driver of clients."""
    if request.param is None:
        bus = Bus(f'embedded://{tmp_path}/bus')
        yield bus
        bus.close()
        return
    with brokers.temporary('rabbit') as url:
        bus = rabbit_bus(url, *request.param)
        yield bus
        bus.close()


def test_call_carries_context_arguments_and_response(bus: Bus) -> None:
    bus.server()
    context = {'user': 'me', 'roles': ['admin']}
    value = {'text': 'é\u2028"\\', 'items': [1, None, 2.5, True], 'big': 2**70}
    assert bus.client().call(context, 'echo', value=value) == ['me', value]


def test_call_when_messages_are_large_carries_them(bus: Bus) -> None:
    bus.server()
    value = 'x' * 5_000_000
    assert bus.client().call({}, 'echo', value=value) == [None, value]


def test_calls_of_many_threads_get_their_own_responses(bus: Bus) -> None:
    for name in ('one', 'two'):
        bus.server(name)
    client = bus.client()

    def run(thread: int) -> None:
        for turn in range(20):
            value = [thread, turn]
            assert client.call({}, 'echo', value=value) == [None, value]

    in_threads(run, range(8))


def test_call_when_the_server_raises_raises_the_same(bus: Bus) -> None:
    bus.server()
    client = bus.client()
    for kind, error in ERRORS.items():
        with pytest.raises(error, match='too bad'):
            client.call({}, 'fail', kind=kind)


def test_call_when_it_takes_too_long_times_out(bus: Bus) -> None:
    _, worker = bus.server()
    with pytest.raises(oslo_messaging.MessagingTimeout):
        bus.client(timeout=1).call({}, 'hold')
    worker.proceed.set()
    assert bus.client().call({}, 'identify') == 'one'


def test_call_with_monitoring_waits_as_long_as_heartbeats_arrive(
    bus: Bus,
) -> None:
    _, worker = bus.server()
    client = bus.client().prepare(call_monitor_timeout=2)
    timer = threading.Timer(4, worker.proceed.set)
    timer.start()
    assert client.call({}, 'hold') == 'one'
    timer.join()


def test_call_of_one_server_reaches_it(bus: Bus) -> None:
    for name in ('one', 'two', 'on'):
        bus.server(name)
    client = bus.client()
    for name in ('on', 'two', 'one', 'one'):
        assert client.prepare(server=name).call({}, 'identify') == name


def test_cast_reaches_one_server(bus: Bus) -> None:
    workers = [bus.server(name)[1] for name in ('one', 'two')]
    client = bus.client()
    for value in range(10):
        client.cast({}, 'store', value=value)
    eventually(lambda: sum(len(worker.values) for worker in workers) == 10)
    values = [value for worker in workers for value in worker.values]
    assert sorted(values) == [*range(10)]


def test_fanout_reaches_all_servers_of_the_topic(bus: Bus) -> None:
    workers = [bus.server(name)[1] for name in ('one', 'two', 'three')]
    other = bus.server('one', topic='other')[1]
    bus.client().prepare(fanout=True).cast({}, 'store', value=1)
    eventually(lambda: all(worker.values == [1] for worker in workers))
    assert other.values == []


def test_fanout_without_a_server_returns(bus: Bus) -> None:
    client = bus.client(topic='nobody').prepare(fanout=True)
    for _ in range(3):
        client.cast({}, 'store', value=1)


def test_server_that_stops_completes_its_calls(bus: Bus) -> None:
    server, worker = bus.server()
    client = bus.client()
    with in_background(client.call, {}, 'hold') as response:
        assert worker.started.acquire(timeout=TIMEOUT)
        stop(server, worker)
        assert response.result(timeout=TIMEOUT) == 'one'
    _, next_worker = bus.server('two')
    assert client.call({}, 'identify') == 'two'
    assert not next_worker.values
