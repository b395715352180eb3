# SPDX-License-Identifier: Apache-2.0
"""The embedded driver between processes that start, stop and are killed."""

from __future__ import annotations

import os
import pathlib
import signal
import threading
import time
from collections.abc import Iterator

import oslo_messaging
import pytest

from oslo_messaging_driverlib.errors import AnswerLost
from tests.functional.processes import TIMEOUT, wait_for
from tests.functional.transports.servers import Processes
from tests.message_bus import in_background


@pytest.fixture
def processes(tmp_path: pathlib.Path) -> Iterator[Processes]:
    root = tmp_path / 'bus'
    processes = Processes(f'embedded://{root}', root)
    yield processes
    processes.close()


def test_call_when_its_server_is_killed_fails_at_once(
    processes: Processes,
) -> None:
    server = processes.server('one')
    client = processes.client(timeout=2 * TIMEOUT)
    with in_background(client.call, {}, 'wait', seconds=2 * TIMEOUT) as call:
        wait_for(
            'the call has started', lambda: client.call({}, 'count_waiting')
        )
        server.kill()
        # Long before the timeout of the call.
        with pytest.raises(AnswerLost, match='died'):
            call.result(timeout=TIMEOUT)


def test_call_when_server_was_killed_waits_for_a_new_one(
    processes: Processes,
) -> None:
    first = processes.server('one')
    client = processes.client()
    assert client.call({}, 'identify') == ['one', first.pid]
    first.kill()
    assert len(processes.sockets()) == 1
    with in_background(client.call, {}, 'identify') as call:
        while processes.sockets():
            time.sleep(0.005)  # the client removes the stale socket
        second = processes.server('one')
        assert call.result() == ['one', second.pid]
        assert len(processes.sockets()) == 1


def test_call_when_one_of_two_servers_was_killed_calls_the_other(
    processes: Processes,
) -> None:
    killed, alive = processes.server('one'), processes.server('two')
    client = processes.client()
    pids = {client.call({}, 'identify')[1] for _ in range(4)}
    assert pids == {killed.pid, alive.pid}
    killed.kill()
    assert {client.call({}, 'identify')[1] for _ in range(6)} == {alive.pid}
    assert len(processes.sockets()) == 1


def is_stopped(pid: int) -> bool:
    """Return whether a signal has stopped all threads of a process."""
    threads = pathlib.Path(f'/proc/{pid}/task').glob('*/stat')
    return all(
        path.read_text().rpartition(')')[2].split()[0] == 'T'
        for path in threads
    )


def test_call_when_server_is_killed_before_reading_calls_another(
    processes: Processes,
) -> None:
    """A stopped process reads nothing, so it has not handled the call."""
    stopped = processes.server('one')
    client = processes.client()
    assert client.call({}, 'identify') == ['one', stopped.pid]
    stopped.send_signal(signal.SIGSTOP)
    wait_for('all its threads have stopped', lambda: is_stopped(stopped.pid))
    with in_background(client.call, {}, 'identify') as call:
        time.sleep(0.3)
        other = processes.server('two')
        assert not call.done()
        stopped.kill()
        assert call.result() == ['two', other.pid]


def test_cast_when_every_server_was_killed_raises(
    processes: Processes,
) -> None:
    server = processes.server('one')
    processes.url += '?delivery_timeout=2'
    client = processes.client()
    client.cast({}, 'identify')
    server.kill()
    with pytest.raises(
        oslo_messaging.MessageDeliveryFailure, match='no server listens'
    ):
        client.cast({}, 'identify')
    assert processes.sockets() == []


def test_call_when_server_starts_late_succeeds(
    processes: Processes,
) -> None:
    client = processes.client()
    with in_background(client.call, {}, 'identify') as call:
        server = processes.server('one')
        assert call.result() == ['one', server.pid]


def test_server_when_it_stops_completes_calls_and_removes_sockets(
    processes: Processes,
) -> None:
    server = processes.server('one')
    client = processes.client()
    with in_background(client.call, {}, 'wait', seconds=1) as call:
        wait_for(
            'the call has started', lambda: client.call({}, 'count_waiting')
        )
        server.stdin.close()
        assert call.result() == 'one'
        assert server.wait(timeout=TIMEOUT) == 0
        assert processes.sockets() == []


def test_calls_when_servers_are_replaced_are_handled_once(
    processes: Processes, tmp_path: pathlib.Path
) -> None:
    """A rolling restart under load from two processes."""
    log = tmp_path / 'log'
    servers = [processes.server(name) for name in ('one', 'two')]
    clients = [processes.start(str(log), 'calls', '400') for _ in range(2)]
    printed: list[str] = []
    readers = [
        threading.Thread(target=lambda c=client: printed.extend(c.stdout))
        for client in clients
    ]
    for reader in readers:
        reader.start()
    for turn, server in enumerate(servers):
        processes.server(f'new-{turn}')
        server.stdin.close()
        assert server.wait(timeout=TIMEOUT) == 0
    for client in clients:
        assert client.wait(timeout=TIMEOUT) == 0
    for reader in readers:
        reader.join()
    assert len(printed) == 2 * 4 * 400
    assert sorted(log.read_text().splitlines(keepends=True)) == sorted(printed)


def test_fork_when_child_outlives_its_parent_calls_still_fail(
    processes: Processes,
) -> None:
    server = processes.server('one')
    client = processes.client()
    child, pid = client.call({}, 'fork')
    try:
        # The child called with its own connection.
        assert pid == server.pid
        with in_background(
            client.call, {}, 'wait', seconds=2 * TIMEOUT
        ) as call:
            wait_for(
                'the call has started',
                lambda: client.call({}, 'count_waiting'),
            )
            server.kill()
            # The child has closed the connections and sockets of its parent.
            with pytest.raises(AnswerLost):
                call.result(timeout=TIMEOUT)
        other = processes.server('two')
        # The first call may find an old connection.
        for _ in range(8):
            assert client.call({}, 'identify') == ['two', other.pid]
        assert len(processes.sockets()) == 1
    finally:
        os.kill(child, signal.SIGKILL)
