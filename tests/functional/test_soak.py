# SPDX-License-Identifier: Apache-2.0
"""Soak test: load while engines are killed and the broker is restarted.

``VOBJECTS_SOAK`` is the duration in seconds. Runs of at least five minutes
restart the broker, so that it must have no other users. Shorter runs only
close the connections to it.

``VOBJECTS_SOAK_OLD`` is an older revision of the code. Half of the engines run
it, for instance with the RabbitMQ driver of oslo.messaging.
"""

from __future__ import annotations

import itertools
import os
import pathlib
import random
import sys
import time
from collections.abc import Iterator

import pytest

from tests.functional import brokers, soak
from tests.functional.deployments import Deployment, Engine, Platform, deployed
from tests.functional.rest import unique
from vobjects.testing.upgrade import revisions

ROOT = pathlib.Path(__file__).parents[2]

SECONDS = float(os.environ.get('VOBJECTS_SOAK', '20'))

OLD = os.environ.get('VOBJECTS_SOAK_OLD')

#: Seconds from which a run restarts the broker and checks memory.
LONG = 300

CLIENTS = 32 if SECONDS >= LONG else 8
ENGINES = 3

#: Allowed growth of memory in bytes, for caches and fragmentation.
MAX_GROWTH = 32 << 20

SETTINGS = {
    'fleet': {'heartbeat_interval': 2, 'call_timeout': 20},
    'engine': {'stop_timeout': 5, 'max_clusters_per_project': 1_000_000},
    'simulated': {'latency': 0.05},
}

#: Errors that processes may log while others or the broker are down.
ALLOWED_ERRORS = (
    r'out of reach|AMQP|amqp|[Cc]onnection|rabbit|Unexpected error'
)


def restart(deployment: Deployment) -> None:
    """Restart the broker, or close the connections to it."""
    if SECONDS >= LONG:
        brokers.restart()
    else:
        brokers.close_connections(deployment.transport_url)


@pytest.mark.rabbit
@pytest.mark.postgresql
def test_no_accepted_action_is_lost_or_repeated(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(SECONDS)
    programs = alternating_programs()
    with deployed(
        Platform('rabbit', 'postgresql'),
        tmp_path,
        SETTINGS,
        allowed_errors=ALLOWED_ERRORS,
    ) as deployment:
        engines = [
            deployment.start_engine(unique('engine'), program=next(programs))
            for _ in range(ENGINES)
        ]
        api = deployment.start_api()
        workload = soak.RetryingWorkload(deployment.url, CLIENTS)
        workload.start()
        try:
            workload.wait_for_rounds()  # before the first fault
            began = time.monotonic()
            used: list[int] = []
            is_cut = False
            while (past := time.monotonic() - began) < SECONDS:
                workload.assert_no_failures()
                if not is_cut and past > SECONDS / 2:
                    restart(deployment)
                    is_cut = True
                replace(deployment, engines, chance, next(programs))
                used.append(soak.memory_of(api))
                time.sleep(chance.uniform(0.5, 5))
            workload.wait_for_rounds()
        finally:
            workload.stop()
        workload.assert_no_failures()
        soak.settle(deployment)
        with capsys.disabled():
            sys.stdout.write(
                f'\n{workload.summary()}, {len(used)} engines killed,'
                f' API {used[0] >> 20} to {used[-1] >> 20} MiB\n'
            )
        if SECONDS >= LONG:
            # The first third warms up.
            assert used[-1] - used[len(used) // 3] < MAX_GROWTH, used


def alternating_programs() -> Iterator[str]:
    """Return the programs of the next engines; empty: the code under test."""
    if OLD is None:
        return itertools.repeat('')
    old = revisions.environment(ROOT, OLD)
    return itertools.cycle(['', old.program('vobjects')])


def replace(
    deployment: Deployment,
    engines: list[Engine],
    chance: random.Random,
    program: str,
) -> None:
    """Kill a random engine and start another."""
    victim = engines.pop(chance.randrange(len(engines)))
    victim.process.kill()
    deployment.group.remove(victim.process)
    engines.append(deployment.start_engine(unique('engine'), program=program))
