# SPDX-License-Identifier: Apache-2.0
"""Transactions.

Every transaction is READ COMMITTED or stricter on all three databases. State
changes are single conditional statements (``UPDATE ... WHERE status = ...``),
for which this isolation level is sufficient. On SQLite, a writer begins with
BEGIN IMMEDIATE. A transaction that reads first and writes later would fail at
once, without waiting, if another one wrote in between.

oslo.db creates the connections, translates errors and decides which of them
can be retried. Its enginefacade is not used: it reads the process-wide
configuration, and opens a new connection to an SQLite file for each
transaction.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import sqlalchemy
from oslo_config import cfg
from oslo_db import api as oslo_db_api
from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine.db import connections, reachability, writer_queue
from vobjects import exceptions, sensitive

Result = TypeVar('Result')

#: Errors caused by a bad URL, a missing driver or an unreachable server.
UNUSABLE_ERRORS = (
    ImportError,
    OSError,
    TypeError,  # an option that the driver does not have
    ValueError,  # a malformed port
    oslo_db_exception.DBError,
    sqlalchemy.exc.SQLAlchemyError,
)

#: Keys in a session's ``info``: the functions to call before and after the
#: commit.
_BEFORE_COMMIT = 'vobjects_before_commit'
_AT_COMMIT = 'vobjects_at_commit'

_RETRY = oslo_db_api.wrap_db_retry(
    max_retries=12,
    retry_interval=0.02,
    max_retry_interval=1,
    jitter=True,
    retry_on_deadlock=True,
    exception_checker=lambda error: is_busy(error) or is_outdated(error),
)


#: The errors among :data:`UNUSABLE_ERRORS` that may disappear on a retry.
UNREACHABLE_ERRORS = (
    OSError,
    oslo_db_exception.DBConnectionError,
    sqlalchemy.exc.OperationalError,
)


def log_failure(log: logging.Logger, error: Exception, message: str) -> None:
    """Log, in an ``except`` block, the failure of a task that is retried.

    :mod:`engine.db.reachability` logs an unreachable database once, so that
    the loops that need it do not. Other errors are logged with a traceback.

    :param message: the beginning of the line, such as ``Could not look for
        work``
    """
    if isinstance(error, exceptions.Unreachable):
        log.debug('%s: %s', message, error)
    else:
        log.exception(message)


def before_commit(
    session: orm.Session, call: Callable[[orm.Session], object]
) -> None:
    """Call a function at the end of the transaction.

    :param session: the session of a transaction that writes
    """
    session.info.setdefault(_BEFORE_COMMIT, []).append(call)


def at_commit(session: orm.Session, call: Callable[[], object]) -> None:
    """Call a function after the transaction is committed.

    :param session: the session of a transaction that writes
    :param call: must not raise
    """
    session.info.setdefault(_AT_COMMIT, []).append(call)


class UnusableError(exceptions.VobjectsError):
    """Raised for unusable database settings; the message explains why."""


class Database:
    """One database, shared by all threads of the process.

    :param conf: the configuration, with oslo.db's ``[database]`` options
        registered
    :param create: whether to create the file of an SQLite database. If False,
        a missing file is treated as an empty database.
    :raises vobjects.exceptions.Unreachable: the server does not answer;
        reading and writing raise it, too
    :raises UnusableError: the URL is invalid, or its driver is missing
    """

    def __init__(self, conf: cfg.ConfigOpts, *, create: bool = True) -> None:
        try:
            self.engine = connections.create_engine(conf, create=create)
            # With max_retries = 0, oslo.db has not tested the connection.
            self.engine.connect().close()
        except UNUSABLE_ERRORS as error:
            is_away = isinstance(error, UNREACHABLE_ERRORS)
            kind = exceptions.Unreachable if is_away else UnusableError
            url = conf.database.connection or ''
            raise kind(
                f'[database] connection = {_masked_url(url)} cannot be used:'
                f' {_reason(error, url)}'
            ) from error
        self._sessions = orm.sessionmaker(self.engine, expire_on_commit=False)
        self._reading = connections.for_reading(conf, self.engine)
        self._readers = orm.sessionmaker(self._reading, expire_on_commit=False)
        self._writers = (
            writer_queue.WriterQueue() if self.dialect == 'sqlite' else None
        )
        self._reachability = reachability.Reachability(self.engine.url)
        self._reached = reachability.Reached(self._reachability)
        for each in {self.engine, self._reading}:
            self._reachability.watch(each)

    @property
    def dialect(self) -> str:
        """``sqlite``, ``postgresql`` or ``mysql`` (also for MariaDB)."""
        name = self.engine.dialect.name
        return 'mysql' if name == 'mariadb' else name

    @contextlib.contextmanager
    def reader(self) -> Iterator[orm.Session]:
        """Open a read-only session; loaded objects outlive it."""
        with self._reached, self._readers() as session:
            yield session

    @contextlib.contextmanager
    def read_connection(self) -> Iterator[sqlalchemy.Connection]:
        """Open a read-only connection, which loads no entities."""
        with self._reached, self._reading.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def writer(self, *, urgent: bool = False) -> Iterator[orm.Session]:
        """Open a transaction that commits at the end of the block.

        Use :meth:`write` unless the caller repeats the block itself.

        :param urgent: on SQLite, go before the other writers of this process
        """
        until = time.monotonic() + connections.WRITE_TIMEOUT
        with (
            self._reached,
            self._writer_slot(until, urgent),
            self._sessions.begin() as session,
        ):
            session.connection(
                execution_options={
                    connections.WRITES: True,
                    connections.UNTIL: until,
                }
            )
            yield session
            # A function may add another one.
            for last in session.info.setdefault(_BEFORE_COMMIT, []):
                last(session)
        self._reachability.note_write()
        for call in session.info.get(_AT_COMMIT, ()):
            call()

    def _writer_slot(
        self, until: float, urgent: bool
    ) -> contextlib.AbstractContextManager[None]:
        if self._writers is None:
            return contextlib.nullcontext()
        return self._writers.slot(until, urgent=urgent)

    def write(
        self, work: Callable[[orm.Session], Result], *, urgent: bool = False
    ) -> Result:
        """Run ``work(session)`` in a transaction; retry it after a conflict.

        :param work: may run twice, so it must have no effect outside of the
            database
        :param urgent: on SQLite, go before the other writers of this process
        """

        def attempt() -> Result:
            with self.writer(urgent=urgent) as session:
                return work(session)

        result: Result = _RETRY(attempt)()
        return result

    def bound_to(self, session: orm.Session) -> Database:
        """Return this database, bound to the transaction of a session.

        :param session: the session of a transaction in progress. Its owner
            commits or rolls back everything done through the returned object.
        """
        return _BoundDatabase(self, session)

    def close(self) -> None:
        """Close all idle connections."""
        self.engine.dispose()
        self._reading.dispose()


class _BoundDatabase(Database):
    """A database bound to a session; see :meth:`Database.bound_to`."""

    def __init__(self, whole: Database, session: orm.Session) -> None:
        self.engine = whole.engine
        self._session = session

    @contextlib.contextmanager
    def reader(self) -> Iterator[orm.Session]:
        """Return the session."""
        yield self._session

    @contextlib.contextmanager
    def read_connection(self) -> Iterator[sqlalchemy.Connection]:
        """Return the session's connection."""
        yield self._session.connection()

    @contextlib.contextmanager
    def writer(self, *, urgent: bool = False) -> Iterator[orm.Session]:
        """Return the session without ending its transaction."""
        yield self._session

    def write(
        self, work: Callable[[orm.Session], Result], *, urgent: bool = False
    ) -> Result:
        """Run ``work(session)`` once; the transaction's owner retries it."""
        return work(self._session)

    def close(self) -> None:
        """Do nothing: the connections belong to the original database."""


