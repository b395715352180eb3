# SPDX-License-Identifier: Apache-2.0
"""A listener under load, with malformed input, and while it stops."""

from __future__ import annotations

import pathlib
import socket
import threading
from collections.abc import Callable
from concurrent import futures
from typing import Any

import oslo_messaging
import pytest

from oslo_messaging_driverlib.errors import AnswerLost
from oslo_messaging_embedded import directory, framing, listener
from oslo_messaging_embedded.framing import FrameKind
from tests.unit.transports.embedded.conftest import Bus
from tests.waiting import eventually

LIMIT = 10_000


def connect(path: pathlib.Path) -> socket.socket:
    connected = directory.connect(str(path), 5)
    assert connected is not None
    return connected


def packed(kind: FrameKind, payload: bytes) -> bytes:
    return framing.pack(kind, 7, payload, LIMIT)


@pytest.mark.parametrize(
    'data',
    [
        b'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
        framing.HEADER.pack(2**32 - 1, FrameKind.CALL, 1),
        packed(FrameKind.REPLY, b'null'),
        packed(FrameKind.CALL, b'{'),
        packed(FrameKind.CALL, b'\xff\xfe'),
        packed(FrameKind.CALL, b'null'),
        packed(FrameKind.CALL, b'[{}, {}]'),
        packed(FrameKind.CALL, b'[{}, [], null]'),
        packed(FrameKind.CAST, b'[[], {}, null]'),
        packed(FrameKind.CAST, b'[{}, {}, "soon"]'),
        packed(FrameKind.FANOUT, b''),
        packed(FrameKind.CALL, b'[{}, {}, null]') + b'\0' * 20,
    ],
)
def test_listener_when_data_is_malformed_closes_the_connection(
    bus: Bus, data: bytes
) -> None:
    bus.server()
    with connect(bus.sockets()[0]) as attacker:
        attacker.sendall(data)
        with pytest.raises((EOFError, ConnectionResetError)):
            read_to_the_end(attacker)
    assert bus.client().call({}, 'identify') == 'one'


def read_to_the_end(connected: socket.socket) -> None:
    while connected.recv(1000):
        pass
    raise EOFError


def test_listener_when_message_has_no_method_returns_a_failure(
    bus: Bus,
) -> None:
    bus.server()
    with connect(bus.sockets()[0]) as odd:
        odd.sendall(packed(FrameKind.CALL, b'[{}, {}, null]'))
        [frame] = framing.FrameReader(LIMIT).feed(odd.recv(10_000))
    assert frame.kind is FrameKind.FAILURE


@pytest.mark.parametrize(
    'data', [b'', b'\0\0', packed(FrameKind.CALL, b'x' * 99)]
)
def test_listener_when_peer_disconnects_in_a_frame_continues(
    bus: Bus, data: bytes
) -> None:
    bus.server()
    with connect(bus.sockets()[0]) as leaver:
        leaver.sendall(data[:50])
    assert bus.client().call({}, 'identify') == 'one'


def test_listener_when_frame_arrives_slowly_serves_others(
    bus: Bus,
) -> None:
    bus.server()
    message = (
        b'[{}, {"method": "identify", "version": "1.0", "args": {}}, null]'
    )
    with connect(bus.sockets()[0]) as slow:
        for byte in packed(FrameKind.CALL, message):
            slow.sendall(bytes([byte]))
            if byte % 16 == 0:
                assert bus.client().call({}, 'identify') == 'one'
        [frame] = framing.FrameReader(LIMIT).feed(slow.recv(1000))
    assert frame == (FrameKind.REPLY, 7, b'"one"')


def in_threads(
    count: int, call: Callable[[int], Any]
) -> tuple[futures.ThreadPoolExecutor, list[futures.Future[Any]]]:
    pool = futures.ThreadPoolExecutor(count)
    return pool, [pool.submit(call, number) for number in range(count)]


def test_listener_when_queue_is_full_stops_reading_until_it_is_not(
    bus: Bus,
) -> None:
    _, worker = bus.server(threads=1, queue_size=2)
    room = 1 + listener.MAX_SUBMITTED + 2
    client = bus.client(timeout=20, over=bus.transport(delivery_timeout=0.3))
    for value in range(room):
        client.cast({}, 'hold', value=value)
    with pytest.raises(
        oslo_messaging.MessageDeliveryFailure, match='did not accept'
    ):
        client.cast({}, 'hold', value='rejected')
    pool, calls = in_threads(4, lambda number: client.call({}, 'identify'))
    assert not futures.wait(calls, 0.05).done
    worker.proceed.set()
    assert [call.result() for call in calls] == ['one'] * 4
    pool.shutdown()
    # The rejected message was not handled: its sender got an error.
    assert worker.values == list(range(room))


