# SPDX-License-Identifier: Apache-2.0
"""Databases and engines for the tests of the engine."""

from __future__ import annotations

import contextlib
import pathlib
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy
from oslo_config import cfg
from sqlalchemy import orm

from engine import conf as engine_conf
from engine.db import database, migrations, models
from tests import databases
from tests.unit.engine.engine_harness import Engine, Harness

#: See :func:`prepare`.
Prepare = Callable[[Harness, Callable[[Harness], Any]], Any]

#: Tables with rows that a migration inserts.
MIGRATED_TABLES = (
    models.LEDGER.state.name,
    models.ContractVersion.__tablename__,
)


def make_conf(group: str = '', **options: object) -> cfg.ConfigOpts:
    """Return the default configuration, except for options of a group."""
    conf = cfg.ConfigOpts()
    engine_conf.register(conf)
    conf([], default_config_files=[], default_config_dirs=[])
    for name, value in options.items():
        conf.set_override(name, value, group)
    return conf


def configuration(url: str) -> cfg.ConfigOpts:
    """Return a configuration for a database, with a cloud without latency."""
    conf = make_conf('database', connection=url)
    conf.set_override('latency', 0.0, 'simulated')
    # The servers of tests are on this machine.
    for group in ('health_manager', 'hooks'):
        conf.set_override('forbidden_networks', [], group)
    return conf


@pytest.fixture(scope='session')
def sqlite_database(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[database.Database]:
    """An SQLite database shared by all tests."""
    path = tmp_path_factory.mktemp('sqlite') / 'engine.sqlite'
    target = database.Database(configuration(f'sqlite:///{path}'))
    migrations.expand(target)
    yield target
    target.close()


@pytest.fixture
def conf(sqlite_database: database.Database) -> Iterator[cfg.ConfigOpts]:
    """The configuration of an SQLite database without rows."""
    yield configuration(url_of(sqlite_database))
    sqlite_database.write(delete_rows)


@pytest.fixture
def harness(
    conf: cfg.ConfigOpts, sqlite_database: database.Database
) -> Harness:
    """Engines on SQLite."""
    return Harness(conf, sqlite_database)


@pytest.fixture
def engine(harness: Harness) -> Engine:
    """An engine on SQLite."""
    return harness.engine()


def url_of(target: database.Database) -> str:
    """Return the URL of a database, with its password."""
    return target.engine.url.render_as_string(hide_password=False)


def copy_of(harness: Harness, path: pathlib.Path) -> Harness:
    """Return a harness with a copy of the SQLite database of another.

    :param path: the path of the copy
    """
    with (
        contextlib.closing(_open_file(harness.database)) as source,
        contextlib.closing(sqlite3.connect(path)) as copy,
    ):
        source.backup(copy)
    conf = configuration(f'sqlite:///{path}')
    return Harness(conf, database.Database(conf))


def snapshot_of(target: database.Database) -> sqlite3.Connection:
    """Return a copy, in memory, of an SQLite database.

    :returns: for :func:`restore`; the caller closes it
    """
    snapshot = sqlite3.connect(':memory:')
    with contextlib.closing(_open_file(target)) as source:
        source.backup(snapshot)
    return snapshot


def restore(target: database.Database, snapshot: sqlite3.Connection) -> None:
    """Replace the rows of an SQLite database with those of a snapshot."""
    with contextlib.closing(_open_file(target)) as connection:
        snapshot.backup(connection)


@pytest.fixture(scope='module')
def prepare() -> Iterator[Prepare]:
    """Return a function that calls another once, and restores what it wrote.

    What that function returns must not depend on a session or an engine.
    """
    prepared: dict[Callable[..., Any], tuple[Any, sqlite3.Connection]] = {}

    def prepare(harness: Harness, write: Callable[[Harness], Any]) -> Any:
        if write in prepared:
            result, snapshot = prepared[write]
            restore(harness.database, snapshot)
        else:
            result = write(harness)
            prepared[write] = result, snapshot_of(harness.database)
        return result

    yield prepare
    for _, snapshot in prepared.values():
        snapshot.close()


def _open_file(target: database.Database) -> sqlite3.Connection:
    return sqlite3.connect(target.engine.url.database or '')


@pytest.fixture(params=databases.BACKENDS)
def any_url(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path
) -> Iterator[str]:
    """The URL of an empty database, on each backend in turn."""
    with databases.temporary(request.param, tmp_path) as url:
        yield url


@pytest.fixture(scope='session', params=databases.BACKENDS)
def shared_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[database.Database]:
    """A database shared by all tests, on each backend in turn."""
    if request.param == 'sqlite':
        yield request.getfixturevalue('sqlite_database')
        return
    directory = tmp_path_factory.mktemp(request.param)
    with databases.temporary(request.param, directory) as url:
        target = database.Database(configuration(url))
        migrations.expand(target)
        yield target
        target.close()


@pytest.fixture
def any_database(
    shared_database: database.Database,
) -> Iterator[database.Database]:
    """A database without rows, on each backend in turn."""
    yield shared_database
    shared_database.write(delete_rows)


@pytest.fixture
def any_harness(any_database: database.Database) -> Harness:
    """Engines on each backend in turn."""
    return Harness(configuration(url_of(any_database)), any_database)


def delete_rows(session: orm.Session) -> None:
    """Delete all rows except those of the migrations."""
    connection = session.connection()
    for table in reversed(models.Base.metadata.sorted_tables):
        if table.name not in MIGRATED_TABLES:
            # Plain text halves the time that this takes after each test.
            connection.exec_driver_sql(f'DELETE FROM {table.name}')
    session.execute(
        sqlalchemy.update(models.LEDGER.state).values(
            generation=0, held_manifest=None
        )
    )
