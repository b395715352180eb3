# SPDX-License-Identifier: Apache-2.0
"""RabbitMQ keeps a call until its response is sent."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from concurrent import futures
from typing import Any

import pytest

from oslo_messaging_driverlib.errors import AnswerLost
from tests.functional import brokers
from tests.functional.processes import TIMEOUT, wait_for
from tests.functional.transports.servers import (
    Processes,
    in_background,
)

pytestmark = pytest.mark.rabbit


@pytest.fixture
def processes(tmp_path: pathlib.Path) -> Iterator[Processes]:
    with brokers.temporary('pyamqp') as url:
        processes = Processes(url, tmp_path)
        yield processes
        processes.close()


class PendingCall:
    """A call that lasts until :meth:`end`.

    :ivar response: name of the server that responded
    """

    def __init__(self, client: Any, directory: pathlib.Path) -> None:
        self._log = directory / 'log'
        self._until = directory / 'until'
        self._log.touch()
        self._pool, self.response = in_background(
            lambda: client.call(
                {}, 'hold', log=str(self._log), until=str(self._until)
            )
        )

    def servers(self) -> list[str]:
        """Return the servers that have started the call, in order."""
        return self._log.read_text().split()

    def wait_for_start(self, count: int = 1) -> list[str]:
        """Wait until a number of servers have started it; return them."""
        return (
            wait_for(
                f'{count} server(s) have started the call',
                lambda: len(self.servers()) == count and self.servers(),
            )
            or []
        )

    def end(self) -> futures.Future[str]:
        self._until.touch()
        self._pool.shutdown()
        return self.response


def test_call_when_its_server_is_killed_is_handled_by_another(
    processes: Processes, tmp_path: pathlib.Path
) -> None:
    servers = {name: processes.server(name) for name in ('one', 'two')}
    pending = PendingCall(processes.client(), tmp_path)
    (first,) = pending.wait_for_start()

    servers.pop(first).kill()

    (second,) = servers
    assert pending.wait_for_start(2) == [first, second]
    assert pending.end().result() == second


def test_call_when_its_server_stops_is_handled_once(
    processes: Processes, tmp_path: pathlib.Path
) -> None:
    servers = {name: processes.server(name) for name in ('one', 'two')}
    client = processes.client()
    pending = PendingCall(client, tmp_path)
    (first,) = pending.wait_for_start()
    stopping = servers.pop(first)
    stopping.stdin.close()

    assert pending.end().result() == first
    stopping.wait()
    # A redelivered call would be handled before this one.
    assert client.call({}, 'identify')[0] != first
    assert pending.servers() == [first]


def test_call_when_connections_are_closed_is_handled_once(
    processes: Processes, tmp_path: pathlib.Path
) -> None:
    processes.server('one')
    client = processes.client()
    pending = PendingCall(client, tmp_path)
    pending.wait_for_start()

    brokers.close_connections(processes.url)

    with pytest.raises(AnswerLost, match='by a test'):
        pending.response.result(TIMEOUT)
    # A redelivered call would be handled before this one.
    assert client.call({}, 'identify')[0] == 'one'
    pending.end()
    assert pending.servers() == ['one']
