# SPDX-License-Identifier: Apache-2.0
"""Create connections, with the settings that each kind of database needs."""

from __future__ import annotations

import pathlib
import sqlite3
import time
from typing import Any

import sqlalchemy
from oslo_config import cfg
from oslo_db import exception as oslo_db_exception
from oslo_db.sqlalchemy import engines
from sqlalchemy import event, pool

from engine.db import writer_queue
from vobjects_sql import sqlite_files

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

#: Key by which oslo.db notes that a connection has sent BEGIN.
_IN_TRANSACTION = 'in_transaction'

#: Execution option: begin the transaction with BEGIN IMMEDIATE.
WRITES = 'vobjects_writes'

#: Execution option: the monotonic time at which a writer gives up.
UNTIL = 'vobjects_until'


def create_engine(
    conf: cfg.ConfigOpts, *, create: bool = True
) -> sqlalchemy.Engine:
    """Return an SQLAlchemy engine configured by ``[database]``.

    Retries ``[database] max_retries`` times if the server does not answer yet.

    :raises Exception: one of :data:`engine.db.database.UNUSABLE_ERRORS`
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
        sqlite_files.distrust_schema(engine)
        _read_invalid_text(engine)
        _on_connect(engine, SQLITE_PRAGMAS)
        _begin_immediate(engine)
        _keep_connections(engine, options.max_pool_size or 5)
    if engine.dialect.name != 'sqlite':
        _ping_idle(engine)
    # Drop connections that were opened before the listeners were added.
    engine.dispose()
    return engine


def for_reading(
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


def _read_invalid_text(engine: sqlalchemy.Engine) -> None:
    """Read text that is not UTF-8, which only SQLite stores.

    A shell or a damaged file has written it. The error of the driver would end
    each query that finds its row, such as the search for work.
    """

    @event.listens_for(engine, 'connect')
    def connected(connection: Any, record: Any) -> None:
        connection.text_factory = _decode


def _decode(stored: bytes) -> str:
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored.decode(errors='backslashreplace')


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
