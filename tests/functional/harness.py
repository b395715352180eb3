# SPDX-License-Identifier: Apache-2.0
"""A deployment of the service under test: processes, database, transport.

::

    with deployed(EMBEDDED_SQLITE, directory) as deployment:
        deployment.start_engines(2)
        deployment.start_api()
        deployment.rest().get('/v1/clusters')

At the end every process must end as asked, leave none behind, and have
logged no error.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import requests
import sqlalchemy

from tests import databases
from tests.functional import brokers
from tests.functional.processes import (
    PATIENCE,
    Group,
    Process,
    excerpt,
    free_port,
    wait_for,
)
from tests.functional.rest import NEWEST, Rest
from vobjects.clustering import topics
from vobjects.objects.manifest import Manifest

#: Seconds: [fleet] heartbeat_interval. More than the product's default: a
#: machine with other things to do must not make processes look dead.
HEARTBEAT = 5.0

#: Seconds: [fleet] call_timeout.
CALL_TIMEOUT = 120

Settings = Mapping[str, Mapping[str, object]]

_FORMAT = '%(asctime)s.%(msecs)03d %(levelname)s %(name)s'

_COMPLAINT = re.compile(r'^Traceback |\d (ERROR|CRITICAL) ')


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """What a deployment runs on.

    :ivar transport: ``embedded`` or ``rabbit``
    :ivar database: ``sqlite``, ``postgresql`` or ``mysql``
    """

    transport: str
    database: str

    def parameter(self) -> Any:
        """Return this for ``pytest.mark.parametrize``, with its marks."""
        names = {'rabbit', 'postgresql', 'mysql'}
        return pytest.param(
            self,
            id=f'{self.transport}-{self.database}',
            marks=[
                getattr(pytest.mark, name)
                for name in (self.transport, self.database)
                if name in names
            ],
        )


#: Each transport and each database once at least.
KINDS = [
    Kind('embedded', 'sqlite').parameter(),
    Kind('rabbit', 'postgresql').parameter(),
    Kind('embedded', 'mysql').parameter(),
]

#: For tests of what the API decides by itself: it does so alike whatever is
#: behind it, so that they run on one of these pairs only.
of_the_api = pytest.mark.parametrize(
    'service', KINDS[:1], indirect=True, scope='session'
)

#: The other pairs of the two.
OTHER_KINDS = [
    Kind('embedded', 'postgresql').parameter(),
    Kind('rabbit', 'sqlite').parameter(),
    Kind('rabbit', 'mysql').parameter(),
]


def _complaints(log: str) -> Iterator[str]:
    """Yield each line of an error; of a traceback also what was raised."""
    lines = log.splitlines()
    for number, line in enumerate(lines):
        if not _COMPLAINT.search(line):
            continue
        if line.startswith('Traceback '):
            before = lines[number - 1] if number else ''
            raised = (one for one in lines[number + 1 :] if one[:1] != ' ')
            line = ' | '.join([before, line, next(raised, '')])
        yield line


class Deployment:
    """See the module's docstring.

    :ivar group: its processes
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
        self.group = Group(directory, address)
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
        self, *words: str, name: str = '', settings: Settings | None = None
    ) -> list[str]:
        """Return a `vobjects` command with this deployment's configuration.

        :param settings: more, over those of the deployment
        """
        line = [sys.executable, '-m', 'vobjects', *words]
        files = [self.config, self._write('common', self._settings)]
        if settings:
            files.append(self._write(f'{name}-own', settings))
        return line + [f'--config-file={file}' for file in files]

    def run(self, *words: str, within: float = PATIENCE) -> str:
        """Run a `vobjects` command to its end and return what it printed."""
        done = subprocess.run(
            self.command(*words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=within,
            env=self.group.environment(),
            check=False,
        )
        assert done.returncode == 0, (
            f'vobjects {" ".join(words)}: {done.returncode}\n'
            f'{done.stdout}\n{done.stderr}'
        )
        return done.stdout

    def begin_engine(
        self,
        name: str,
        *,
        manifest: Manifest | None = None,
        settings: Settings | None = None,
    ) -> Process:
        """Start an engine without waiting for it.

        :param manifest: what it speaks, if it is of an older age
        """
        words = ['engine']
        if manifest is not None:
            path = self.directory / f'{name}.json'
            manifest.dump(path)
            words.append(f'--manifest={path}')
        return self.group.start(
            name, *self.command(*words, name=name, settings=settings), ends=1
        )

    def start_engine(
        self,
        name: str,
        *,
        manifest: Manifest | None = None,
        settings: Settings | None = None,
        within: float = PATIENCE,
    ) -> Engine:
        """Return an engine that does its work."""
        before = self.engine_ids()
        process = self.begin_engine(name, manifest=manifest, settings=settings)

        def new() -> set[str]:
            self.group.check_alive()
            return self.engine_ids() - before

        (service_id,) = wait_for(f'{name} is up', new, within=within)
        return Engine(process, service_id)

    def start_engines(self, count: int) -> None:
        """Start engines and wait until all do their work."""
        before = self.engine_ids()
        for number in range(1, count + 1):
            self.begin_engine(f'engine-{number}')

        def all_up() -> bool:
            self.group.check_alive()
            return len(self.engine_ids() - before) == count

        wait_for(f'{count} engines are up', all_up)

    def start_api(
        self, name: str = 'api', settings: Settings | None = None
    ) -> Process:
        """Return an API that answers; an engine must be there."""
        process = self.group.start(
            name, *self.command('api', name=name, settings=settings)
        )
        self.wait_until_served()
        return process

    def start_all(self, engines: int = 2, workers: int = 1) -> Process:
        """Return a `vobjects up` that is ready."""
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
        self, within: float = PATIENCE, url: str = ''
    ) -> None:
        """Wait until discovery promises a microversion.

        :param url: of the API; empty: the one that all is configured for
        """
        url = url or self.url

        def serves() -> bool:
            self.group.check_alive()
            try:
                answer = requests.get(f'{url}/v1', timeout=PATIENCE)
            except requests.ConnectionError:
                return False
            return answer.status_code == 200

        wait_for(f'{url} serves', serves, within=within)

    # What it does

    def rest(
        self, version: str | None = NEWEST, timeout: float = PATIENCE
    ) -> Rest:
        """Return a client; use it in a ``with`` statement."""
        return Rest(self.url, version, timeout)

    def rows(self, statement: str, **values: object) -> list[Any]:
        """Return what the database has."""
        with self._database.connect() as connection:
            return list(connection.execute(sqlalchemy.text(statement), values))

    def execute(self, statement: str, **values: object) -> None:
        """Change what the database has, behind the service's back."""
        with self._database.begin() as connection:
            connection.execute(sqlalchemy.text(statement), values)

    def engine_ids(self) -> set[str]:
        """Return the engines that the ledger has as doing their work."""
        found = self.rows(
            "SELECT id FROM services WHERE topic = :topic AND state = 'up'",
            topic=topics.ENGINE,
        )
        return {row.id for row in found}

    def locks(self) -> list[Any]:
        """Return what is locked."""
        return self.rows('SELECT * FROM locks')

    def running(self, engine_id: str) -> list[str]:
        """Return the kinds of the actions that an engine is running."""
        found = self.rows(
            "SELECT action FROM actions WHERE status = 'RUNNING'"
            ' AND owner = :owner',
            owner=engine_id,
        )
        return [row.action for row in found]

    @contextlib.contextmanager
    def watching_owners(self) -> Iterator[set[str]]:
        """Collect the engines that run actions: an ended one has no owner."""
        seen: set[str] = set()
        stop = threading.Event()

        def watch() -> None:
            while not stop.wait(0.05):
                rows = self.rows(
                    'SELECT DISTINCT owner FROM actions'
                    ' WHERE owner IS NOT NULL'
                )
                seen.update(row.owner for row in rows)

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield seen
        finally:
            stop.set()
            thread.join()

    def keep_busy_until_all_work(self, rest: Rest, profile: str) -> None:
        """Have clusters made and deleted until each engine has run actions.

        :param rest: asks at the microversion of choice
        """
        engines = self.engine_ids()
        with self.watching_owners() as owners:

            def all_work() -> bool:
                made = [rest.begin_cluster(profile, 6) for _ in range(3)]
                for _cluster, action in made:
                    rest.succeeded(action)
                for cluster, _action in made:
                    rest.succeeded(rest.delete(f'/v1/clusters/{cluster}'))
                return owners >= engines

            wait_for(f'{engines} all work', all_work)

    def assert_tidy(self) -> None:
        """Assert that nothing is locked, and that nodes have their servers.

        Only while no action is under way.
        """
        assert self.locks() == []
        nodes = {row.id for row in self.rows('SELECT id FROM nodes')}
        for table in ('servers', 'stacks', 'containers'):
            rows = self.rows(f'SELECT node_id FROM simulated_{table}')
            alone = {row.node_id for row in rows} - nodes
            assert not alone, f'{table} without nodes'

    def fleet(self) -> dict[str, Any]:
        """Return what `vobjects fleet list --json` prints."""
        found: dict[str, Any] = json.loads(self.run('fleet', 'list', '--json'))
        return found

    # The end

    def complaints(self) -> list[str]:
        """Return the errors that processes have logged."""
        return [
            f'{name}: {complaint}'
            for name, path in self.group.logs()
            for complaint in _complaints(path.read_text(errors='replace'))
        ]

    def close(self, allowed: str = '') -> None:
        """End everything, and look whether all was well.

        :param allowed: a pattern of log lines that are no fault
        """
        problems = self.group.close()
        self._database.dispose()
        problems += [
            line
            for line in self.complaints()
            if not allowed or not re.search(allowed, line)
        ]
        assert not problems, '\n'.join(problems)


