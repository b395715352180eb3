# SPDX-License-Identifier: Apache-2.0
"""The embedded driver between processes that start, stop and get killed."""

from __future__ import annotations

import os
import pathlib
import signal
import threading
import time
from collections.abc import Iterator

import oslo_messaging
import pytest

from tests.functional.processes import TIMEOUT, wait_for
from tests.functional.vobjects.rpc.servers import (
    Processes,
    in_background,
    kill,
)
from vobjects.rpc.drivers import errors


@pytest.fixture
def processes(tmp_path: pathlib.Path) -> Iterator[Processes]:
    root = tmp_path / 'bus'
    made = Processes(f'embedded://{root}', root)
    yield made
    made.close()


def test_call_when_server_is_killed_at_it_fails_at_once(
    processes: Processes,
) -> None:
    server = processes.server('one')
    client = processes.client(timeout=2 * TIMEOUT)
    pool, call = in_background(
        lambda: client.call({}, 'linger', seconds=2 * TIMEOUT)
    )
    wait_for('it lingers', lambda: client.call({}, 'lingering'))
    kill(server)
    # Long before its time is over.
    with pytest.raises(errors.AnswerLost, match='died'):
        call.result(timeout=TIMEOUT)
    pool.shutdown()


def test_call_when_server_was_killed_before_waits_for_its_return(
    processes: Processes,
) -> None:
    first = processes.server('one')
    client = processes.client()
    assert client.call({}, 'who') == ['one', first.pid]
    kill(first)
    assert len(processes.sockets()) == 1
    pool, call = in_background(lambda: client.call({}, 'who'))
    while processes.sockets():
        time.sleep(0.005)  # the caller removes what was left
    second = processes.server('one')
    assert call.result() == ['one', second.pid]
    assert len(processes.sockets()) == 1
    pool.shutdown()


def test_call_when_one_of_two_servers_was_killed_asks_the_other(
    processes: Processes,
) -> None:
    dies, lives = processes.server('one'), processes.server('two')
    client = processes.client()
    asked = {client.call({}, 'who')[1] for _ in range(4)}
    assert asked == {dies.pid, lives.pid}
    kill(dies)
    assert {client.call({}, 'who')[1] for _ in range(6)} == {lives.pid}
    assert len(processes.sockets()) == 1


def test_call_when_server_is_killed_before_it_read_asks_another(
    processes: Processes,
) -> None:
    """A stopped process reads nothing; what it leaves was not begun."""
    stopped = processes.server('one')
    client = processes.client()
    assert client.call({}, 'who') == ['one', stopped.pid]
    stopped.send_signal(signal.SIGSTOP)
    os.waitpid(stopped.pid, os.WUNTRACED)  # until all its threads stand still
    pool, call = in_background(lambda: client.call({}, 'who'))
    time.sleep(0.3)
    other = processes.server('two')
    assert not call.done()
    kill(stopped)
    assert call.result() == ['two', other.pid]
    pool.shutdown()


def test_cast_when_every_server_was_killed_is_not_lost_in_silence(
    processes: Processes,
) -> None:
    server = processes.server('one')
    processes.url += '?delivery_timeout=2'
    client = processes.client()
    client.cast({}, 'who')
    kill(server)
    with pytest.raises(
        oslo_messaging.MessageDeliveryFailure, match='no server listens'
    ):
        client.cast({}, 'who')
    assert processes.sockets() == []


def test_call_when_server_is_not_there_yet_is_answered(
    processes: Processes,
) -> None:
    client = processes.client()
    pool, call = in_background(lambda: client.call({}, 'who'))
    server = processes.server('one')
    assert call.result() == ['one', server.pid]
    pool.shutdown()


def test_server_when_its_input_ends_answers_and_leaves_nothing(
    processes: Processes,
) -> None:
    server = processes.server('one')
    client = processes.client()
    pool, call = in_background(lambda: client.call({}, 'linger', seconds=1))
    wait_for('it lingers', lambda: client.call({}, 'lingering'))
    assert server.stdin is not None
    server.stdin.close()
    assert call.result() == 'one'
    assert server.wait(timeout=TIMEOUT) == 0
    assert processes.sockets() == []
    pool.shutdown()


def test_calls_when_servers_are_replaced_one_by_one_are_done_once(
    processes: Processes, tmp_path: pathlib.Path
) -> None:
    """A rolling restart under load from two processes."""
    log = tmp_path / 'log'
    servers = [processes.server(name) for name in ('one', 'two')]
    callers = [processes.start(str(log), 'calls', '400') for _ in range(2)]
    printed: list[str] = []
    readers = [
        threading.Thread(target=lambda c=caller: printed.extend(c.stdout))
        for caller in callers
    ]
    for reader in readers:
        reader.start()
    for turn, server in enumerate(servers):
        processes.server(f'new-{turn}')
        assert server.stdin is not None
        server.stdin.close()
        assert server.wait(timeout=TIMEOUT) == 0
    for caller in callers:
        assert caller.wait(timeout=TIMEOUT) == 0
    for reader in readers:
        reader.join()
    assert len(printed) == 2 * 4 * 400
    assert sorted(log.read_text().splitlines(keepends=True)) == sorted(printed)


def test_fork_when_child_outlives_the_killed_parent_hides_no_death(
    processes: Processes,
) -> None:
    server = processes.server('one')
    client = processes.client()
    child, asked = client.call({}, 'fork')
    try:
        # The child called with a connection of its own, and was answered.
        assert asked == server.pid
        pool, call = in_background(
            lambda: client.call({}, 'linger', seconds=2 * TIMEOUT)
        )
        wait_for('it lingers', lambda: client.call({}, 'lingering'))
        kill(server)
        # It holds open none of its parent's connections or sockets.
        with pytest.raises(errors.AnswerLost):
            call.result(timeout=TIMEOUT)
        pool.shutdown()
        other = processes.server('two')
        # The first of the calls to the dead one may find an old connection.
        for _ in range(8):
            assert client.call({}, 'who') == ['two', other.pid]
        assert len(processes.sockets()) == 1
    finally:
        os.kill(child, signal.SIGKILL)
