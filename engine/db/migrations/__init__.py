# SPDX-License-Identifier: Apache-2.0
"""Bringing a database to the shape that this release needs.

During a rolling upgrade old and new engines share the database. So there are
two chains of revisions, each with a table of its own that says how far the
database has come::

    expand    versions/    only adds. Engines of the release before go on
    contract  contract/    drops and tightens what only they used; when the
                           last of them has left (engine.db.phases)
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
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

_HERE = pathlib.Path(__file__).parent


@dataclasses.dataclass(frozen=True, slots=True)
class Chain:
    """Revisions that follow one another.

    :ivar directory: where their modules are
    :ivar table: where alembic keeps the revision that a database has
    """

    directory: pathlib.Path
    table: str

    @property
    def revisions(self) -> tuple[str, ...]:
        """All revisions, the newest first."""
        return _revisions(self.directory)

    def knows(self, revision: str | None) -> bool:
        """Tell whether this release has a revision; None is the beginning."""
        return revision is None or revision in self.revisions


@functools.cache
def _revisions(directory: pathlib.Path) -> tuple[str, ...]:
    found = script.ScriptDirectory(
        str(_HERE), version_locations=[str(directory)]
    )
    return tuple(revision.revision for revision in found.walk_revisions())


EXPAND = Chain(_HERE / 'versions', 'alembic_version')
CONTRACT = Chain(_HERE / 'contract', 'contract_version')


def expand(target: database.Database) -> None:
    """Add what this release needs; processes that do it together queue.

    Leaves alone what a newer release has expanded.

    :raises RuntimeError: another process held the lock for too long
    """
    with alone(target) as connection:
        upgrade(connection, EXPAND)


def sync(target: database.Database) -> None:
    """Expand and contract a database that no older engine uses.

    :raises RuntimeError: another process held the lock for too long
    """
    with alone(target) as connection:
        upgrade(connection, EXPAND)
        upgrade(connection, CONTRACT)


def upgrade(
    connection: sqlalchemy.Connection, chain: Chain, revision: str = 'head'
) -> None:
    """Upgrade to a revision of a chain, unless the database is past all.

    :param connection: that of :func:`alone`
    """
    if not chain.revisions or not chain.knows(on(connection, chain)):
        return
    options = config.Config()
    for name, value in (
        ('script_location', str(_HERE)),
        ('version_locations', str(chain.directory)),
        ('path_separator', 'newline'),
    ):
        options.set_main_option(name, value.replace('%', '%%'))
    options.attributes['connection'] = connection
    options.attributes['version_table'] = chain.table
    command.upgrade(options, revision)


def on(connection: sqlalchemy.Connection, chain: Chain) -> str | None:
    """Return the revision of a chain that a connection sees."""
    context = migration.MigrationContext.configure(
        connection, opts={'version_table': chain.table}
    )
    return context.get_current_revision()


def current(target: database.Database, chain: Chain = EXPAND) -> str | None:
    """Return the revision of the database; None when there is none yet."""
    with target.engine.connect() as connection:
        return on(connection, chain)


def head(chain: Chain = EXPAND) -> str | None:
    """Return the newest revision of a chain; None when it is empty."""
    return next(iter(chain.revisions), None)


def lacks(connection: sqlalchemy.Connection, chain: Chain) -> bool:
    """Do the same as :func:`is_behind`, on a connection."""
    found = on(connection, chain)
    return found != head(chain) and chain.knows(found)


def is_behind(target: database.Database, chain: Chain = EXPAND) -> bool:
    """Tell whether revisions of this release are missing in the database.

    A revision that we do not know is of a newer release, and has all of
    ours.
    """
    with target.engine.connect() as connection:
        return lacks(connection, chain)


@contextlib.contextmanager
def alone(target: database.Database) -> Iterator[sqlalchemy.Connection]:
    """Open a transaction in which no other process migrates.

    MariaDB commits at each statement that changes a table.

    :raises RuntimeError: another process held the lock for too long
    """
    with _THREADS, target.engine.connect() as plain:
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