def is_busy(error: BaseException) -> bool:
    """Tell whether SQLite or MariaDB asks to retry the transaction."""
    if not isinstance(error, oslo_db_exception.DBError):
        return False
    return 'database is locked' in str(error.inner_exception or error)


def is_outdated(error: BaseException) -> bool:
    """Tell whether another transaction has deleted a row after it was read.

    If the transaction is retried, it does not find the row.
    """
    return isinstance(error, orm.exc.StaleDataError)


#: Module of a database driver -> the extra that installs it.
_EXTRAS = {'psycopg2': 'postgresql', 'pymysql': 'mysql'}


def _masked_url(connection: str) -> str:
    try:
        sqlalchemy.make_url(connection)
    except (sqlalchemy.exc.ArgumentError, ValueError):
        return 'not a URL'
    return sensitive.mask_url(connection)


def _reason(error: Exception, url: str) -> str:
    """Return in one line why a database cannot be used, and the fix."""
    if isinstance(error, ImportError):
        extra = _EXTRAS.get(error.name or '')
        if extra is not None:
            return f"{error}; run: pip install 'vobjects-clustering[{extra}]'"
        return f'{error}; write postgresql+psycopg2:// or mysql+pymysql://'
    line = ' '.join(str(error).strip().partition('\n')[0].split())
    return (
        f'{sensitive.mask_text(line, url)}; start the server, or correct the'
        ' URL, in which special characters of the password are escaped, such'
        ' as %2F for /'
    )
