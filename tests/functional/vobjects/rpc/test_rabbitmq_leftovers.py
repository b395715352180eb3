# SPDX-License-Identifier: Apache-2.0
"""What servers and callers leave on RabbitMQ when they end."""

from __future__ import annotations

import pathlib

import pytest

from tests.functional import brokers
from tests.functional.processes import TIMEOUT, wait_for
from tests.functional.vobjects.rpc.servers import Processes, kill

pytestmark = pytest.mark.rabbit

RESTARTS = 20

#: Seconds after which the broker deletes transient queues without consumer.
EXPIRY = 2


def test_broker_after_restarts_and_a_kill_has_nothing_more_than_before(
    tmp_path: pathlib.Path,
) -> None:
    with brokers.temporary('rabbit') as url:
        processes = Processes(
            f'{url}?rabbit_transient_queues_ttl={EXPIRY}', tmp_path
        )
        try:
            serve_once(processes, 'first')
            before = settled(url)
            assert before
            for number in range(RESTARTS):
                serve_once(processes, f'server-{number}')
            killed = processes.server('killed')
            assert brokers.entities(url) > before
            kill(killed)
            wait_for(
                'all that is new is gone',
                lambda: brokers.entities(url) <= before,
            )
        finally:
            processes.close()


def serve_once(processes: Processes, name: str) -> None:
    server = processes.server(name)
    assert processes.client().call({}, 'who')[0] == name
    assert server.stdin is not None
    server.stdin.close()
    assert server.wait(timeout=TIMEOUT) == 0
    processes.end_clients()


def settled(url: str) -> set[str]:
    """Return what the broker has once no transient queue is left."""

    def durable() -> set[str]:
        found = brokers.entities(url)
        transient = [e for e in found if '_fanout_' in e or 'reply_' in e]
        return set() if transient else found

    return wait_for('transient queues have expired', durable)
