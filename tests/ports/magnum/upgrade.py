# SPDX-License-Identifier: Apache-2.0
"""A rolling upgrade of Magnum from 22 to 23, back, and again, under load."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from tests import machine_speed
from tests.functional import processes
from tests.ports.magnum import cloud as clouds
from tests.ports.magnum.deployment import Deployment
from tests.ports.magnum.workload import Workload
from tests.upgrade.load_balancer import Backends

#: Releases and processes in the order of their replacement. The last time, the
#: APIs are first, so that new APIs call old conductors.
ROUNDS = (
    ('23', ('conductor-1', 'conductor-2', 'api-1', 'api-2')),
    ('22', ('conductor-1', 'conductor-2', 'api-1', 'api-2')),
    ('23', ('api-1', 'api-2', 'conductor-1', 'conductor-2')),
)


@dataclasses.dataclass
class Result:
    """What happened to the requests.

    :ivar exit_codes: of the processes that were replaced
    :ivar maxima: advertised maxima by the state of the upgrade
    """

    requests: int
    changes: int
    failed: dict[tuple[str, str, int], int]
    examples: dict[tuple[str, str, int], str]
    lost: list[tuple[str, ...]]
    doubled: list[tuple[str, ...]]
    exit_codes: list[int]
    maxima: dict[str, set[str]]


class _Fleet:
    """The processes of a deployment by name."""

    def __init__(self, deployment: Deployment, backends: Backends) -> None:
        self._deployment = deployment
        self._backends = backends
        self._running: dict[str, processes.Process] = {}
        self._urls: dict[str, str] = {}
        self.exit_codes: list[int] = []

    def start(self, name: str, release: str) -> None:
        if name.startswith('api'):
            url, process = self._deployment.start_api(name, release)
            self._urls[name] = url
            self._backends.add(url)
        else:
            process = self._deployment.start_conductor(name, release)
        self._running[name] = process

    def replace(self, name: str, release: str) -> None:
        if name in self._urls:
            self._backends.drain(self._urls.pop(name))
            self._deployment.stop(self._running.pop(name))
        else:
            code = self._deployment.stop(self._running.pop(name))
            self.exit_codes.append(code)
        self.start(name, release)


def run(
    deployment: Deployment,
    cloud: clouds.Cloud,
    count: int,
    report: Callable[[str], None] = print,
) -> Result:
    """Upgrade a deployment while clients send requests.

    :param count: number of requests to send at least
    """
    backends = Backends()
    workload = Workload(cloud, backends)
    fleet = _Fleet(deployment, backends)
    maxima: dict[str, set[str]] = {}
    start = time.monotonic()

    def note(state: str) -> None:
        maxima[state] = set(workload.maxima)
        workload.maxima.clear()
        report(
            f'{time.monotonic() - start:6.0f} s {workload.requests:6d}'
            f' requests, {sum(workload.failed.values())} failed,'
            f' {len(workload.lost)} lost: {state} {sorted(maxima[state])}'
        )

    deployment.migrate('22')
    for name in ROUNDS[0][1]:
        fleet.start(name, '22')
    workload.start()
    if deployment.edited:
        deployment.set_hold(on=True)
    deployment.expand()
    note('all 22')
    for release, names in ROUNDS:
        for name in names:
            fleet.replace(name, release)
            note(f'{name} is {release}')
    if deployment.edited:
        deployment.set_hold(on=False)
        deployment.migrate('23')
    processes.wait_for(
        f'{count} requests',
        lambda: workload.errors or workload.requests >= count,
        timeout=1800 * machine_speed.scale(),
        interval=1,
    )
    workload.maxima.clear()
    workload.stop()
    note('finalized')
    return Result(
        requests=workload.requests,
        changes=len(workload.accepted) + len(workload.lost),
        failed=dict(workload.failed),
        examples=workload.examples,
        lost=workload.lost,
        doubled=workload.doubled(),
        exit_codes=fleet.exit_codes,
        maxima=maxima,
    )
