# SPDX-License-Identifier: Apache-2.0
"""Migrate a database to the schema that this release needs.

During a rolling upgrade, old and new engines share the database. Therefore
there are two chains of revisions. Each has a table that records the current
revision of the database::

    expand    versions/    only adds; engines of the previous release
                           keep working
    contract  contract/    drops and tightens what only those engines
                           used, after the last of them has stopped
                           (engine.db.schema_phase)

The number of a revision is its position in its chain, and increases from
release to release. A release therefore recognizes the revisions of newer
releases, and rejects a database with any other revision that it does not have.

::

    columns   column helpers for migrations
    contract  contracting revisions, one module each, in numerical order
    env       alembic's entry point: run revisions on the given connection
    versions  expanding revisions, one module each, in numerical order
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import pathlib
import re
import threading
from collections.abc import Callable, Iterator

import sqlalchemy

from engine.db import connections, database, models
from vobjects import exceptions

#: Identifies the lock that allows one process at a time to migrate.
LOCK_NAME = 'vobjects_migrations'
LOCK_NUMBER = 0x766F626A

#: Alembic's ``context`` and ``op`` are process-wide.
_THREADS = threading.Lock()

#: Seconds to wait for another migrating process, on MariaDB.
LOCK_TIMEOUT = 600

_HERE = pathlib.Path(__file__).parent

#: Called with the name of each revision, after it has run.
Report = Callable[[str], object]


@dataclasses.dataclass(frozen=True, slots=True)
class Chain:
    """A linear sequence of revisions.

    :ivar directory: the directory of the revisions' modules
    :ivar table: the table in which alembic records the current revision
    """

    directory: pathlib.Path
    table: str

    @property
    def revisions(self) -> tuple[str, ...]:
        """All revisions, newest first, from the names of their modules."""
        return _revisions(self.directory)

    def knows(self, revision: str | None) -> bool:
        """Tell whether this release has a revision; None is the beginning."""
        return revision is None or revision in self.revisions

    def is_newer(self, revision: str | None) -> bool:
        """Tell whether a revision belongs to a newer release."""
        if self.knows(revision):
            return False
        number = _number(revision)
        return number is not None and number > (
            _number(next(iter(self.revisions), None)) or 0
        )

    def check(self, revision: str | None) -> None:
        """Check that a revision belongs to this release or a newer one.

        :raises UnknownRevisionError: it does not
        """
        if not self.knows(revision) and not self.is_newer(revision):
            raise UnknownRevisionError(revision or '')


class UnknownRevisionError(exceptions.FleetError):
    """Raised if neither this nor a newer release has made a database."""

    def __init__(self, revision: str) -> None:
        problem = (
            f'the database has revision {exceptions.cut(revision)}, which is'
            ' neither of this release nor of a newer one: a build from before'
            ' the first release or another program has made it'
            if revision
            else 'the database has tables of this service but no revision:'
            ' creating them was interrupted, or the backup was incomplete'
        )
        super().__init__(
            f'{problem}. Restore a backup from a release, or set [database]'
            ' connection to a new, empty database and run "vobjects db expand"'
        )


def _number(revision: str | None) -> int | None:
    """Return the number of a revision, such as 12 for ``e012``."""
    match = re.fullmatch(r'[ec]([0-9]{3})', revision or '')
    return int(match[1]) if match else None


@functools.cache
def _revisions(directory: pathlib.Path) -> tuple[str, ...]:
    names = sorted(path.name for path in directory.glob('[ec]???_*.py'))
    return tuple(name.partition('_')[0] for name in reversed(names))


EXPAND = Chain(_HERE / 'versions', 'alembic_version')
CONTRACT = Chain(_HERE / 'contract', 'contract_version')


def _ignore(revision: str) -> None:
    """Report no progress."""


def expand(target: database.Database, report: Report = _ignore) -> None:
    """Add the schema that this release needs.

    Processes that call it at the same time wait for one another. A database
    that a newer release has expanded is left unchanged.

    :param report: called with each revision, after it has run
    :raises RuntimeError: another process held the lock for too long
    :raises UnknownRevisionError: no release has made the database
    """
    with locked(target) as connection:
        CONTRACT.check(revision_on(connection, CONTRACT))
        upgrade(connection, EXPAND, report=report)


def upgrade(
    connection: sqlalchemy.Connection,
    chain: Chain,
    revision: str = 'head',
    *,
    report: Report = _ignore,
) -> None:
    """Upgrade to a revision, unless a newer release has upgraded further.

    :param connection: the connection opened by :func:`locked`
    :param report: called with each revision, after it has run
    :raises UnknownRevisionError: no release has made the database
    """
    # Imported here: engines check revisions, and run none. Alembic would be
    # a fifth of the time in which an engine starts.
    from alembic import command, config

    before = revision_on(connection, chain)
    chain.check(before)
    if not chain.revisions or chain.is_newer(before):
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
    options.attributes['report'] = report
    command.upgrade(options, revision)


def revision_on(connection: sqlalchemy.Connection, chain: Chain) -> str | None:
    """Return the current revision of a chain, using a connection.

    Several of them, which no release writes, are joined by commas.

    :returns: None if the chain has not begun; empty if it must have begun,
        because the database has tables of this service
    """
    inspector = sqlalchemy.inspect(connection)
    revisions: list[str] = []
    if inspector.has_table(chain.table):
        number = sqlalchemy.column('version_num', sqlalchemy.String)
        query = sqlalchemy.select(number).order_by(number)
        query = query.select_from(sqlalchemy.table(chain.table))
        revisions.extend(connection.scalars(query))
    if revisions:
        return ','.join(revisions)
    has_begun = chain.table == EXPAND.table and not (
        models.Base.metadata.tables.keys().isdisjoint(
            inspector.get_table_names()
        )
    )
    return '' if has_begun else None


def current(target: database.Database, chain: Chain = EXPAND) -> str | None:
    """Return the current revision of the database; None if it has none."""
    with target.engine.connect() as connection:
        return revision_on(connection, chain)


def head(chain: Chain = EXPAND) -> str | None:
    """Return the newest revision of a chain; None if the chain is empty."""
    return next(iter(chain.revisions), None)


def missing(
    target: database.Database, chain: Chain = EXPAND
) -> tuple[str, ...]:
    """Return the revisions that an upgrade would run, newest first."""
    revision = current(target, chain)
    if not chain.knows(revision):
        return ()
    return (
        chain.revisions[: chain.revisions.index(revision)]
        if revision
        else chain.revisions
    )


def lacks_revisions(connection: sqlalchemy.Connection, chain: Chain) -> bool:
    """Do the same as :func:`is_behind`, using a connection."""
    revision = revision_on(connection, chain)
    chain.check(revision)
    return revision != head(chain) and chain.knows(revision)


def is_behind(target: database.Database, chain: Chain = EXPAND) -> bool:
    """Tell whether the database lacks revisions of this release.

    A revision of a newer release includes all of this release's revisions.

    :raises UnknownRevisionError: no release has made the database
    """
    with target.engine.connect() as connection:
        return lacks_revisions(connection, chain)


@contextlib.contextmanager
def locked(target: database.Database) -> Iterator[sqlalchemy.Connection]:
    """Open a transaction that locks out other migrating processes.

    MariaDB commits after each statement that changes a table.

    :raises RuntimeError: another process held the lock for too long
    """
    with _THREADS, target.engine.connect() as plain:
        # On SQLite, the transaction itself is the lock.
        connection = plain.execution_options(**{connections.WRITES: True})
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
    """Hold MariaDB's named lock, which does not end with a transaction.

    Lock names are shared by the whole server, so the name includes a hash of
    the database's name.
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
