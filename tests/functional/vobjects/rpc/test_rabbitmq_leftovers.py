# SPDX-License-Identifier: Apache-2.0
"""Queues and exchanges that remain on RabbitMQ after processes end."""

from __future__ import annotations

import pathlib

import pytest

from tests.functional import brokers
from tests.functional.processes import TIMEOUT, wait_for
from tests.functional.transports.servers import Processes

pytestmark = [pytest.mark.long, pytest.mark.rabbit]

RESTARTS = 20

#: Seconds after which the broker deletes transient queues without consumer.
EXPIRY = 2


def test_broker_after_restarts_and_a_kill_has_no_new_entities(
    tmp_path: pathlib.Path,
) -> None:
    with brokers.temporary('pyamqp') as url:
        processes = Processes(
            f'{url}?rabbit_transient_queues_ttl={EXPIRY}', tmp_path
        )
        try:
            serve_once(processes, 'first')
            before = durable_entities(url)
            assert before
            for number in range(RESTARTS):
                serve_once(processes, f'server-{number}')
            killed = processes.server('killed')
            assert brokers.entities(url) > before
            killed.kill()
            wait_for(
                'new entities are deleted',
                lambda: brokers.entities(url) <= before,
            )
        finally:
            processes.close()


def serve_once(processes: Processes, name: str) -> None:
    server = processes.server(name)
    assert processes.client().call({}, 'identify')[0] == name
    server.stdin.close()
    assert server.wait(timeout=TIMEOUT) == 0
    processes.end_clients()


def durable_entities(url: str) -> set[str]:
    """Wait until transient queues have expired; return the entities."""

    def durable() -> set[str]:
        entities = brokers.entities(url)
        transient = [e for e in entities if '_fanout_' in e or 'reply_' in e]
        return set() if transient else entities

    return wait_for('transient queues have expired', durable)
