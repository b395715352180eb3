# SPDX-License-Identifier: Apache-2.0
"""RabbitMQ keeps a call until it is answered."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from concurrent import futures
from typing import Any

import pytest

from tests.functional import brokers
from tests.functional.processes import wait_for
from tests.functional.vobjects.rpc.servers import (
    Processes,
    in_background,
    kill,
)

pytestmark = pytest.mark.rabbit


@pytest.fixture
def processes(tmp_path: pathlib.Path) -> Iterator[Processes]:
    with brokers.temporary('rabbit') as url:
        made = Processes(url, tmp_path)
        yield made
        made.close()


class Held:
    """A call that lasts until it is let go.

    :ivar answer: the name of the server whose answer came
    """

    def __init__(self, client: Any, directory: pathlib.Path) -> None:
        self._log = directory / 'log'
        self._until = directory / 'until'
        self._log.touch()
        self._pool, self.answer = in_background(
            lambda: client.call(
                {}, 'hold', log=str(self._log), until=str(self._until)
            )
        )

    def servers(self) -> list[str]:
        """Return the servers that have begun it, in order."""
        return self._log.read_text().split()

    def begun(self, count: int = 1) -> list[str]:
        """Return the servers once so many have begun it."""
        return (
            wait_for(
                f'{count} have begun it',
                lambda: len(self.servers()) == count and self.servers(),
            )
            or []
        )

    def end(self) -> futures.Future[str]:
        self._until.touch()
        self._pool.shutdown()
        return self.answer


def test_call_when_server_is_killed_at_it_is_answered_by_another(
    processes: Processes, tmp_path: pathlib.Path
) -> None:
    servers = {name: processes.server(name) for name in ('one', 'two')}
    held = Held(processes.client(), tmp_path)
    (first,) = held.begun()

    kill(servers.pop(first))

    (second,) = servers
    assert held.begun(2) == [first, second]
    assert held.end().result() == second


def test_call_when_server_stops_at_it_is_done_once(
    processes: Processes, tmp_path: pathlib.Path
) -> None:
    servers = {name: processes.server(name) for name in ('one', 'two')}
    client = processes.client()
    held = Held(client, tmp_path)
    (first,) = held.begun()
    stopping = servers.pop(first)
    assert stopping.stdin is not None
    stopping.stdin.close()

    assert held.end().result() == first
    stopping.wait()
    # What it had left would come before this.
    assert client.call({}, 'who')[0] != first
    assert held.servers() == [first]


def test_call_when_connections_are_cut_is_done_once(
    processes: Processes, tmp_path: pathlib.Path
) -> None:
    processes.server('one')
    client = processes.client()
    held = Held(client, tmp_path)
    held.begun()

    brokers.close_connections(processes.url)

    assert client.call({}, 'who')[0] == 'one'  # it is connected again
    assert held.end().result() == 'one'
    assert held.servers() == ['one']
