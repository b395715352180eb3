# SPDX-License-Identifier: Apache-2.0
"""Errors by which a database that answers refuses to write.

Its disk is full, or it is read-only, for example after a failover. The refusal
ends without a change of the request, so it counts like an unreachable server:
callers get 503, and loops try again later.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

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


def refusal(error: BaseException | None) -> BaseException | None:
    """Return the driver's error if a database has refused to write.

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
