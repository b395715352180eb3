# SPDX-License-Identifier: Apache-2.0
"""Deployments of the service: processes, a database and a transport.

::

    with deployed(Platform('embedded', 'sqlite'), directory) as deployment:
        deployment.start_engines(2)
        deployment.start_api()
        deployment.rest().get('/v1/clusters')

At the end, every process must stop on SIGTERM with exit code 0, leave no
child process behind and have logged no error.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import re
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import bcrypt
import pytest
import requests
import sqlalchemy

from engine.db import database, migrations
from tests import databases, machine_speed
from tests.functional import brokers, fork_server
from tests.functional.processes import (
    TIMEOUT,
    Process,
    ProcessGroup,
    free_port,
    log_excerpt,
    wait_for,
)
from tests.functional.rest import NEWEST, SPEC, RestClient
from tests.unit.engine.conftest import configuration
from vobjects.clustering import topics
from vobjects.objects.manifest import Manifest

#: [fleet] heartbeat_interval in seconds. Longer than the default, so that
#: processes on a busy machine are not considered dead.
HEARTBEAT = 5.0 * machine_speed.scale()

#: [fleet] call_timeout in seconds.
CALL_TIMEOUT = 120

Settings = Mapping[str, Mapping[str, object]]

_FORMAT = '%(asctime)s.%(msecs)03d %(levelname)s %(name)s'

_ERROR_LINE = re.compile(r'^Traceback |\d (ERROR|CRITICAL) ')


@dataclasses.dataclass(frozen=True, slots=True)
class Platform:
    """Transport and database of a deployment.

    :ivar transport: scheme of the URL: ``embedded``, ``pyamqp`` or ``rabbit``
    :ivar database: ``sqlite``, ``postgresql`` or ``mysql``
    """

    transport: str
    database: str

    def parameter(self, prefix: str = '') -> Any:
        """Return a ``pytest.param`` with the marks of the required servers.

        :param prefix: of the ID
        """
        servers = {
            'rabbit': 'rabbit',
            'pyamqp': 'rabbit',
            'postgresql': 'postgresql',
            'mysql': 'mysql',
        }
        return pytest.param(
            self,
            id=f'{prefix}{self.transport}-{self.database}',
            marks=[
                getattr(pytest.mark, servers[name])
                for name in (self.transport, self.database)
                if name in servers
            ],
        )


#: Every transport and every database at least once.
_PLATFORMS = [
    Platform('embedded', 'sqlite'),
    Platform('pyamqp', 'postgresql'),
    Platform('embedded', 'mysql'),
]
PLATFORMS = [platform.parameter() for platform in _PLATFORMS]

#: Those of the service that tests share.
SHARED = [platform.parameter('shared-') for platform in _PLATFORMS]

#: Those with a database server, for long tests about its transactions.
DATABASE_SERVERS = PLATFORMS[1:]

#: Those with each transport, for long tests about messages.
TRANSPORTS = PLATFORMS[:2]

#: Mark of tests of behaviour that does not depend on transport or database,
#: such as request validation in the API: they run on one platform only.
embedded_sqlite_only = pytest.mark.parametrize(
    'service', SHARED[:1], indirect=True, scope='session'
)

#: All other combinations of transport and database.
OTHER_PLATFORMS = [
    Platform('embedded', 'postgresql').parameter(),
    Platform('pyamqp', 'sqlite').parameter(),
    Platform('pyamqp', 'mysql').parameter(),
]


def _errors_in(log: str) -> Iterator[str]:
    """Yield error lines; for a traceback, with the exception raised."""
    lines = log.splitlines()
    for number, line in enumerate(lines):
        if not _ERROR_LINE.search(line):
            continue
        if line.startswith('Traceback '):
            before = lines[number - 1] if number else ''
            exceptions = (
                text for text in lines[number + 1 :] if text[:1] != ' '
            )
            line = ' | '.join([before, line, next(exceptions, '')])
        yield line


class Deployment:
    """Processes of the service that share a database and a transport.

    :ivar group: its processes
    :ivar url: root URL of the API
    """

    def __init__(
        self,
        directory: pathlib.Path,
        database_url: str,
        transport_url: str,
        settings: Settings,
    ) -> None:
        self.directory = directory
        self.database_url = database_url
        self.transport_url = transport_url
        address = f'127.0.0.1:{free_port()}'
        self.url = f'http://{address}'
        self.group = ProcessGroup(directory, address)
        self._settings = settings
        self._database = sqlalchemy.create_engine(
            database_url, poolclass=sqlalchemy.NullPool
        )
        self.config = self._write('vobjects', self._configuration())

    def _configuration(self) -> dict[str, dict[str, object]]:
        return {
            'DEFAULT': {
                'transport_url': self.transport_url,
                'logging_default_format_string': f'{_FORMAT}: %(message)s',
                'logging_context_format_string': (
                    f'{_FORMAT} [%(request_id)s]: %(message)s'
                ),
            },
            'database': {'connection': self.database_url},
            'api': {'port': self.url.rpartition(':')[2]},
            'simulated': {'latency': 0.05},
            'fleet': {
                'heartbeat_interval': HEARTBEAT,
                'call_timeout': CALL_TIMEOUT,
            },
        }

    def _write(self, name: str, sections: Settings) -> pathlib.Path:
        path = self.directory / f'{name}.conf'
        lines = []
        for section, options in sections.items():
            lines.append(f'[{section}]')
            lines += [f'{key} = {value}' for key, value in options.items()]
        path.write_text('\n'.join(lines) + '\n')
        return path

    # Processes

    def command(
        self,
        *words: str,
        name: str = '',
        settings: Settings | None = None,
    ) -> list[str]:
        """Return a `vobjects` command with this deployment's configuration.

        :param name: of the process, for its own configuration file
        :param settings: options that override those of the deployment
        """
        command = [sys.executable, '-m', 'vobjects', *words]
        files = [self.config, self._write('common', self._settings)]
        if settings:
            files.append(self._write(f'{name}-own', settings))
        return command + [f'--config-file={file}' for file in files]

    def run(
        self, *words: str, within: float = TIMEOUT, configured: bool = True
    ) -> str:
        """Run a `vobjects` command and return its standard output.

        :param configured: whether the command reads the configuration
        """
        command = [sys.executable, '-m', 'vobjects', *words]
        completed = fork_server.run(
            self.command(*words) if configured else command,
            self.group.environment(),
            timeout=within,
        )
        assert completed.returncode == 0, (
            f'vobjects {" ".join(words)}: {completed.returncode}\n'
            f'{completed.stdout}\n{completed.stderr}'
        )
        return completed.stdout

    def spawn_engine(
        self,
        name: str,
        *,
        manifest: Manifest | None = None,
        settings: Settings | None = None,
    ) -> Process:
        """Start an engine without waiting for it.

        :param manifest: emulate an older engine with these object versions
        """
        words = ['engine']
        if manifest is not None:
            path = self.directory / f'{name}.json'
            manifest.dump(path)
            words.append(f'--manifest={path}')
        command = self.command(*words, name=name, settings=settings)
        return self.group.start(name, *command, stop_order=1)

    def start_engine(
        self,
        name: str,
        *,
        manifest: Manifest | None = None,
        settings: Settings | None = None,
        within: float = TIMEOUT,
    ) -> Engine:
        """Start an engine and wait until it is up."""
        before = self.engine_ids()
        process = self.spawn_engine(name, manifest=manifest, settings=settings)

        def new_ids() -> set[str]:
            self.group.assert_alive()
            return self.engine_ids() - before

        (service_id,) = wait_for(f'{name} is up', new_ids, timeout=within)
        return Engine(process, service_id)

    def start_engines(self, count: int) -> None:
        """Start engines and wait until all are up."""
        before = self.engine_ids()
        for number in range(1, count + 1):
            self.spawn_engine(f'engine-{number}')

        def all_up() -> bool:
            self.group.assert_alive()
            return len(self.engine_ids() - before) == count

        wait_for(f'{count} engines are up', all_up)

    def start_api(
        self,
        name: str = 'api',
        settings: Settings | None = None,
        *,
        url: str = '',
    ) -> Process:
        """Start an API and wait until it serves; needs a running engine.

        :param url: its root URL, if ``settings`` have another port
        """
        command = self.command('api', name=name, settings=settings)
        process = self.group.start(name, *command)
        self.wait_until_served(url=url)
        return process

    def start_all(self, engines: int = 2, workers: int = 1) -> Process:
        """Run `vobjects up` and wait until it is ready."""
        process = self.group.start(
            'up',
            *self.command(
                'up',
                f'--port={self.url.rpartition(":")[2]}',
                f'--engines={engines}',
                f'--workers={workers}',
                f'--state-dir={self.directory / "state"}',
                f'--database={self.database_url}',
                f'--transport-url={self.transport_url}',
            ),
        )
        self.wait_until_served()
        wait_for(
            f'{engines} engines are up',
            lambda: len(self.engine_ids()) == engines,
        )
        return process

    def wait_until_served(
        self, within: float = TIMEOUT, url: str = ''
    ) -> None:
        """Wait until discovery returns 200.

        :param url: root URL of the API; empty: that of the configuration
        """
        url = url or self.url

        def serves() -> bool:
            self.group.assert_alive()
            try:
                response = requests.get(f'{url}/v1', timeout=TIMEOUT)
            except requests.ConnectionError:
                return False
            return response.status_code == 200

        wait_for(f'{url} serves', serves, timeout=within)

    # State

    def rest(
        self, version: str | None = NEWEST, timeout: float = TIMEOUT
    ) -> RestClient:
        """Return a client to use in a ``with`` statement."""
        return RestClient(self.url, version, timeout)

    def rows(self, statement: str, **values: object) -> list[Any]:
        """Return the rows that a query selects from the database."""
        with self._database.connect() as connection:
            return list(connection.execute(sqlalchemy.text(statement), values))

    def execute(self, statement: str, **values: object) -> None:
        """Change the database without the service."""
        with self._database.begin() as connection:
            connection.execute(sqlalchemy.text(statement), values)

    def engine_ids(self) -> set[str]:
        """Return the IDs of the engines that are up, from the ledger."""
        rows = self.rows(
            "SELECT id FROM services WHERE topic = :topic AND state = 'up'",
            topic=topics.ENGINE,
        )
        return {row.id for row in rows}

    def locks(self) -> list[Any]:
        """Return the rows of the locks table."""
        return self.rows('SELECT * FROM locks')

    def running_actions(self, engine_id: str) -> list[str]:
        """Return the names of the actions that an engine is running."""
        rows = self.rows(
            "SELECT action FROM actions WHERE status = 'RUNNING'"
            ' AND owner = :owner',
            owner=engine_id,
        )
        return [row.action for row in rows]

    @contextlib.contextmanager
    def watching_owners(self) -> Iterator[set[str]]:
        """Collect the IDs of engines while they run actions."""
        owners: set[str] = set()
        stop = threading.Event()

        def watch() -> None:
            while not stop.wait(0.05):
                rows = self.rows(
                    'SELECT DISTINCT owner FROM actions'
                    ' WHERE owner IS NOT NULL'
                )
                owners.update(row.owner for row in rows)

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield owners
        finally:
            stop.set()
            thread.join()

    def run_until_all_engines_worked(
        self, rest: RestClient, profile: str
    ) -> None:
        """Create and delete clusters until each engine has run actions."""
        engines = self.engine_ids()
        with self.watching_owners() as owners:

            def all_work() -> bool:
                clusters = [rest.start_cluster(profile, 6) for _ in range(3)]
                for _cluster, action in clusters:
                    rest.wait_for_success(action)
                for cluster, _action in clusters:
                    rest.remove(cluster)
                return owners >= engines

            wait_for(f'{engines} have all run actions', all_work)

    def orphans(self) -> set[str]:
        """Return what the cloud has for nodes that do not exist.

        In a server that no node has, its own ID stands for that of the node.
        """
        nodes = {row.id for row in self.rows('SELECT id FROM nodes')}
        return {
            f'{row.id} in {table}'
            for table in ('servers', 'stacks', 'containers')
            for row in self.rows(f'SELECT id, node_id FROM simulated_{table}')
            if row.node_id not in {*nodes, row.id}
        }

    def assert_tidy(self) -> None:
        """Assert that there are no locks and no servers without nodes.

        Call it only while no action is running.
        """
        assert self.locks() == []
        assert self.orphans() == set()

    def create_unmanaged_server(self) -> str:
        """Return the ID of a new server in the cloud that no node has."""
        id_ = str(uuid.uuid4())
        self.execute(
            'INSERT INTO simulated_servers'
            ' (id, node_id, name, status, properties, created_at)'
            " VALUES (:id, :id, 'srv', 'ACTIVE', :properties, :now)",
            id=id_,
            properties=json.dumps(SPEC['properties']),
            now='2026-01-02 03:04:05.000000',
        )
        return id_

    def fleet_list(self) -> dict[str, Any]:
        """Return the output of `vobjects fleet list -o json`."""
        document: dict[str, Any] = json.loads(
            self.run('fleet', 'list', '-o', 'json')
        )
        return document

    # Shutdown

    def logged_errors(self) -> list[str]:
        """Return the errors in the logs of all processes."""
        return [
            f'{name}: {error}'
            for name, path in self.group.logs()
            for error in _errors_in(path.read_text(errors='replace'))
        ]

    def close(self, allowed_errors: str = '') -> None:
        """Stop all processes and check exit codes, orphans and logs.

        :param allowed_errors: regular expression of log lines to ignore
        """
        problems = self.group.close()
        self._database.dispose()
        problems += [
            line
            for line in self.logged_errors()
            if not allowed_errors or not re.search(allowed_errors, line)
        ]
        assert not problems, '\n'.join(problems)


@dataclasses.dataclass(frozen=True, slots=True)
class Engine:
    """A process with the ID of the engine in the ledger."""

    process: Process
    id: str


#: Deployments that are running now.
_ACTIVE: list[Deployment] = []

#: Title and text of the logs of deployments that a failure has closed.
_FAILED_LOGS: list[tuple[str, str]] = []


@contextlib.contextmanager
def deployed(
    platform: Platform,
    directory: pathlib.Path,
    settings: Settings | None = None,
    *,
    allowed_errors: str = '',
    transport_url: str = '',
) -> Iterator[Deployment]:
    """Yield a deployment with an empty database and no processes.

    :param settings: options of all its processes
    :param allowed_errors: regular expression of log lines to ignore at the
        end
    :param transport_url: a broker or virtual host for this deployment only;
        empty: a temporary one
    """
    with (
        databases.temporary(platform.database, directory) as database_url,
        contextlib.nullcontext(transport_url)
        if transport_url
        else brokers.temporary(platform.transport) as transport,
    ):
        deployment = Deployment(
            directory, database_url, transport, settings or {}
        )
        _ACTIVE.append(deployment)
        try:
            _create_tables(database_url)
            yield deployment
        except BaseException:
            # Report the first failure, not those of the shutdown.
            _FAILED_LOGS.extend(logs_of(deployment))
            deployment.group.close()
            deployment._database.dispose()
            raise
        else:
            deployment.close(allowed_errors)
        finally:
            _ACTIVE.remove(deployment)


def write_users(path: pathlib.Path, **passwords: str) -> None:
    """Write the file of users and passwords for HTTP basic authentication."""
    lines = []
    for user, password in passwords.items():
        digest = bcrypt.hashpw(password.encode(), bcrypt.gensalt(4))
        lines.append(f'{user}:{digest.decode()}\n')
    path.write_text(''.join(lines))


def _create_tables(url: str) -> None:
    """Do the same as ``vobjects db sync``, without another process."""
    target = database.Database(configuration(url))
    try:
        migrations.expand(target)
    finally:
        target.close()


def logs_of(deployment: Deployment) -> Iterator[tuple[str, str]]:
    """Yield the title and an excerpt of each log."""
    for name, path in deployment.group.logs():
        yield f'log of {name} ({path})', log_excerpt(path)


def logs(is_used: Callable[[Deployment], bool]) -> list[tuple[str, str]]:
    """Return titles and excerpts of the logs to show with a failed test.

    :param is_used: selects among the running deployments
    """
    sections = [*_FAILED_LOGS]
    _FAILED_LOGS.clear()
    for deployment in _ACTIVE:
        if is_used(deployment):
            sections += logs_of(deployment)
    return sections
