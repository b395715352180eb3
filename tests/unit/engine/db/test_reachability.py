# SPDX-License-Identifier: Apache-2.0
"""Databases that answer, but accept no changes."""

from __future__ import annotations

import itertools
import logging
import sqlite3
import time
from typing import Any

import psycopg2
import pymysql
import pytest
import sqlalchemy
from oslo_db import exception as oslo_db_exception

from engine.db import reachability
from tests.unit.engine.engine_harness import Harness
from vobjects import exceptions


class PostgresqlError(psycopg2.OperationalError):
    """An error with a given SQLSTATE."""

    def __init__(self, pgcode: str) -> None:
        super().__init__(f'error {pgcode}')
        self._pgcode = pgcode

    @property
    def pgcode(self) -> str:  # type: ignore[override]
        return self._pgcode


def sqlite_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError('full')
    error.sqlite_errorcode = code
    return error


REFUSALS: list[Any] = [
    *map(PostgresqlError, reachability.POSTGRESQL),
    *(pymysql.err.OperationalError(code, 'x') for code in reachability.MYSQL),
    *map(sqlite_error, reachability.SQLITE),
    # Extended codes: SQLITE_IOERR_WRITE, SQLITE_READONLY_DBMOVED.
    *map(sqlite_error, (10 | 3 << 8, 8 | 4 << 8)),
]

OTHERS: list[Any] = [
    PostgresqlError('23505'),
    pymysql.err.OperationalError(1205, 'lock wait timeout'),
    pymysql.err.IntegrityError(1062, 'duplicate'),
    sqlite_error(sqlite3.SQLITE_BUSY),
    sqlite3.OperationalError('no code'),
    ValueError(1021),
    OSError(28, 'no space left on device'),
]

WRAPPERS: list[Any] = [
    lambda error: error,
    lambda error: oslo_db_exception.DBError(error),
    lambda error: sqlalchemy.exc.OperationalError('INSERT', {}, error),
    lambda error: oslo_db_exception.DBError(
        sqlalchemy.exc.OperationalError('INSERT', {}, error)
    ),
]


@pytest.mark.parametrize('wrap', WRAPPERS)
@pytest.mark.parametrize('error', REFUSALS, ids=repr)
def test_refusal_of_each_driver_is_recognized(error: Any, wrap: Any) -> None:
    assert reachability.refusal(wrap(error)) is error


@pytest.mark.parametrize('wrap', WRAPPERS)
@pytest.mark.parametrize('error', OTHERS, ids=repr)
def test_other_error_is_no_refusal(error: Any, wrap: Any) -> None:
    assert reachability.refusal(wrap(error)) is None


def test_changes_between_refusals_are_no_end_of_an_outage(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = itertools.count(0.0, reachability.CALM / 10)
    monkeypatch.setattr(time, 'monotonic', lambda: next(now))
    watched = reachability.Reachability(sqlalchemy.make_url('sqlite://'))
    for _ in range(50):
        watched.note_refusal(OSError('full'))
        watched.note_write()
    assert len(caplog.messages) == 1
    for _ in range(50):
        watched.note_write()
    _, end = caplog.messages
    assert ' accepts changes again, after ' in end


def test_full_database_is_unreachable_and_logged_once(
    any_harness: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    target = any_harness.database
    caplog.set_level(logging.WARNING)
    refuse, accept = {
        'sqlite': ('PRAGMA query_only = 1', 'PRAGMA query_only = 0'),
        'postgresql': (
            'SET default_transaction_read_only = on',
            'SET default_transaction_read_only = off',
        ),
        'mysql': (
            'SET SESSION TRANSACTION READ ONLY',
            'SET SESSION TRANSACTION READ WRITE',
        ),
    }[target.dialect]

    def on_each_connection(statement: str) -> None:
        with target.engine.connect() as connection:
            cursor = connection.connection.cursor()
            cursor.execute(statement)
            connection.connection.commit()

    def change(session: Any) -> None:
        session.execute(sqlalchemy.text('DELETE FROM events'))

    target.engine.dispose()  # so that one connection is used
    on_each_connection(refuse)
    for _ in range(3):
        with pytest.raises(exceptions.Unreachable, match='accepts no changes'):
            target.write(change)
        with target.reader() as session:
            session.execute(sqlalchemy.text('SELECT 1'))
    on_each_connection(accept)
    target.write(change)
    lines = [
        record.getMessage()
        for record in caplog.records
        if record.name == reachability.__name__
    ]
    assert len(lines) == 1, lines
    assert ' accepts no changes: ' in lines[0]


def test_full_sqlite_database_is_unreachable(harness: Harness) -> None:
    target = harness.database
    with target.engine.connect() as connection:
        pages = connection.exec_driver_sql('PRAGMA page_count').scalar()
        size = connection.exec_driver_sql('PRAGMA page_size').scalar()

    def limit(connection: Any, _record: Any, _proxy: Any) -> None:
        connection.execute(f'PRAGMA max_page_count = {pages}')

    def fill(session: Any) -> None:
        # More than all pages, because some may be free.
        session.execute(
            sqlalchemy.text('CREATE TABLE filler AS SELECT zeroblob(:size)'),
            {'size': pages * size},
        )

    sqlalchemy.event.listen(target.engine, 'checkout', limit)
    try:
        with pytest.raises(exceptions.Unreachable, match='is full'):
            target.write(fill)
    finally:
        sqlalchemy.event.remove(target.engine, 'checkout', limit)
        target.engine.dispose()  # other tests share the database