def test_listener_when_caller_timed_out_drops_the_call(bus: Bus) -> None:
    _, worker = bus.server(threads=1)
    for value in range(1 + listener.MAX_SUBMITTED):
        bus.client().cast({}, 'hold', value=value)
    with pytest.raises(oslo_messaging.MessagingTimeout):
        bus.client(timeout=0.1).call({}, 'store', value='too late')
    worker.proceed.set()
    assert bus.client().call({}, 'identify') == 'one'
    assert 'too late' not in worker.values


def test_stop_when_calls_wait_lets_another_server_handle_them(
    bus: Bus,
) -> None:
    old, worker = bus.server('old', threads=1)
    client = bus.client()
    count = 1 + listener.MAX_SUBMITTED + 6
    pool, calls = in_threads(
        count, lambda number: client.call({}, 'hold', value=number)
    )
    listening = old.listener
    eventually(lambda: len(listening._queue) == 6)
    _, newer = bus.server('new', threads=20)
    newer.proceed.set()
    stopping = threading.Thread(target=old.stop)
    stopping.start()
    eventually(lambda: sum(call.done() for call in calls) == 6)
    assert {call.result() for call in calls if call.done()} == {'new'}
    worker.proceed.set()
    stopping.join()
    old.wait()
    responses = [call.result() for call in calls]
    pool.shutdown()
    assert responses.count('new') == 6
    # Each call was handled once.
    assert sorted(worker.values + newer.values) == list(range(count))


def test_stop_when_casts_wait_handles_them_first(bus: Bus) -> None:
    server, worker = bus.server(threads=1)
    client = bus.client()
    for value in range(30):
        client.cast({}, 'hold', value=value)
    server.stop()
    worker.proceed.set()
    server.wait()
    assert worker.values == list(range(30))


def test_stop_under_load_loses_and_repeats_nothing(
    bus: Bus,
) -> None:
    """Servers start and stop while clients call."""
    client = bus.client()
    workers = [bus.server('first')[1]]
    ends = threading.Event()

    def run(number: int) -> list[str]:
        values = []
        turn = 0
        while not ends.is_set():
            value = f'{number}.{turn}'
            client.call({}, 'store', value=value)
            values.append(value)
            turn += 1
        return values

    pool, calls = in_threads(8, run)
    for turn in range(15):
        server, worker = bus.server(f's{turn}')
        workers.append(worker)
        eventually(lambda: bool(workers[-1].values))
        server.stop()
        server.wait()
    ends.set()
    answered = [value for call in calls for value in call.result()]
    pool.shutdown()
    received = [value for worker in workers for value in worker.values]
    assert sorted(received) == sorted(answered)


def test_stop_when_a_message_is_half_sent_sends_it_to_another(
    bus: Bus,
) -> None:
    old, worker = bus.server('old', threads=1, queue_size=1)
    client = bus.client()
    for value in range(1 + listener.MAX_SUBMITTED + 1):
        client.cast({}, 'hold', value=value)
    value = 'x' * 3_000_000
    pool, [call] = in_threads(
        1, lambda _: client.call({}, 'echo', value=value)
    )
    assert not futures.wait([call], 0.1).done
    old.stop()
    bus.server('new')
    assert call.result() == [None, value]
    worker.proceed.set()
    old.wait()
    pool.shutdown()


def test_cleanup_when_a_call_is_in_progress_fails_it(
    bus: Bus,
) -> None:
    server, worker = bus.server()
    client = bus.client()
    pool, [call] = in_threads(1, lambda number: client.call({}, 'hold'))
    assert worker.started.acquire(timeout=120)
    server.stop()
    server.listener.cleanup()
    with pytest.raises(AnswerLost, match='before it responded'):
        call.result()
    pool.shutdown()


def test_listener_when_never_started_can_be_cleaned_up(bus: Bus) -> None:
    transport = bus.transport()
    target = oslo_messaging.Target(topic='work', server='one')
    unused = transport._listen(target, 1, None)
    assert len(bus.sockets()) == 1
    unused.cleanup()
    assert bus.sockets() == []


def test_call_when_dead_listeners_left_sockets_removes_them(
    bus: Bus,
) -> None:
    bus.server()
    alive = bus.sockets()[0]
    name, _, _ = alive.name.rpartition('.')
    for number in range(5):
        with socket.socket(socket.AF_UNIX) as dead:
            path = str(alive.with_name(f'{name}.{number}'))
            with directory.short_path(path) as short:
                dead.bind(short)
    client = bus.client()
    assert [client.call({}, 'identify') for _ in range(7)] == ['one'] * 7
    assert bus.sockets() == [alive]
