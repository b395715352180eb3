# SPDX-License-Identifier: Apache-2.0
"""Bringing a database to the shape that this release needs.

During a rolling upgrade old and new engines share the database, so that a
revision only ever adds (expand); what nobody uses any more goes in a release
after the one that stopped using it (contract).
"""

from __future__ import annotations

import contextlib
import pathlib
import threading
from collections.abc import Iterator

import sqlalchemy
from alembic import command, config, script
from alembic.runtime import migration

from engine.db import database

#: Names the lock that only one process at a time may migrate under.
LOCK_NAME = 'vobjects_migrations'
LOCK_NUMBER = 0x766F626A

#: Alembic's ``context`` and ``op`` are the process's own.
_THREADS = threading.Lock()

#: Seconds to wait for another process that migrates, on MariaDB.
LOCK_TIMEOUT = 600


def sync(target: database.Database, revision: str = 'head') -> None:
    """Upgrade to a revision; processes that start together wait in line.

    :raises RuntimeError: another process held the lock for too long
    """
    with _THREADS, _alone(target) as connection:
        command.upgrade(_alembic(connection), revision)


def current(target: database.Database) -> str | None:
    """Return the revision of the database; None when it is empty."""
    with target.engine.connect() as connection:
        context = migration.MigrationContext.configure(connection)
        return context.get_current_revision()


def head() -> str:
    """Return the revision that this release needs."""
    found = script.ScriptDirectory(_location()).get_current_head()
    assert found is not None
    return found


def is_behind(target: database.Database) -> bool:
    """Tell whether this release needs an upgrade of the database.

    A revision that we do not know is of a newer release, and has all of
    what we need.
    """
    directory = script.ScriptDirectory(_location())
    known = {found.revision for found in directory.walk_revisions()}
    found = current(target)
    return found is None or (found in known and found != head())


def _location() -> str:
    return str(pathlib.Path(__file__).parent)


def _alembic(connection: sqlalchemy.Connection) -> config.Config:
    options = config.Config()
    options.set_main_option('script_location', _location().replace('%', '%%'))
    options.attributes['connection'] = connection
    return options


@contextlib.contextmanager
def _alone(target: database.Database) -> Iterator[sqlalchemy.Connection]:
    """Open a transaction in which no other process migrates."""
    with target.engine.connect() as plain:
        # On SQLite the transaction itself is the lock.
        connection = plain.execution_options(**{database.WRITES: True})
        if target.dialect == 'postgresql':
            with connection.begin():
                connection.execute(
                    sqlalchemy.text('SELECT pg_advisory_xact_lock(:number)'),
                    {'number': LOCK_NUMBER},
                )
                yield connection
        elif target.dialect == 'mysql':
            with _named_lock(connection):
                yield connection
                connection.commit()
        else:
            with connection.begin():
                yield connection


@contextlib.contextmanager
def _named_lock(connection: sqlalchemy.Connection) -> Iterator[None]:
    """Hold MariaDB's lock, which does not end with a transaction.

    It belongs to a name of the whole server, hence the database's name.
    """
    name = sqlalchemy.func.concat(
        LOCK_NAME,
        '.',
        sqlalchemy.func.left(
            sqlalchemy.func.md5(sqlalchemy.func.database()), 16
        ),
    )
    taken = connection.scalar(
        sqlalchemy.select(sqlalchemy.func.get_lock(name, LOCK_TIMEOUT))
    )
    if taken != 1:
        raise RuntimeError(
            f'another process has been migrating for {LOCK_TIMEOUT} seconds'
        )
    connection.commit()
    try:
        yield
    finally:
        connection.rollback()
        connection.execute(
            sqlalchemy.select(sqlalchemy.func.release_lock(name))
        )
        connection.commit()
