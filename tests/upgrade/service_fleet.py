# SPDX-License-Identifier: Apache-2.0
"""The clustering service as a fleet for upgrade plans.

The fleet has two engines, two APIs behind a load balancer that never retries,
and a steady workload. APIs are drained before they are stopped. They are never
killed, because the requests that they are serving would fail.
"""

from __future__ import annotations

import contextlib
import itertools
import pathlib
import signal
import time
from collections.abc import Callable, Iterator, Mapping

from tests import machine_speed
from tests.functional.deployments import Deployment, Platform, deployed
from tests.functional.processes import Process, free_port, wait_for
from tests.functional.rest import NEWEST, RestClient
from tests.revisions import Environment
from tests.upgrade import load_balancer, mixed_fleet
from tests.upgrade.redelivery import RecordedMessages
from tests.upgrade.workload import Workload
from vobjects.lock import installed_locks
from vobjects_testing import upgrade
from vobjects_testing.upgrade.runner import OpenFleet

#: An emulated release: engines use the old manifest of
#: :mod:`tests.upgrade.mixed_fleet`, APIs the oldest release in the lock.
OLD = 'old'

#: The code under test.
NEW = 'new'

#: An older revision of the code, in a separate environment.
REAL = 'real'

#: The code under test, with the driver in transports/pyamqp.
PYAMQP = 'pyamqp'

#: [fleet] heartbeat_interval in seconds.
HEARTBEAT = 3.0 * machine_speed.scale()

#: Minimum and maximum seconds to suspend an engine: shorter than a lease,
#: because the engine may hold the only write lock of an SQLite file.
PAUSES = (0.5, 2.5)

APIS = frozenset({'api-1', 'api-2'})

SETTINGS = {
    'fleet': {'heartbeat_interval': HEARTBEAT},
    'engine': {'max_clusters_per_project': 1_000_000},
}


def terms(*older: str, newer: tuple[str, ...] = ()) -> upgrade.PlanConfig:
    """Return the processes and steps of plans for the service.

    :param older: releases before ``new``, oldest first
    :param newer: releases after it
    """
    releases = (*older, NEW, *newer)
    only_moved = frozenset({'move'})
    return upgrade.PlanConfig(
        (
            upgrade.Process('engine-1', releases, 'engine'),
            upgrade.Process('engine-2', releases, 'engine'),
            upgrade.Process('api-1', releases, 'api', only_moved),
            upgrade.Process('api-2', releases, 'api', only_moved),
        ),
        redeliver=True,
        pauses=PAUSES,
    )


