# SPDX-License-Identifier: Apache-2.0
"""Connections and transactions.

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
import pathlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import sqlalchemy
from oslo_config import cfg
from oslo_db import api as oslo_db_api
from oslo_db import exception as oslo_db_exception
from oslo_db.sqlalchemy import engines
from sqlalchemy import event, orm, pool

from engine.db import refusals, writer_queue
from vobjects import exceptions, sensitive

LOG = logging.getLogger(__name__)

Result = TypeVar('Result')

#: Seconds that a writer on SQLite waits for the other writers.
WRITE_TIMEOUT = 30

#: Milliseconds that a connection outside the writer queue waits for SQLite's
#: lock.
BUSY_TIMEOUT = 30_000

SQLITE_PRAGMAS = (
    f'PRAGMA busy_timeout = {BUSY_TIMEOUT}',
    'PRAGMA journal_mode = WAL',
    # With WAL this cannot corrupt the file. A power failure may lose the last
    # commits; the death of a process does not.
    'PRAGMA synchronous = NORMAL',
)

#: Seconds after which the server ends a transaction whose process is frozen.
#: Until then, the transaction locks rows that other engines must change to
#: take over its work.
IDLE_TIMEOUT = 10

#: Seconds after which an idle connection is checked before it is used.
PING_AFTER = 1.0

_IDLE_SINCE = 'vobjects_idle_since'

MYSQL_SETTINGS = (
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    # MySQL has no such setting; only MariaDB reads the comment.
    'SET @vobjects = 1 /*M!100300 ,'
    f' SESSION idle_transaction_timeout = {IDLE_TIMEOUT} */',
)

POSTGRESQL_SETTINGS = (
    f"SET idle_in_transaction_session_timeout = '{IDLE_TIMEOUT}s'",
)

#: Errors caused by a bad URL, a missing driver or an unreachable server.
UNUSABLE_ERRORS = (
    ImportError,
    OSError,
    oslo_db_exception.DBError,
    sqlalchemy.exc.SQLAlchemyError,
)

#: Keys in a session's ``info``: the functions to call before and after the
#: commit.
_BEFORE_COMMIT = 'vobjects_before_commit'
_AT_COMMIT = 'vobjects_at_commit'

#: Key by which oslo.db notes that a connection has sent BEGIN.
_IN_TRANSACTION = 'in_transaction'

#: Execution option: begin the transaction with BEGIN IMMEDIATE.
WRITES = 'vobjects_writes'

#: Execution option: the monotonic time at which a writer gives up.
UNTIL = 'vobjects_until'

_RETRY = oslo_db_api.wrap_db_retry(
    max_retries=12,
    retry_interval=0.02,
    max_retry_interval=1,
    jitter=True,
    retry_on_deadlock=True,
    exception_checker=lambda error: is_busy(error),
)


#: The errors among :data:`UNUSABLE_ERRORS` that may disappear on a retry.
UNREACHABLE_ERRORS = (
    OSError,
    oslo_db_exception.DBConnectionError,
    sqlalchemy.exc.OperationalError,
)


def log_failure(log: logging.Logger, error: Exception, message: str) -> None:
    """Log, in an ``except`` block, the failure of a task that is retried.

    :class:`Reachability` logs an unreachable database once, so that the loops
    that need it do not. Other errors are logged with a traceback.

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
            self.engine = create_engine(conf, create=create)
            # With max_retries = 0, oslo.db has not tested the connection.
            self.engine.connect().close()
        except UNUSABLE_ERRORS as error:
            is_away = isinstance(error, UNREACHABLE_ERRORS)
            kind = exceptions.Unreachable if is_away else UnusableError
            url = _masked_url(conf.database.connection)
            raise kind(
                f'[database] connection = {url} cannot be used:'
                f' {_reason(error)}'
            ) from error
        self._sessions = orm.sessionmaker(self.engine, expire_on_commit=False)
        self._reading = _for_reading(conf, self.engine)
        self._readers = orm.sessionmaker(self._reading, expire_on_commit=False)
        self._writers = (
            writer_queue.WriterQueue() if self.dialect == 'sqlite' else None
        )
        self._reachability = Reachability(self.engine.url)
        self._reached = _Reached(self._reachability)
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
        until = time.monotonic() + WRITE_TIMEOUT
        with (
            self._reached,
            self._writer_slot(until, urgent),
            self._sessions.begin() as session,
        ):
            session.connection(execution_options={WRITES: True, UNTIL: until})
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
        """Run ``work(session)`` in a transaction; retry it after a deadlock.

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


class _Reached:
    """Translate lost connections for callers that don't use oslo.db.

    This is a class because a generator would slow down each transaction.
    """

    __slots__ = ('_reachability',)

    def __init__(self, reachability: Reachability) -> None:
        self._reachability = reachability

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: object, error: BaseException | None, trace: object
    ) -> None:
        if isinstance(error, oslo_db_exception.DBConnectionError):
            raise exceptions.Unreachable(
                f'the database does not answer: {_first_line(error)}'
            ) from error
        if error is not None and (cause := refusals.refusal(error)):
            self._reachability.note_refusal(cause)
            raise exceptions.Unreachable(
                f'the database accepts no changes: {_first_line(cause)}'
            ) from error


class _Outage:
    """Logs the beginning and the end of an outage, each once.

    :param subject: what is out of order
    :param begins: what it does then
    :param ends: what it does again afterwards
    """

    def __init__(self, subject: str, begins: str, ends: str) -> None:
        self._subject, self._begins, self._ends = subject, begins, ends
        self._guard = threading.Lock()
        self._since: float | None = None

    def begin(self, error: BaseException) -> None:
        """Note an error."""
        with self._guard:
            if self._since is not None:
                return
            self._since = time.monotonic()
        LOG.warning(
            '%s %s: %s', self._subject, self._begins, _first_line(error)
        )

    def end(self) -> None:
        """Note a success."""
        # This avoids the lock: if an error is recorded at this moment, the
        # next success sees it.
        if self._since is None:
            return
        with self._guard:
            since, self._since = self._since, None
        if since is not None:
            seconds = time.monotonic() - since
            LOG.warning(
                '%s %s again, after %.1f s', self._subject, self._ends, seconds
            )


class Reachability:
    """Log once that a database is lost, and once that it is back.

    :param url: the URL of the database
    """

    def __init__(self, url: sqlalchemy.URL) -> None:
        subject = f'The database {url}'
        self._loss = _Outage(subject, 'does not answer', 'answers')
        self._refusal = _Outage(
            subject, 'accepts no changes', 'accepts changes'
        )
        self.note_refusal = self._refusal.begin
        self.note_write = self._refusal.end

    def watch(self, engine: sqlalchemy.Engine) -> None:
        """Monitor the connections of an engine.

        From now on, a failed connect raises oslo.db's DBConnectionError.
        oslo.db matches the text of the driver's error, but does not know the
        text of libpq 14 and later ("connection to server at ... failed").
        """

        @event.listens_for(engine, 'do_connect')
        def connect(
            dialect: sqlalchemy.Dialect, record: Any, cargs: Any, cparams: Any
        ) -> Any:
            try:
                return dialect.connect(*cargs, **cparams)
            except dialect.loaded_dbapi.Error as error:
                self._loss.begin(error)
                raise oslo_db_exception.DBConnectionError(error) from error

        @event.listens_for(engine, 'connect')
        def connected(connection: Any, record: Any) -> None:
            self._loss.end()

        @event.listens_for(engine, 'handle_error')
        def failed(context: sqlalchemy.engine.ExceptionContext) -> None:
            if context.is_disconnect:
                self._loss.begin(context.original_exception)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition('\n')[0]


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


def create_engine(
    conf: cfg.ConfigOpts, *, create: bool = True
) -> sqlalchemy.Engine:
    """Return an SQLAlchemy engine configured by ``[database]``.

    Retries ``[database] max_retries`` times if the server does not answer yet.

    :raises Exception: one of :data:`UNUSABLE_ERRORS`
    """
    options = conf.database
    url = sqlalchemy.make_url(options.connection)
    if url.get_backend_name() == 'sqlite' and url.database:
        path = pathlib.Path(url.database).resolve()
        if create:
            path.parent.mkdir(parents=True, exist_ok=True)
        elif not path.exists() and not url.query:
            url = sqlalchemy.make_url('sqlite://')
    is_mysql = url.get_backend_name() in ('mysql', 'mariadb')
    if is_mysql and 'charset' not in url.query:
        # oslo.db's default is the three-byte charset.
        url = url.update_query_dict({'charset': 'utf8mb4'})
    engine: sqlalchemy.Engine = engines.create_engine(
        url.render_as_string(hide_password=False),
        sqlite_fk=True,
        mysql_sql_mode=options.mysql_sql_mode,
        connection_recycle_time=options.connection_recycle_time,
        connection_debug=options.connection_debug,
        max_pool_size=options.max_pool_size,
        max_overflow=options.max_overflow,
        pool_timeout=options.pool_timeout,
        max_retries=options.max_retries,
        retry_interval=options.retry_interval,
        thread_checkin=False,
    )
    if is_mysql:
        _on_connect(engine, MYSQL_SETTINGS)
    elif engine.dialect.name == 'postgresql':
        _on_connect(engine, POSTGRESQL_SETTINGS)
    elif engine.dialect.name == 'sqlite':
        _on_connect(engine, SQLITE_PRAGMAS)
        _begin_immediate(engine)
        _keep_connections(engine, options.max_pool_size or 5)
    if engine.dialect.name != 'sqlite':
        _ping_idle(engine)
    # Drop connections that were opened before the listeners were added.
    engine.dispose()
    return engine


def _for_reading(
    conf: cfg.ConfigOpts, engine: sqlalchemy.Engine
) -> sqlalchemy.Engine:
    """Return an engine for transactions that only read.

    At READ COMMITTED, each statement sees what is committed at that time,
    inside or outside of a transaction. On PostgreSQL, autocommit connections
    save the BEGIN and the ROLLBACK. The drivers of the other databases offer
    no such saving.
    """
    if engine.dialect.name != 'postgresql':
        return engine
    reading = create_engine(conf)

    @event.listens_for(reading, 'connect')
    def never_begin(connection: Any, record: Any) -> None:
        connection.autocommit = True

    return reading


def _ping_idle(engine: sqlalchemy.Engine) -> None:
    """Ping a connection before use only if it was idle.

    With oslo.db's settings, SQLAlchemy pings before each transaction, which
    takes about as long as a statement.
    """
    engine.pool._pre_ping = False

    @event.listens_for(engine, 'checkin')
    def note(connection: Any, record: Any) -> None:
        record.info[_IDLE_SINCE] = time.monotonic()

    @event.listens_for(engine, 'checkout')
    def ask(connection: Any, record: Any, proxy: Any) -> None:
        since = record.info.get(_IDLE_SINCE)
        if since is None or time.monotonic() - since < PING_AFTER:
            return
        try:
            engine.dialect.do_ping(connection)
        except Exception as error:
            # SQLAlchemy retries with a new connection and drops the others.
            raise sqlalchemy.exc.InvalidatePoolError from error


#: Module of a database driver -> the extra that installs it.
_EXTRAS = {'psycopg2': 'postgresql', 'pymysql': 'mysql'}


def _masked_url(connection: str | None) -> str:
    """Return a URL with its password masked."""
    try:
        sqlalchemy.make_url(connection or '')
    except (sqlalchemy.exc.ArgumentError, ValueError):
        return 'not a URL'
    return sensitive.mask_url(connection or '')


def _reason(error: Exception) -> str:
    """Return in one line why a database cannot be used, and the fix."""
    if isinstance(error, ImportError):
        extra = _EXTRAS.get(error.name or '')
        if extra is not None:
            return f"{error}; run: pip install 'vobjects-clustering[{extra}]'"
        return f'{error}; write postgresql+psycopg2:// or mysql+pymysql://'
    line = ' '.join(str(error).strip().partition('\n')[0].split())
    return f'{line}; start the server, or correct the URL'


def _on_connect(
    engine: sqlalchemy.Engine, statements: tuple[str, ...]
) -> None:
    @event.listens_for(engine, 'connect')
    def settings(connection: Any, record: Any) -> None:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        cursor.close()
        # PostgreSQL reverts settings when their transaction is rolled back.
        connection.commit()


def _begin_immediate(engine: sqlalchemy.Engine) -> None:
    """Begin the transactions of writers with BEGIN IMMEDIATE.

    oslo.db sends BEGIN itself, as a statement of SQLAlchemy, unless the
    connection's ``info`` marks a transaction as in progress. This function
    sets that mark permanently.
    """

    @event.listens_for(engine, 'connect')
    def connected(connection: Any, record: Any) -> None:
        record.info[_IN_TRANSACTION] = True

    # Runs after oslo.db's own listeners, which remove the mark.
    @event.listens_for(engine, 'rollback')
    @event.listens_for(engine, 'commit')
    def ended(connection: sqlalchemy.Connection) -> None:
        connection.info[_IN_TRANSACTION] = True

    @event.listens_for(engine, 'begin')
    def begin(connection: sqlalchemy.Connection) -> None:
        cursor = connection.connection.cursor()
        options = connection.get_execution_options()
        try:
            if options.get(WRITES):
                until = time.monotonic() + WRITE_TIMEOUT
                writer_queue.begin(cursor, options.get(UNTIL, until))
            else:
                cursor.execute('BEGIN')
        except sqlite3.OperationalError as error:
            # SQLAlchemy does not translate exceptions raised by a listener.
            raise oslo_db_exception.DBError(error) from error
        finally:
            cursor.close()


def _keep_connections(engine: sqlalchemy.Engine, size: int) -> None:
    """Replace oslo.db's NullPool for an SQLite file.

    When the last connection to a file in WAL mode closes, SQLite writes the
    whole log back. Without a pool, this would happen after most transactions.
    """
    unpooled = engine.pool
    if isinstance(unpooled, pool.NullPool):
        engine.pool = pool.QueuePool(
            unpooled._creator,
            pool_size=size,
            max_overflow=-1,
            dialect=unpooled._dialect,
            _dispatch=unpooled.dispatch,
        )
