# SPDX-License-Identifier: Apache-2.0
"""A server that stops loses no call, with any driver for RabbitMQ."""

from __future__ import annotations

import pathlib
import threading
from concurrent import futures

import pytest

from tests.functional import brokers
from tests.functional.processes import TIMEOUT
from tests.functional.transports.servers import Processes

pytestmark = pytest.mark.rabbit

CLIENTS = 6

#: Calls of each client before a server stops, and after.
CALLS = 20


@pytest.mark.parametrize('driver', ['pyamqp', 'rabbit'])
def test_server_that_stops_under_load_loses_no_call(
    driver: str, tmp_path: pathlib.Path
) -> None:
    log = tmp_path / 'log'
    with brokers.temporary(driver) as url:
        processes = Processes(url, tmp_path)
        try:
            processes.server('stays')
            leaving = processes.server('leaves')
            # A lost call waits for this timeout, in seconds.
            client = processes.client(timeout=30)
            warm = threading.Barrier(CLIENTS + 1)

            def run(number: int) -> None:
                for turn in range(2 * CALLS):
                    if turn == CALLS:
                        warm.wait(TIMEOUT)
                    item = f'{number}.{turn}'
                    assert client.call(
                        {}, 'work', log=str(log), item=item
                    ) == (item)

            with futures.ThreadPoolExecutor(CLIENTS) as pool:
                runs = [pool.submit(run, n) for n in range(CLIENTS)]
                warm.wait(TIMEOUT)
                leaving.stdin.close()
                for each in runs:
                    each.result(TIMEOUT)
            assert leaving.wait(TIMEOUT) == 0
        finally:
            processes.close()
    assert len(log.read_text().split()) == 2 * CALLS * CLIENTS