class ServiceFleet(upgrade.Fleet):
    """A deployment behind a load balancer.

    :param real: environment of the release ``real``
    """

    def __init__(
        self,
        deployment: Deployment,
        balancer: load_balancer.LoadBalancer,
        real: Environment | None,
    ) -> None:
        self._deployment = deployment
        self._balancer = balancer
        self._real = real
        self._running: dict[str, Process] = {}
        self._releases: dict[str, str] = {}
        self._ports = {name: free_port() for name in sorted(APIS)}
        self._manifest = mixed_fleet.old_manifest(deployment)
        self.messages = RecordedMessages(deployment)
        self.workload = Workload(balancer.url, 3)

    def start(self, process: str, release: str) -> None:
        self._releases[process] = release
        if process in APIS:
            self._start_api(process, release)
        else:
            self._start_engine(process, release)

    def stop(self, process: str) -> None:
        if process in APIS:
            self._balancer.drain(self._address(process))
        stopped = self._running.pop(process)
        code = stopped.stop()
        self._deployment.group.remove(stopped)
        assert code == 0, f'{process} ended with exit code {code}'

    def kill(self, process: str) -> None:
        killed = self._running.pop(process)
        killed.kill()
        self._deployment.group.remove(killed)

    def pause(self, process: str, seconds: float) -> None:
        paused = self._running[process]
        paused.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        paused.send_signal(signal.SIGCONT)

    def redeliver(self, which: int) -> None:
        self.messages.repeat(which)

    def before(self) -> None:
        with RestClient(self._balancer.url, '1.0') as rest:
            self.messages.send(rest)
        self.workload.start()
        self.workload.wait_for_rounds()

    def mixed(self) -> None:
        self.workload.wait_for_rounds()

    def after(self) -> None:
        self.workload.wait_for_rounds(2)
        self.workload.stop()
        self.workload.assert_no_failures()
        self._deployment.assert_tidy()
        unfinished = self._deployment.rows(
            'SELECT id, action, status FROM actions'
            " WHERE status != 'SUCCEEDED'"
        )
        assert not unfinished, f'unfinished: {unfinished}'

    def invariants(self) -> Mapping[str, Callable[[], None]]:
        return {
            'no request fails': self.workload.assert_no_failures,
            'all processes run': self._deployment.group.assert_alive,
            'the maximum is that of all engines': self._check_maximum,
        }

    def _check_maximum(self) -> None:
        """Wait until the maximum is that of the running releases."""
        apis = {self._releases[name] for name in self._up() & APIS}
        engines = {self._releases[name] for name in self._up() - APIS}
        if not apis or apis - {NEW, PYAMQP} or REAL in engines:
            return  # nobody offers a maximum, or it is another one
        maximum = '1.7' if OLD in engines else NEWEST
        with RestClient(self._balancer.url) as rest:
            mixed_fleet.wait_for_maximum(rest, maximum)

    def _up(self) -> set[str]:
        return set(self._running)

    def _start_engine(self, name: str, release: str) -> None:
        before = self._deployment.engine_ids()
        self._begin(name, release, 'engine', stop_order=1)

        def is_up() -> bool:
            self._deployment.group.assert_alive()
            return bool(self._deployment.engine_ids() - before)

        wait_for(f'{name} is up', is_up)

    def _start_api(self, name: str, release: str) -> None:
        self._begin(name, release, 'api')
        url = f'http://{self._address(name)}'
        self._deployment.wait_until_served(url=url)
        self._balancer.add(self._address(name))

    def _begin(
        self, name: str, release: str, kind: str, stop_order: int = 0
    ) -> None:
        settings: dict[str, dict[str, object]] = {}
        if kind == 'api':
            settings['api'] = {'port': self._ports[name]}
        if release == PYAMQP:
            _, _, address = self._deployment.transport_url.partition('://')
            settings['DEFAULT'] = {'transport_url': f'pyamqp://{address}'}
        words = [kind]
        if release == OLD:
            words.append(self._old(kind))
        command = self._deployment.command(
            *words, name=name, settings=settings
        )
        if release == REAL:
            assert self._real is not None
            command[:3] = [self._real.program('vobjects')]
        self._running[name] = self._deployment.group.start(
            name, *command, stop_order=stop_order
        )

    def _old(self, kind: str) -> str:
        """Return the option that emulates the old release."""
        if kind == 'api':
            oldest = installed_locks.of_service('clustering').releases[0]
            return f'--emulate={oldest}'
        path = self._deployment.directory / 'old.json'
        self._manifest.dump(path)
        return f'--manifest={path}'

    def _address(self, name: str) -> str:
        return f'127.0.0.1:{self._ports[name]}'


def opener(
    platform: Platform,
    directory: pathlib.Path,
    real: Environment | None = None,
) -> OpenFleet:
    """Return a context manager that starts a new fleet for each run.

    :param real: environment of the release ``real``, if plans use it
    """
    runs = itertools.count(1)

    @contextlib.contextmanager
    def opened() -> Iterator[upgrade.Fleet]:
        run_directory = directory / f'run-{next(runs)}'
        run_directory.mkdir()
        with (
            load_balancer.running() as balancer,
            deployed(platform, run_directory, SETTINGS) as deployment,
        ):
            fleet = ServiceFleet(deployment, balancer, real)
            try:
                yield fleet
            finally:
                fleet.workload.stop()
                fleet.messages.close()

    return opened
