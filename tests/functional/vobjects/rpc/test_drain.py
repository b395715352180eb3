# SPDX-License-Identifier: Apache-2.0
"""A draining server receives what its unfinished work waits for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import oslo_messaging
import pytest
from oslo_config import cfg

from tests.functional import brokers
from tests.functional.processes import TIMEOUT, wait_for
from vobjects.rpc import transport, wakeups

TOPIC = 'drain'


class Worker:
    """An endpoint whose work asks another server, and hears wakeups."""

    target = oslo_messaging.Target(version='1.0')

    def __init__(self, name: str, ask: Callable[[], str]) -> None:
        self.name = name
        self.ask = ask
        self.has_begun, self.proceed = threading.Event(), threading.Event()

    def work(self, context: object) -> str:
        self.has_begun.set()
        assert self.proceed.wait(TIMEOUT)
        return self.ask()

    def identify(self, context: object) -> str:
        return self.name


@pytest.mark.parametrize(
    ('driver', 'hears'),
    [
        ('embedded', True),
        pytest.param('pyamqp', True, marks=pytest.mark.rabbit),
        # The driver of oslo.messaging stops receiving.
        pytest.param('rabbit', False, marks=pytest.mark.rabbit),
    ],
)
def test_draining_server_gets_answers_and_wakeups_but_no_new_calls(
    driver: str, hears: bool
) -> None:
    with brokers.temporary(driver) as url:
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[])
        buses = [
            transport.open_transport(conf, 'tests', (), url) for _ in range(2)
        ]
        client = oslo_messaging.get_rpc_client(
            buses[1],
            oslo_messaging.Target(topic=TOPIC, version='1.0'),
            timeout=TIMEOUT,
        )
        heard = threading.Event()

        def serve(bus: Any, name: str) -> tuple[Any, Worker]:
            worker = Worker(name, lambda: str(client.call({}, 'identify')))
            wakeup = wakeups.WakeupEndpoint({wakeups.WORK: heard.set})
            endpoints = [worker, *([wakeup] if name == 'old' else [])]
            server = transport.build_server(bus, TOPIC, 'd', endpoints, 4)
            server.start()
            return server, worker

        old, worker = serve(buses[0], 'old')
        results: list[str] = []
        caller = threading.Thread(
            target=lambda: results.append(str(client.call({}, 'work')))
        )
        caller.start()
        assert worker.has_begun.wait(TIMEOUT)
        # A driver that cannot drain waits for the work.
        draining = threading.Thread(target=old.drain)
        draining.start()
        new, _ = serve(buses[1], 'new')
        if hears:
            draining.join(TIMEOUT)
            wakeups.WakeupSender(buses[1], (TOPIC,)).send(wakeups.WORK)
            wait_for('the wakeup arrives', heard.is_set)
            names = {client.call({}, 'identify') for _ in range(6)}
            assert names == {'new'}
        worker.proceed.set()
        caller.join(TIMEOUT)
        draining.join(TIMEOUT)
        assert results == ['new']
        for server in (old, new):
            server.stop()
            server.wait()
        for bus in buses:
            bus.cleanup()
