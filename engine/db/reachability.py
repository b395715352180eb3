# SPDX-License-Identifier: Apache-2.0
"""Detect, translate and log outages of a database."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Iterator
from typing import Any

import sqlalchemy
from oslo_db import exception as oslo_db_exception
from sqlalchemy import event

from vobjects import exceptions, sensitive

LOG = logging.getLogger(__name__)

#: SQLSTATE of PostgreSQL.
POSTGRESQL = {
    '25006': 'read-only transaction',
    '53000': 'insufficient resources',
    '53100': 'disk full',
    '53200': 'out of memory',
    '57P03': 'cannot connect now',
    '58030': 'I/O error',
    '58P01': 'undefined file',
}

#: Error number of MariaDB and MySQL.
MYSQL = {
    3: 'error writing file',
    20: 'disk full',
    28: 'no space left on device',
    1021: 'disk full',
    1026: 'error writing file',
    1030: 'error of the storage engine, such as 28',
    1114: 'table is full',
    1290: 'read-only option',
    1792: 'read-only transaction',
    1836: 'read-only mode',
}

#: Primary result code of SQLite.
SQLITE = {
    sqlite3.SQLITE_READONLY: 'read-only file',
    sqlite3.SQLITE_IOERR: 'I/O error',
    sqlite3.SQLITE_FULL: 'disk full',
    sqlite3.SQLITE_CANTOPEN: 'cannot open a file',
}


#: Seconds without a refusal after which the database accepts changes again. A
#: disk that is almost full accepts small changes between refusals.
CALM = 5.0


class Reached:
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
                'the database does not answer:'
                f' {self._reachability.describe(error)}'
            ) from error
        if error is not None and (cause := refusal(error)):
            self._reachability.note_refusal(cause)
            raise exceptions.Unreachable(
                'the database accepts no changes:'
                f' {self._reachability.describe(cause)}'
            ) from error


class _Outage:
    """Logs the beginning and the end of an outage, each once.

    :param subject: what is out of order
    :param begins: what it does then
    :param ends: what it does again afterwards
    :param calm: seconds without an error after which it ends
    """

    def __init__(
        self, subject: str, begins: str, ends: str, calm: float = 0.0
    ) -> None:
        self._subject, self._begins, self._ends = subject, begins, ends
        self._calm = calm
        self._guard = threading.Lock()
        self._since: float | None = None
        self._last = 0.0

    def begin(self, problem: str) -> None:
        """Note an error."""
        with self._guard:
            self._last = time.monotonic()
            if self._since is not None:
                return
            self._since = self._last
        LOG.warning('%s %s: %s', self._subject, self._begins, problem)

    def end(self) -> None:
        """Note a success."""
        # This avoids the lock: if an error is recorded at this moment, the
        # next success sees it.
        if self._since is None or time.monotonic() - self._last < self._calm:
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
        # The text of the URL object contains the secrets of its query.
        self._url = url.render_as_string(hide_password=False)
        subject = f'The database {sensitive.mask_url(self._url)}'
        self._loss = _Outage(subject, 'does not answer', 'answers')
        self._refusal = _Outage(
            subject, 'accepts no changes', 'accepts changes', CALM
        )
        self.note_write = self._refusal.end

    def note_refusal(self, error: BaseException) -> None:
        """Note that the database has refused to write."""
        self._refusal.begin(self.describe(error))

    def describe(self, error: BaseException) -> str:
        """Return the first line of an error, without secrets of the URL."""
        line = str(error).strip().partition('\n')[0]
        return sensitive.mask_text(line, self._url)

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
                self._loss.begin(self.describe(error))
                raise oslo_db_exception.DBConnectionError(error) from error

        @event.listens_for(engine, 'connect')
        def connected(connection: Any, record: Any) -> None:
            self._loss.end()

        @event.listens_for(engine, 'handle_error')
        def failed(context: sqlalchemy.engine.ExceptionContext) -> None:
            if context.is_disconnect:
                self._loss.begin(self.describe(context.original_exception))


def refusal(error: BaseException | None) -> BaseException | None:
    """Return the driver's error if a database that answers refuses to write.

    Its disk is full, or it is read-only, for example after a failover. The
    refusal ends without a change of the request, so it counts like an
    unreachable server: callers get 503, and loops try again later.

    :param error: an error of oslo.db, SQLAlchemy or a driver
    """
    return next(filter(_is_refusal, _causes(error)), None)


def _is_refusal(error: BaseException) -> bool:
    if isinstance(error, sqlite3.Error):
        code = getattr(error, 'sqlite_errorcode', None)
        return code is not None and code & 0xFF in SQLITE
    if (state := getattr(error, 'pgcode', None)) is not None:
        return state in POSTGRESQL
    first = error.args[0] if error.args else None
    return type(error).__module__ == 'pymysql.err' and first in MYSQL


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and the errors that it wraps, outermost first."""
    for _ in range(8):  # more than any wrapping of oslo.db
        if error is None:
            return
        yield error
        error = (
            getattr(error, 'inner_exception', None)
            or getattr(error, 'orig', None)
            or error.__cause__
        )