@dataclasses.dataclass(frozen=True, slots=True)
class Engine:
    """An engine and what the ledger calls it."""

    process: Process
    id: str


#: Deployments that are there now.
ALIVE: list[Deployment] = []

#: Title and text of the logs of deployments that a failure has ended.
_LEFT: list[tuple[str, str]] = []


@contextlib.contextmanager
def deployed(
    kind: Kind,
    directory: pathlib.Path,
    settings: Settings | None = None,
    *,
    allowed: str = '',
    transport_url: str = '',
) -> Iterator[Deployment]:
    """Yield a deployment with an empty database and no process yet.

    :param settings: of all its processes
    :param allowed: a pattern of log lines that are no fault
    :param transport_url: of a broker that nobody else uses; empty: one is
        made
    """
    with (
        databases.temporary(kind.database, directory) as database_url,
        contextlib.nullcontext(transport_url)
        if transport_url
        else brokers.temporary(kind.transport) as transport,
    ):
        deployment = Deployment(
            directory, database_url, transport, settings or {}
        )
        ALIVE.append(deployment)
        try:
            deployment.run('db', 'sync')
            yield deployment
        except BaseException:
            # What went wrong first is what is to be seen.
            _LEFT.extend(logs_of(deployment))
            deployment.group.close()
            deployment._database.dispose()
            raise
        else:
            deployment.close(allowed)
        finally:
            ALIVE.remove(deployment)


def logs_of(deployment: Deployment) -> Iterator[tuple[str, str]]:
    """Yield a title and a few lines of each log."""
    for name, path in deployment.group.logs():
        yield f'log of {name} ({path})', excerpt(path)


def logs(concerned: Callable[[Deployment], bool]) -> list[tuple[str, str]]:
    """Return title and text of the logs that a failed test may need.

    :param concerned: of the deployments that are there still, which
    """
    found = [*_LEFT]
    _LEFT.clear()
    for deployment in ALIVE:
        if concerned(deployment):
            found += logs_of(deployment)
    return found
