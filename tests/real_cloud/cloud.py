# SPDX-License-Identifier: Apache-2.0
"""Start and stop the cloud."""

from __future__ import annotations

import concurrent.futures
import getpass
import grp
import os
import pathlib
import shlex
import shutil
import subprocess
import time

from tests import machine_speed
from tests.real_cloud import (
    configuration,
    environment,
    seeding,
    services,
    storage,
)
from tests.real_cloud.processes import Processes, log_end
from tests.real_cloud.settings import PASSWORD, REGION, Settings

#: Seconds within which the compute hosts must be up.
HOSTS_TIMEOUT = 120.0 * machine_speed.scale()

#: Schema commands that run at the same time.
_PARALLEL = 2


class CloudError(Exception):
    """Raised when the cloud cannot be started; the message names a log."""


class Cloud:
    """A cloud with its settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.venv = environment.path(pathlib.Path(settings.cache))
        self.processes = Processes(settings, self.venv)

    @property
    def _is_seeded(self) -> pathlib.Path:
        return self.settings.directory / 'seeded'

    def up(self) -> None:
        """Start what does not run; the first time, create everything.

        :raises CloudError: a command failed
        :raises environment.InstallError: packages could not be installed
        :raises storage.StorageError: a server is missing
        :raises tests.real_cloud.processes.ProcessError: a process failed
        """
        environment.ensure(pathlib.Path(self.settings.cache))
        if not self._is_seeded.exists():
            # Also after a start that failed.
            self._stop_all(timeout=0)
            (self.settings.directory / 'run').mkdir(
                parents=True, exist_ok=True
            )
            storage.create(self.settings)
            configuration.write(self.settings, self.venv)
            if self.settings.driver == 'pyamqp':
                environment.install_driver(
                    self.venv, self.settings.directory / 'plugins'
                )
            keystone = services.BY_NAME['keystone']
            self._create_schema(keystone)
            self.processes.start('keystone-api')
            with concurrent.futures.ThreadPoolExecutor(_PARALLEL) as pool:
                others = [s for s in services.SERVICES if s != keystone]
                list(pool.map(self._create_schema, others))
            self.processes.wait_until_ready('keystone-api')
            seeding.identity(self.settings)
        for name in services.PROCESSES:
            self.processes.start(name)
        for name in services.PROCESSES:
            self.processes.wait_until_ready(name)
        self.wait_for_hosts()
        if not self._is_seeded.exists():
            self._run_all('nova', services.AFTER_START)
            seeding.resources(self.settings)
            self._is_seeded.touch()

    def down(self) -> None:
        """Stop all processes, and delete everything that belongs to them."""
        self._stop_all(timeout=0)
        storage.delete(self.settings)
        shutil.rmtree(self.settings.directory)

    def status(self) -> dict[str, str]:
        """Return the state of each process."""
        return {
            name: 'stopped'
            if self.processes.find(name) is None
            else 'ready'
            if self.processes.is_ready(name)
            else 'starting'
            for name in services.PROCESSES
        }

    def wait_for_hosts(self) -> None:
        """Wait until Nova can use all compute hosts.

        :raises CloudError: they are not up in time
        """
        end = time.monotonic() + HOSTS_TIMEOUT
        while len(seeding.compute_hosts(self.settings)) < len(services.ZONES):
            for zone in services.ZONES:
                self.processes.assert_running(f'nova-compute-{zone}')
            if time.monotonic() > end:
                raise CloudError(
                    'the compute hosts are not up: see'
                    f' {self.settings.logs}/nova-compute-*.log'
                )
            time.sleep(0.5)

    def _stop_all(self, timeout: float) -> None:
        self.processes.stop(*services.PROCESSES, timeout=timeout)

    def _create_schema(self, service: services.Service) -> None:
        self._run_all(service.name, service.schema)

    def _run_all(self, service: str, commands: tuple[str, ...]) -> None:
        owner = (
            f'--keystone-user {getpass.getuser()}'
            f' --keystone-group {grp.getgrgid(os.getgid()).gr_name}'
        )
        bootstrap = (
            f'--bootstrap-password {PASSWORD} --bootstrap-region-id {REGION}'
            f' --bootstrap-public-url {self.settings.auth_url}'
            f' --bootstrap-internal-url {self.settings.auth_url}'
        )
        for command in commands:
            text = command.format(
                etc=self.settings.etc(service),
                owner=owner,
                bootstrap=bootstrap,
            )
            self._run(service, text)

    def _run(self, service: str, command: str) -> None:
        """Run a command of a service."""
        log = self.settings.logs / f'{service}-setup.log'
        with log.open('ab') as output:
            program, *arguments = shlex.split(command)
            completed = subprocess.run(
                (self.venv / 'bin' / program, *arguments),
                env=self.processes.environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if completed.returncode:
            raise CloudError(f'{command} failed: {log_end(log)}')
