# SPDX-License-Identifier: Apache-2.0
"""Soak test: load while engines are killed and the broker is restarted.

Half of the engines and one of two APIs use the RabbitMQ driver of
oslo.messaging. The environment variable ``VOBJECTS_SOAK`` is the duration in
seconds. Runs of at least five minutes start a broker of their own, and kill
and restart it. Shorter runs only close the connections to the shared one.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pathlib
import random
import sys
import time
from collections.abc import Iterator

import pytest

from tests import machine_speed
from tests.functional import broker_cluster, brokers, soak
from tests.functional.deployments import Deployment, Engine, Platform, deployed
from tests.functional.processes import free_port
from tests.functional.rest import unique

SECONDS = float(os.environ.get('VOBJECTS_SOAK', '20'))

#: Seconds from which a run has its own broker and checks memory.
LONG = 300

#: Clients of each API.
CLIENTS = 16 if SECONDS >= LONG else 4
ENGINES = 4 if SECONDS >= LONG else 3

#: Interruptions of the broker.
RESTARTS = 3 if SECONDS >= LONG else 1

#: Schemes of the drivers that the processes use, in turn.
DRIVERS = ('pyamqp', 'rabbit')

#: Allowed growth of memory in bytes, for caches and fragmentation.
MAX_GROWTH = 32 << 20

SETTINGS = {
    'fleet': {
        'heartbeat_interval': 2 * machine_speed.scale(),
        'call_timeout': 20,
    },
    'engine': {'stop_timeout': 5, 'max_clusters_per_project': 1_000_000},
    'simulated': {'latency': 0.05},
}

#: Errors that processes may log while others or the broker are down. With the
#: driver of oslo.messaging, they log tracebacks.
ALLOWED_ERRORS = (
    r'out of reach|AMQP|amqp|[Cc]onnection|rabbit|Unexpected error'
    r'|^rabbit-\S+: .* oslo_messaging'
)


class Broker:
    """The broker of a short run, which tests share."""

    url = ''

    def interrupt(self, deployment: Deployment) -> None:
        """Close the connections of a deployment."""
        brokers.close_connections(deployment.transport_url)


class OwnBroker(Broker):
    """The broker of a long run."""

    def __init__(self, cluster: broker_cluster.BrokerCluster) -> None:
        self.url = cluster.url
        (self._node,) = cluster.nodes

    def interrupt(self, deployment: Deployment) -> None:
        """Kill the broker and start it again."""
        self._node.kill()
        self._node.start()


@contextlib.contextmanager
def running_broker(directory: pathlib.Path) -> Iterator[Broker]:
    """Provide the broker of the test."""
    if SECONDS < LONG:
        yield Broker()
        return
    directory.mkdir()
    with broker_cluster.running(directory, size=1) as cluster:
        yield OwnBroker(cluster)


@pytest.mark.long
@pytest.mark.rabbit
@pytest.mark.postgresql
@pytest.mark.timeout(SECONDS + 2400)
def test_no_accepted_action_is_lost_or_repeated(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(SECONDS)
    drivers = itertools.cycle(DRIVERS)
    directory = tmp_path / 'service'
    directory.mkdir()
    with (
        running_broker(tmp_path / 'broker') as broker,
        deployed(
            Platform('pyamqp', 'postgresql'),
            directory,
            SETTINGS,
            allowed_errors=ALLOWED_ERRORS,
            transport_url=broker.url,
        ) as deployment,
    ):
        engines = [
            start_engine(deployment, next(drivers)) for _ in range(ENGINES)
        ]
        port = free_port()
        other_url = f'http://127.0.0.1:{port}'
        api = deployment.start_api()
        deployment.start_api(
            'rabbit-api',
            {'api': {'port': port}, **bus(deployment, 'rabbit')},
            url=other_url,
        )
        workloads = [
            soak.RetryingWorkload(url, CLIENTS)
            for url in (deployment.url, other_url)
        ]
        restarts = 0
        used: list[int] = []
        try:
            for workload in workloads:
                workload.start()
            for workload in workloads:
                workload.wait_for_rounds()  # before the first fault
            began = time.monotonic()
            while (
                past := time.monotonic() - began
            ) < SECONDS or restarts < RESTARTS:
                for workload in workloads:
                    workload.assert_no_failures()
                if past > SECONDS * (restarts + 1) / (RESTARTS + 1):
                    broker.interrupt(deployment)
                    restarts += 1
                replace(deployment, engines, chance, next(drivers))
                used.append(soak.memory_of(api))
                time.sleep(chance.uniform(0.5, 5))
            for workload in workloads:
                workload.wait_for_rounds()
        finally:
            for workload in workloads:
                workload.stop()
        for workload in workloads:
            workload.assert_no_failures()
        actions = soak.settle(deployment)
        with capsys.disabled():
            for workload in workloads:
                sys.stdout.write(f'\n{workload.summary()}')
            sys.stdout.write(
                f'\n{actions} accepted actions, 0 lost, 0 repeated;'
                f' {len(used)} engines killed, broker interrupted {restarts}'
                f' time(s), API {used[0] >> 20} to {used[-1] >> 20} MiB\n'
            )
        if SECONDS >= LONG:
            # The first third warms up.
            assert used[-1] - used[len(used) // 3] < MAX_GROWTH, used


def start_engine(deployment: Deployment, driver: str) -> Engine:
    """Start an engine with a driver, one of :data:`DRIVERS`."""
    return deployment.start_engine(
        unique(f'{driver}-engine'), settings=bus(deployment, driver)
    )


def bus(deployment: Deployment, driver: str) -> dict[str, dict[str, object]]:
    """Return the settings of a process with a driver."""
    _, _, address = deployment.transport_url.partition('://')
    return {'DEFAULT': {'transport_url': f'{driver}://{address}'}}


def replace(
    deployment: Deployment,
    engines: list[Engine],
    chance: random.Random,
    driver: str,
) -> None:
    """Kill a random engine and start another."""
    victim = engines.pop(chance.randrange(len(engines)))
    victim.process.kill()
    deployment.group.remove(victim.process)
    engines.append(start_engine(deployment, driver))
