# SPDX-License-Identifier: Apache-2.0
"""A deployment of Magnum: processes of two releases on one database.

Processes are ``magnum-api`` and ``magnum-conductor`` of the releases in
``ports``, edited or as released.
"""

from __future__ import annotations

import contextlib
import pathlib
import shutil
import signal
from collections.abc import Iterator

import requests
import sqlalchemy

from ports import __main__ as ports
from ports.magnum import PORT, PREVIOUS
from ports.port import Port, search_path
from tests import databases
from tests.functional import brokers, processes
from tests.ports.magnum import cloud as clouds
from vobjects_sql.ledger import SqlLedger

#: Release name -> port.
RELEASES: dict[str, Port] = {'22': PREVIOUS, '23': PORT}

#: Revision of the edited packages with which both releases work.
SHARED_REVISION = 'b3e1cf4a2d5e'

#: Topics of the conductors: Magnum's, and that of the ledger.
CONDUCTORS = 'magnum-conductor'
FLEET = 'magnum-fleet'

#: Seconds from SIGTERM to SIGKILL, more than ``graceful_shutdown_timeout``.
GRACE = 90.0


_CONF = """
[DEFAULT]
transport_url = {transport}
host = {name}
state_path = {folder}
periodic_enable = false
[api]
host = 127.0.0.1
port = {port}
workers = 1
api_paste_config = {paste}
[conductor]
workers = 1
[database]
connection = {database}
[certificates]
cert_manager_type = barbican
[x509]
rsa_key_size = 1024
[quotas]
max_clusters_per_project = 100000
[drivers]
disabled_drivers = k8s_fedora_coreos_v1
[oslo_policy]
enforce_scope = false
[keystone_auth]
auth_type = password
{credentials}
[keystone_authtoken]
auth_type = password
www_authenticate_uri = {cloud}/identity/v3
service_token_roles_required = false
{credentials}
[trust]
trustee_domain_id = trustees
trustee_domain_admin_id = admin
trustee_domain_admin_password = x
[fleet]
heartbeat_interval = 4
"""

_CREDENTIALS = """
auth_url = {cloud}/identity/v3
username = magnum
password = x
project_name = service
user_domain_id = default
project_domain_id = default
"""


