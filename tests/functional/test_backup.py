# SPDX-License-Identifier: Apache-2.0
"""A database is backed up and restored with the commands of the guide."""

from __future__ import annotations

import contextlib
import functools
import pathlib
import re
import subprocess
from collections.abc import Iterator

import pytest
import sqlalchemy

from tests import databases, machine_speed
from tests.functional import brokers
from tests.functional.deployments import Deployment
from tests.functional.rest import RestClient
from tests.functional.test_pages import SOURCE, blocks, commands
from tests.functional.test_up import VOBJECTS, Up, state_directory
from vobjects.cli import settings

#: Words of the commands that back up or restore a database.
PROGRAMS = {
    'sqlite': ('sqlite3', 'cp', 'rm'),
    'postgresql': ('pg_dump', 'pg_restore'),
    'mysql': ('mysqldump', 'mysql'),
}


def documented(section: str, backend: str) -> Iterator[str]:
    """Yield the commands of a section of the guide for a database."""
    page = (SOURCE / 'backup.rst').read_text()
    _, _, text = page.partition(f'\n{section}\n{"-" * len(section)}\n')
    text, *_ = re.split(r'\n.*\n-{5,}\n', text)
    for _, console in blocks(text):
        for command, _ in commands(console):
            if command.split()[0] in PROGRAMS[backend]:
                yield command


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """A home directory with the passwords of the database servers."""
    with state_directory() as directory:
        home = directory.parent
        (home / 'backups').mkdir()
        monkeypatch.setenv('HOME', str(home))
        variables = (settings.FILES_VARIABLE, settings.VARIABLE)
        for name in (*variables, 'XDG_STATE_HOME'):
            monkeypatch.delenv(name, raising=False)
        yield home


def use_server(
    backend: str, home: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let the clients of a server connect to the server of the tests."""
    if backend == 'sqlite':
        return
    url = databases.server_url(backend)
    if backend == 'postgresql':
        monkeypatch.setenv('PGHOST', url.host or '')
        monkeypatch.setenv('PGPORT', str(url.port or 5432))
        monkeypatch.setenv('PGUSER', url.username or '')
        monkeypatch.setenv('PGPASSWORD', url.password or '')
        return
    (home / '.my.cnf').write_text(
        f'[client]\nhost = {url.host}\nport = {url.port or 3306}\n'
        f'user = {url.username}\npassword = {url.password or ""}\n'
    )


def run(command: str, directory: pathlib.Path, database: str) -> None:
    """Run a documented command.

    :param database: URL of the database instead of ``vobjects``
    """
    name = sqlalchemy.make_url(database).database or ''
    command = re.sub(r'\bvobjects(?=$| [<>]| \S+\.dump)', name, command)
    command = command.replace('/path/to/backups', '~/backups')
    subprocess.run(
        command,
        shell=True,
        cwd=directory,
        check=True,
        timeout=60 * machine_speed.scale(),
    )


def empty(database: str) -> None:
    """Delete all tables of a database."""
    engine = sqlalchemy.create_engine(database)
    tables = sqlalchemy.MetaData()
    tables.reflect(engine)
    tables.drop_all(engine)
    engine.dispose()


@contextlib.contextmanager
def up(state: pathlib.Path) -> Iterator[RestClient]:
    """Run ``vobjects up``, whose state has files beside the database."""
    process = Up(state, '--engines=1')
    try:
        with RestClient(process.wait_until_ready().url) as rest:
            yield rest
    finally:
        code = process.stop()
    assert code == 0


@contextlib.contextmanager
def service(state: pathlib.Path, database: str) -> Iterator[RestClient]:
    """Run an engine and an API on a database server."""
    state.mkdir(parents=True, exist_ok=True)
    with brokers.temporary('embedded') as transport:
        deployment = Deployment(state, database, transport, {})
        try:
            deployment.run('db', 'sync')
            deployment.start_engines(1)
            deployment.start_api()
            with deployment.rest() as rest:
                yield rest
        finally:
            problems = deployment.group.close()
        assert problems == []


@pytest.mark.parametrize('backend', databases.BACKENDS)
def test_restored_service_continues_where_the_backup_was_made(
    backend: str, home: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_server(backend, home, monkeypatch)
    state = home / '.local/state/vobjects'
    with databases.temporary(backend, home) as database:
        serving = functools.partial(service, state, database)
        if backend == 'sqlite':
            database = f'sqlite:///{state}/vobjects.sqlite'
            serving = functools.partial(up, state)
        with serving() as rest:
            profile = rest.create_profile()
            kept = rest.create_cluster(profile, 2)
            for command in documented('Back up', backend):
                run(command, state, database)
            lost = rest.create_cluster(profile, 1)
        empty(database)
        for command in documented('Restore', backend):
            run(command, state, database)
        subprocess.run([*VOBJECTS, 'db', 'check'], cwd=state, check=True)
        with serving() as rest:
            rest.assert_missing(f'/v1/clusters/{lost}')
            rest.run(kept, 'scale_out', count=1)
            cluster = rest.get(f'/v1/clusters/{kept}')
            assert cluster['status'] == 'ACTIVE'
            assert len(cluster['nodes']) == 3
