# SPDX-License-Identifier: Apache-2.0
"""The database's clock, the only one that all hosts share.

Times that one host writes and another compares come from here, so that
engines may disagree about the time of day.
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
    """The time at which the statement runs, in UTC (an SQL function)."""

    type = types.UtcDateTime()
    inherit_cache = True


@compiler.compiles(utcnow)
def _standard(element: utcnow, compiler: Any, **options: Any) -> str:
    return 'CURRENT_TIMESTAMP'


@compiler.compiles(utcnow, 'postgresql')
def _postgresql(element: utcnow, compiler: Any, **options: Any) -> str:
    # now() would be the start of the transaction, which may have waited.
    return "(clock_timestamp() AT TIME ZONE 'UTC')"


@compiler.compiles(utcnow, 'mysql')
@compiler.compiles(utcnow, 'mariadb')
def _mysql(element: utcnow, compiler: Any, **options: Any) -> str:
    return 'UTC_TIMESTAMP(6)'


@compiler.compiles(utcnow, 'sqlite')
def _sqlite(element: utcnow, compiler: Any, **options: Any) -> str:
    # Times are compared as texts: all need the same number of digits.
    return "(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000')"


_NOW = sqlalchemy.select(utcnow())


def now(session: orm.Session) -> datetime.datetime:
    """Return the time by the database's clock, aware, in UTC."""
    value: datetime.datetime | None = session.scalar(_NOW)
    assert value is not None
    return value
