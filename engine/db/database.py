# SPDX-License-Identifier: Apache-2.0
"""Connections and transactions.

Every transaction is READ COMMITTED or stricter on all three databases, and
state changes are single statements that say what they expect (``UPDATE ...
WHERE status = ...``), so that the level is enough. On SQLite a writer begins
IMMEDIATE: one that read first and wrote later would be refused at once, with
no waiting, if another wrote in between.

oslo.db makes the connections, translates errors and says what may be
retried. Its enginefacade is not used: it reads the process-wide
configuration, and gives SQLite files a new connection per transaction.
"""

from __future__ import annotations

import contextlib
import logging
import pathlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import sqlalchemy
from oslo_config import cfg
from oslo_db import api as oslo_db_api
from oslo_db import exception as oslo_db_exception
from oslo_db.sqlalchemy import engines
from sqlalchemy import event, orm, pool

from engine.db import turns
from vobjects import exceptions

LOG = logging.getLogger(__name__)

Result = TypeVar('Result')

#: Seconds that a writer waits for its turn on SQLite.
WRITE_TIMEOUT = 30

#: Milliseconds that whoever is not queued waits for a lock of SQLite's.
BUSY_TIMEOUT = 30_000

SQLITE_PRAGMAS = (
    f'PRAGMA busy_timeout = {BUSY_TIMEOUT}',
    'PRAGMA journal_mode = WAL',
    # With WAL this keeps the file sound; only a power cut may lose the last
    # commits, the death of a process never does.
    'PRAGMA synchronous = NORMAL',
)

#: Seconds after which a server ends a transaction whose process is frozen:
#: until then it locks the rows that others must change to take over from it.
IDLE_TIMEOUT = 10

#: Seconds after which a connection that nobody used may be gone.
IDLE = 1.0

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

#: What a bad URL, a missing driver or a server that is away lead to.
UNUSABLE = (
    ImportError,
    OSError,
    oslo_db_exception.DBError,
    sqlalchemy.exc.SQLAlchemyError,
)

#: In the ``info`` of a session: what is called when it has committed.
_AT_COMMIT = 'vobjects_at_commit'

#: By which oslo.db knows that a connection has said BEGIN.
_IN_TRANSACTION = 'in_transaction'

#: Execution option by which a connection asks for BEGIN IMMEDIATE.
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


#: Of these, what may be over when somebody tries again.
OUT_OF_REACH = (
    OSError,
    oslo_db_exception.DBConnectionError,
    sqlalchemy.exc.OperationalError,
)


def report(log: logging.Logger, error: Exception, what: str) -> None:
    """Log, in an ``except``, why something failed that is tried again.

    A database that is away for a while is an operator's matter, told in a
    line; anything else is a fault of ours, told with its traceback.

    :param what: begins the line, such as ``Could not look for work``
    """
    if isinstance(error, oslo_db_exception.DBConnectionError):
        why = str(error).strip().partition('\n')[0]
        log.warning('%s: the database is out of reach: %s', what, why)
    else:
        log.exception(what)


def at_commit(session: orm.Session, call: Callable[[], object]) -> None:
    """Have something called once the transaction is committed.

    :param session: of a transaction that writes
    :param call: it does not raise
    """
    session.info.setdefault(_AT_COMMIT, []).append(call)


class UnreachableError(exceptions.OutOfReach):
    """The configured database does not answer; the message says why."""


class UnusableError(exceptions.VobjectsError):
    """No database can be reached that way; the message says why."""


class Database:
    """One database, shared by all threads of the process.

    :param conf: with oslo.db's ``[database]`` options registered
    :raises UnreachableError: nobody answers
    :raises UnusableError: the URL is bad, or its driver is missing
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        try:
            self.engine = create_engine(conf)
            # With max_retries = 0, nobody has looked yet whether it answers.
            self.engine.connect().close()
        except UNUSABLE as error:
            is_away = isinstance(error, OUT_OF_REACH)
            kind = UnreachableError if is_away else UnusableError
            raise kind(
                f'[database] connection = {_shown(conf.database.connection)}'
                f' cannot be used: {error}'
            ) from error
        self._sessions = orm.sessionmaker(self.engine, expire_on_commit=False)
        self._reading = _for_reading(conf, self.engine)
        self._readers = orm.sessionmaker(self._reading, expire_on_commit=False)
        self._turns = turns.Turns() if self.dialect == 'sqlite' else None

    @property
    def dialect(self) -> str:
        """``sqlite``, ``postgresql`` or ``mysql`` (also for MariaDB)."""
        name = self.engine.dialect.name
        return 'mysql' if name == 'mariadb' else name

    @contextlib.contextmanager
    def reader(self) -> Iterator[orm.Session]:
        """Open a session that only reads; what it loads outlives it."""
        with self._readers() as session:
            yield session

    @contextlib.contextmanager
    def columns(self) -> Iterator[sqlalchemy.Connection]:
        """Open a connection that only reads, and loads no entities."""
        with self._reading.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def writer(self, *, urgent: bool = False) -> Iterator[orm.Session]:
        """Open a transaction that commits at the end of the block.

        Use :meth:`write` unless the caller repeats the block itself.

        :param urgent: on SQLite, go before what else this process writes
        """
        until = time.monotonic() + WRITE_TIMEOUT
        with self._turn(until, urgent), self._sessions.begin() as session:
            session.connection(execution_options={WRITES: True, UNTIL: until})
            yield session
        for call in session.info.get(_AT_COMMIT, ()):
            call()

    def _turn(
        self, until: float, urgent: bool
    ) -> contextlib.AbstractContextManager[None]:
        if self._turns is None:
            return contextlib.nullcontext()
        return self._turns.turn(until, urgent=urgent)

    def write(
        self, work: Callable[[orm.Session], Result], *, urgent: bool = False
    ) -> Result:
        """Run ``work(session)`` in a transaction; again if it deadlocked.

        :param work: leaves no trace but in the database: it may run twice
        :param urgent: on SQLite, go before what else this process writes
        """

        def attempt() -> Result:
            with self.writer(urgent=urgent) as session:
                return work(session)

        result: Result = _RETRY(attempt)()
        return result

    def joined(self, session: orm.Session) -> Database:
        """Return this database, with all that is done to it in a session.

        :param session: of a transaction under way, which decides whether all
            of it happens
        """
        return _Joined(self, session)

    def close(self) -> None:
        """Close all connections that are not in use."""
        self.engine.dispose()
        self._reading.dispose()


class _Joined(Database):
    """See :meth:`Database.joined`."""

    def __init__(self, whole: Database, session: orm.Session) -> None:
        self.engine = whole.engine
        self._session = session

    @contextlib.contextmanager
    def reader(self) -> Iterator[orm.Session]:
        """Return the session."""
        yield self._session

    @contextlib.contextmanager
    def columns(self) -> Iterator[sqlalchemy.Connection]:
        """Return the connection of the session."""
        yield self._session.connection()

    @contextlib.contextmanager
    def writer(self, *, urgent: bool = False) -> Iterator[orm.Session]:
        """Return the session, whose transaction is another's to end."""
        yield self._session

    def write(
        self, work: Callable[[orm.Session], Result], *, urgent: bool = False
    ) -> Result:
        """Run ``work(session)``; who began the transaction repeats it."""
        return work(self._session)

    def close(self) -> None:
        """Do nothing: it is not ours."""


