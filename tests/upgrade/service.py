# SPDX-License-Identifier: Apache-2.0
"""The clustering service as a fleet that upgrade plans are run on.

Two engines; two APIs behind a door that tries nothing twice; customers that
ask all the time. An API is drained, stopped, started and let in, as behind
any load balancer; it is never killed, because then a request that it was at
cannot but fail.
"""

from __future__ import annotations

import contextlib
import itertools
import pathlib
import signal
import time
from collections.abc import Callable, Iterator, Mapping

from tests.functional.harness import Deployment, Kind, deployed
from tests.functional.processes import Process, free_port, wait_for
from tests.functional.rest import NEWEST, Rest
from tests.upgrade import door, fleets
from tests.upgrade.customers import Customers
from tests.upgrade.messages import Messages
from vobjects.lock import installed_locks
from vobjects.testing import upgrade
from vobjects.testing.upgrade.revisions import Environment

#: Emulated: engines speak :data:`tests.upgrade.fleets.OLD_TYPES`, and APIs
#: what the oldest release in the lock did.
OLD = 'old'

#: This code.
NEW = 'new'

#: Real code of earlier; only where it is given.
REAL = 'real'

#: Seconds: [fleet] heartbeat_interval.
HEARTBEAT = 3.0

#: Seconds, at least and at most, that an engine is frozen for: less than a
#: lease, because it may have the one lock that an SQLite file has.
PAUSES = (0.5, 2.5)

APIS = frozenset({'api-1', 'api-2'})

SETTINGS = {
    'fleet': {'heartbeat_interval': HEARTBEAT},
    'engine': {'max_clusters_per_project': 1_000_000},
}


def terms(*older: str) -> upgrade.PlanConfig:
    """Return what plans for the service are drawn from.

    :param older: releases beside ``new``, oldest first
    """
    releases = (*older, NEW)
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


class Service(upgrade.Fleet):
    """See the module's docstring.

    :param real: the environment of the release ``real``
    """

    def __init__(
        self,
        deployment: Deployment,
        entrance: door.Door,
        real: Environment | None,
    ) -> None:
        self._deployment = deployment
        self._door = entrance
        self._real = real
        self._running: dict[str, Process] = {}
        self._releases: dict[str, str] = {}
        self._ports = {name: free_port() for name in sorted(APIS)}
        self._manifest = fleets.old_manifest(deployment)
        self.messages = Messages(deployment)
        self.customers = Customers(entrance.url, 3)

    def start(self, process: str, release: str) -> None:
        self._releases[process] = release
        if process in APIS:
            self._start_api(process, release)
        else:
            self._start_engine(process, release)

    def stop(self, process: str) -> None:
        if process in APIS:
            self._door.drain(self._address(process))
        stopped = self._running.pop(process)
        code = stopped.stop()
        self._deployment.group.forget(stopped)
        assert code == 0, f'{process} ended with exit code {code}'

    def kill(self, process: str) -> None:
        killed = self._running.pop(process)
        killed.kill()
        self._deployment.group.forget(killed)

    def pause(self, process: str, seconds: float) -> None:
        paused = self._running[process]
        paused.send(signal.SIGSTOP)
        time.sleep(seconds)
        paused.send(signal.SIGCONT)

    def redeliver(self, which: int) -> None:
        self.messages.repeat(which)

    def before(self) -> None:
        with Rest(self._door.url, '1.0') as rest:
            self.messages.send(rest)
        self.customers.start()
        self.customers.go_on()

    def mixed(self) -> None:
        self.customers.go_on()

    def after(self) -> None:
        self.customers.go_on(2)
        self.customers.stop()
        self.customers.check()
        self._deployment.assert_tidy()
        left = self._deployment.rows(
            'SELECT id, action, status FROM actions'
            " WHERE status != 'SUCCEEDED'"
        )
        assert not left, f'accepted, and not done: {left}'

    def invariants(self) -> Mapping[str, Callable[[], None]]:
        return {
            'no request fails': self.customers.check,
            'no process ends by itself': self._deployment.group.check_alive,
            'the maximum is what all engines serve': self._check_maximum,
        }

    def _check_maximum(self) -> None:
        """Assert that the maximum becomes what it should."""
        apis = {self._releases[name] for name in self._up() & APIS}
        engines = {self._releases[name] for name in self._up() - APIS}
        if apis != {NEW} or REAL in engines:
            return  # it is what that release knows
        wanted = '1.7' if OLD in engines else NEWEST
        with Rest(self._door.url) as rest:
            fleets.wait_for_maximum(rest, wanted)

    def _up(self) -> set[str]:
        return set(self._running)

    def _start_engine(self, name: str, release: str) -> None:
        before = self._deployment.engine_ids()
        self._begin(name, release, 'engine', ends=1)

        def is_up() -> bool:
            self._deployment.group.check_alive()
            return bool(self._deployment.engine_ids() - before)

        wait_for(f'{name} is up', is_up)

    def _start_api(self, name: str, release: str) -> None:
        self._begin(name, release, 'api')
        url = f'http://{self._address(name)}'
        self._deployment.wait_until_served(url=url)
        self._door.let_in(self._address(name))

    def _begin(
        self, name: str, release: str, kind: str, ends: int = 0
    ) -> None:
        settings = (
            {'api': {'port': self._ports[name]}} if kind == 'api' else None
        )
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
            name, *command, ends=ends
        )

    def _old(self, kind: str) -> str:
        """Return the option by which a process is an old one."""
        if kind == 'api':
            oldest = installed_locks.of_service('clustering').releases[0]
            return f'--emulate={oldest}'
        path = self._deployment.directory / 'old.json'
        self._manifest.dump(path)
        return f'--manifest={path}'

    def _address(self, name: str) -> str:
        return f'127.0.0.1:{self._ports[name]}'


def opens(
    kind: Kind, directory: pathlib.Path, real: Environment | None = None
) -> upgrade.OpenFleet:
    """Return what opens the service, anew for each run of a plan.

    :param real: the environment of the release ``real``, if it is in plans
    """
    runs = itertools.count(1)

    @contextlib.contextmanager
    def opened() -> Iterator[upgrade.Fleet]:
        own = directory / f'run-{next(runs)}'
        own.mkdir()
        with (
            door.opened() as entrance,
            deployed(kind, own, SETTINGS) as deployment,
        ):
            service = Service(deployment, entrance, real)
            try:
                yield service
            finally:
                service.customers.stop()
                service.messages.close()

    return opened