class Deployment:
    """Processes of both releases, which share a database and a broker.

    :param folder: for packages, configuration files and logs
    :param cache: folder of the virtual environments
    :param edited: whether the packages are edited as in ``ports``
    """

    def __init__(
        self,
        folder: pathlib.Path,
        cache: pathlib.Path,
        cloud: clouds.Cloud,
        *,
        database: str,
        transport: str,
        edited: bool,
    ) -> None:
        self.edited = edited
        self._folder = folder
        self._cloud = cloud
        self._database = database
        self._transport = transport
        self._pythons: dict[str, str] = {}
        self.group = processes.ProcessGroup(folder, str(folder))
        self._install_driver()
        for release, port in RELEASES.items():
            root = folder / release
            root.mkdir()
            self._pythons[release] = ports.prepare(
                port, cache, root, edit=edited
            )

    def _install_driver(self) -> None:
        """Write the driver with its entry point."""
        folder = self._folder / 'driver'
        info = folder / 'recording_driver-1.0.dist-info'
        info.mkdir(parents=True)
        shutil.copy(
            pathlib.Path(__file__).with_name('driver.py'),
            folder / 'recording_driver.py',
        )
        (info / 'METADATA').write_text(
            'Metadata-Version: 2.1\nName: recording-driver\nVersion: 1.0\n'
        )
        (info / 'entry_points.txt').write_text(
            '[magnum.drivers]\nrecording = recording_driver:Driver\n'
        )

    def migrate(self, release: str, revision: str = 'head') -> None:
        """Run the migrations of a release up to a revision."""
        name = f'db-{release}'
        command = self._command(release, 'magnum-db-manage')
        path = self._configuration(name, 0, release)
        self.group.variables = self._environment(release)
        process = self.group.start(
            name, *command, f'--config-file={path}', 'upgrade', revision
        )
        code = process.wait()
        self.group.remove(process)
        assert code == 0, processes.log_excerpt(process.log)

    def start_conductor(self, name: str, release: str) -> processes.Process:
        """Start a conductor, and wait until it consumes messages."""
        before = brokers.consumers(self._transport, CONDUCTORS)
        process = self._start(name, release, 'magnum-conductor', 0)
        processes.wait_for(
            f'{name} consumes',
            lambda: (
                _alive(process)
                and brokers.consumers(self._transport, CONDUCTORS) > before
            ),
            interval=1,
        )
        return process

    def start_api(
        self, name: str, release: str
    ) -> tuple[str, processes.Process]:
        """Start an API, and wait until it responds; return its URL, too."""
        port = processes.free_port()
        process = self._start(name, release, 'magnum-api', port)
        url = f'http://127.0.0.1:{port}'
        processes.wait_for(
            f'{name} responds', lambda: _alive(process) and _responds(url)
        )
        return url, process

    def stop(self, process: processes.Process) -> int:
        """Stop a process; kill it after a time, as a supervisor does.

        :returns: its exit code
        """
        self.group.remove(process)
        process.send_signal(signal.SIGTERM)
        try:
            return process.wait(GRACE)
        except AssertionError:
            process.kill()
            return process.wait()

    def expand(self) -> None:
        """Change the schema so that both releases work, in either order."""
        if self.edited:
            self.migrate('23', SHARED_REVISION)
            return
        engine = sqlalchemy.create_engine(self._database)
        with engine.begin() as connection:
            for column in ('node_labels', 'node_taints'):
                connection.exec_driver_sql(
                    f'ALTER TABLE nodegroup ADD COLUMN {column} TEXT'
                )
        engine.dispose()

    def set_hold(self, *, on: bool) -> None:
        """Begin or end the hold of versions."""
        engine = sqlalchemy.create_engine(self._database)
        ledger = SqlLedger(engine)
        if on:
            ledger.hold(FLEET)
        else:
            ledger.finalize()
        engine.dispose()

    def _start(
        self, name: str, release: str, program: str, port: int
    ) -> processes.Process:
        path = self._configuration(name, port, release)
        self.group.variables = self._environment(release)
        return self.group.start(
            name,
            *self._command(release, program),
            f'--config-file={path}',
        )

    def _command(self, release: str, program: str) -> list[str]:
        python = pathlib.Path(self._pythons[release])
        return [str(python), str(python.with_name(program))]

    def _environment(self, release: str) -> dict[str, str]:
        path = search_path(self._folder / 'driver')
        return {
            'PYTHONPATH': f'{self._folder / release}:{path}',
            'RECORDING_URL': self._cloud.url,
        }

    def _configuration(
        self, name: str, port: int, release: str
    ) -> pathlib.Path:
        python = pathlib.Path(self._pythons[release])
        path = self._folder / f'{name}.conf'
        path.write_text(
            _CONF.format(
                transport=self._transport,
                name=name,
                folder=self._folder,
                port=port,
                paste=python.parents[1] / 'etc' / 'magnum' / 'api-paste.ini',
                database=self._database,
                cloud=self._cloud.url,
                credentials=_CREDENTIALS.format(cloud=self._cloud.url),
            )
        )
        return path


@contextlib.contextmanager
def deployed(
    folder: pathlib.Path, cloud: clouds.Cloud, *, edited: bool
) -> Iterator[Deployment]:
    """Yield a deployment with an empty database, without processes."""
    with (
        databases.temporary('mysql', folder) as database,
        brokers.temporary('rabbit') as transport,
    ):
        deployment = Deployment(
            folder,
            ports.DEFAULT_CACHE,
            cloud,
            database=database,
            transport=transport,
            edited=edited,
        )
        try:
            yield deployment
        finally:
            deployment.group.close()


def _alive(process: processes.Process) -> bool:
    assert process.is_alive, processes.log_excerpt(process.log)
    return True


def _responds(url: str) -> bool:
    try:
        return requests.get(url, timeout=5).ok
    except requests.RequestException:
        return False