def is_busy(error: BaseException) -> bool:
    """Tell whether SQLite or MariaDB asks to try the transaction again."""
    if not isinstance(error, oslo_db_exception.DBError):
        return False
    return 'database is locked' in str(error.inner_exception or error)


def create_engine(conf: cfg.ConfigOpts) -> sqlalchemy.Engine:
    """Return an SQLAlchemy engine as ``[database]`` configures it.

    It waits, as long as ``[database] max_retries`` says, for a server that
    does not answer yet.

    :raises Exception: one of :data:`UNUSABLE`
    """
    options = conf.database
    url = sqlalchemy.make_url(options.connection)
    if url.get_backend_name() == 'sqlite' and url.database:
        parent = pathlib.Path(url.database).resolve().parent
        parent.mkdir(parents=True, exist_ok=True)
    is_mysql = url.get_backend_name() in ('mysql', 'mariadb')
    if is_mysql and 'charset' not in url.query:
        # oslo.db's default would be the three-byte charset.
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
    # What was connected before the listeners were there goes.
    engine.dispose()
    return engine


def _for_reading(
    conf: cfg.ConfigOpts, engine: sqlalchemy.Engine
) -> sqlalchemy.Engine:
    """Return an engine for what only reads.

    At READ COMMITTED each statement sees what is committed then, within a
    transaction or without one. PostgreSQL is spared BEGIN and ROLLBACK by
    connections that are never in one; with the drivers of the others there
    is nothing to spare.
    """
    if engine.dialect.name != 'postgresql':
        return engine
    reading = create_engine(conf)

    @event.listens_for(reading, 'connect')
    def never_begin(connection: Any, record: Any) -> None:
        connection.autocommit = True

    return reading


def _ping_idle(engine: sqlalchemy.Engine) -> None:
    """Ask a connection whether it is there only after it was idle.

    oslo.db has SQLAlchemy ask before each transaction, which takes about as
    long as a statement does.
    """
    engine.pool._pre_ping = False

    @event.listens_for(engine, 'checkin')
    def note(connection: Any, record: Any) -> None:
        record.info[_IDLE_SINCE] = time.monotonic()

    @event.listens_for(engine, 'checkout')
    def ask(connection: Any, record: Any, proxy: Any) -> None:
        since = record.info.get(_IDLE_SINCE)
        if since is None or time.monotonic() - since < IDLE:
            return
        try:
            engine.dialect.do_ping(connection)
        except Exception as error:
            # SQLAlchemy tries with a new one, and drops the others.
            raise sqlalchemy.exc.InvalidatePoolError from error


def _shown(connection: str | None) -> str:
    """Return a URL without its password."""
    try:
        return str(sqlalchemy.make_url(connection or ''))
    except sqlalchemy.exc.ArgumentError:
        return 'not a URL'


def _on_connect(
    engine: sqlalchemy.Engine, statements: tuple[str, ...]
) -> None:
    @event.listens_for(engine, 'connect')
    def settings(connection: Any, record: Any) -> None:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        cursor.close()
        # PostgreSQL would take back what a transaction set that is undone.
        connection.commit()


def _begin_immediate(engine: sqlalchemy.Engine) -> None:
    """Have transactions of writers begin IMMEDIATE.

    oslo.db says BEGIN itself, as a statement of SQLAlchemy's, unless a
    connection's ``info`` says that one is under way: it always does.
    """

    @event.listens_for(engine, 'connect')
    def connected(connection: Any, record: Any) -> None:
        record.info[_IN_TRANSACTION] = True

    # After oslo.db's own listeners, which remove it.
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
                turns.begin(cursor, options.get(UNTIL, until))
            else:
                cursor.execute('BEGIN')
        except sqlite3.OperationalError as error:
            # Nobody translates what a listener raises.
            raise oslo_db_exception.DBError(error) from error
        finally:
            cursor.close()


def _keep_connections(engine: sqlalchemy.Engine, size: int) -> None:
    """Give a SQLite file a pool in place of oslo.db's NullPool.

    When the last connection to a file in WAL mode closes, SQLite writes the
    whole log back: with no pool this would happen after most transactions.
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
