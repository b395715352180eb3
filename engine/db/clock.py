# SPDX-License-Identifier: Apache-2.0
"""The database's clock, which all hosts share.

Times that one host writes and another compares come from this clock, so that
the clocks of the engines may differ.
"""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy
from sqlalchemy import orm
from sqlalchemy.ext import compiler
from sqlalchemy.sql import expression

from engine.db import types


class utcnow(expression.FunctionElement[datetime.datetime]):  # noqa: N801
    """SQL function: the UTC time at which the statement runs."""

    type = types.UtcDateTime()
    inherit_cache = True


@compiler.compiles(utcnow)
def _standard(element: utcnow, compiler: Any, **options: Any) -> str:
    return 'CURRENT_TIMESTAMP'


@compiler.compiles(utcnow, 'postgresql')
def _postgresql(element: utcnow, compiler: Any, **options: Any) -> str:
    # now() would return the start of the transaction, which may have waited.
    return "(clock_timestamp() AT TIME ZONE 'UTC')"


@compiler.compiles(utcnow, 'mysql')
@compiler.compiles(utcnow, 'mariadb')
def _mysql(element: utcnow, compiler: Any, **options: Any) -> str:
    return 'UTC_TIMESTAMP(6)'


@compiler.compiles(utcnow, 'sqlite')
def _sqlite(element: utcnow, compiler: Any, **options: Any) -> str:
    # SQLite compares times as text, so all need the same number of digits.
    return "(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000')"


_NOW = sqlalchemy.select(utcnow())


def now(session: orm.Session) -> datetime.datetime:
    """Return the database's current time as an aware UTC datetime."""
    value: datetime.datetime | None = session.scalar(_NOW)
    assert value is not None
    return value
