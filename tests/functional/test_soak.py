# SPDX-License-Identifier: Apache-2.0
"""Many workload, while engines are killed and the broker goes away.

For as many seconds as ``VOBJECTS_SOAK`` says. Of ten minutes, ``pytest
tests/functional/test_soak.py`` needs a broker that nobody else uses: it is
restarted. In a short run, only the connections to it are cut.
"""

from __future__ import annotations

import os
import pathlib
import random
import sys
import time

import pytest

from tests.functional import brokers, soak
from tests.functional.deployments import Deployment, Engine, Platform, deployed
from tests.functional.rest import unique

SECONDS = float(os.environ.get('VOBJECTS_SOAK', '20'))

#: From this long on, the broker is restarted, and memory is looked at.
LONG = 300

CLIENTS = 32 if SECONDS >= LONG else 8
ENGINES = 3

#: Growth, in bytes, of what does not leak: caches, and pieces of the heap.
GROWTH = 32 << 20

SETTINGS = {
    'fleet': {'heartbeat_interval': 2, 'call_timeout': 20},
    'engine': {'stop_timeout': 5, 'max_clusters_per_project': 1_000_000},
    'simulated': {'latency': 0.05},
}

#: What processes say when others, or the broker, are away.
ALLOWED_ERRORS = (
    r'out of reach|AMQP|amqp|[Cc]onnection|rabbit|Unexpected error'
)


def restart(deployment: Deployment) -> None:
    """Have the broker go away, and come back."""
    if SECONDS >= LONG:
        brokers.restart()
    else:
        brokers.close_connections(deployment.transport_url)


@pytest.mark.rabbit
@pytest.mark.postgresql
def test_nothing_accepted_is_lost_or_done_twice(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(SECONDS)
    with deployed(
        Platform('rabbit', 'postgresql'),
        tmp_path,
        SETTINGS,
        allowed_errors=ALLOWED_ERRORS,
    ) as deployment:
        engines = [
            deployment.start_engine(unique('engine')) for _ in range(ENGINES)
        ]
        api = deployment.start_api()
        workload = soak.RetryingWorkload(deployment.url, CLIENTS)
        workload.start()
        try:
            workload.wait_for_rounds()  # before anything is in the way
            began = time.monotonic()
            used: list[int] = []
            is_cut = False
            while (past := time.monotonic() - began) < SECONDS:
                workload.assert_no_failures()
                if not is_cut and past > SECONDS / 2:
                    restart(deployment)
                    is_cut = True
                replace(deployment, engines, chance)
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
            assert used[-1] - used[len(used) // 3] < GROWTH, used


def replace(
    deployment: Deployment, engines: list[Engine], chance: random.Random
) -> None:
    """Kill an engine, and start another."""
    victim = engines.pop(chance.randrange(len(engines)))
    victim.process.kill()
    deployment.group.remove(victim.process)
    engines.append(deployment.start_engine(unique('engine')))
