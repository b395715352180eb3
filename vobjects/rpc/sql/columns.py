# SPDX-License-Identifier: Apache-2.0
"""Column types that behave alike on all databases, and the database's clock.

All hosts share the database's clock. Times that one host writes and another
compares come from it, so that the clocks of the hosts may differ.
"""

from __future__ import annotations

import datetime
import json
from typing import Any

import sqlalchemy
from sqlalchemy import types
from sqlalchemy.dialects import mysql
from sqlalchemy.ext import compiler
from sqlalchemy.sql import expression

from vobjects.objects.codec import json_text

#: Compare names byte by byte, which is not MariaDB's default.
TABLE_OPTIONS: dict[str, Any] = {
    'mysql_engine': 'InnoDB',
    'mysql_charset': 'utf8mb4',
    'mysql_collate': 'utf8mb4_bin',
    'mariadb_engine': 'InnoDB',
    'mariadb_charset': 'utf8mb4',
    'mariadb_collate': 'utf8mb4_bin',
}


class UtcDateTime(types.TypeDecorator[datetime.datetime]):
    """A UTC time with microseconds.

    Accepts aware datetimes in any zone, and returns aware datetimes in UTC.
    """

    impl = sqlalchemy.DateTime().with_variant(
        mysql.DATETIME(fsp=6), 'mysql', 'mariadb'
    )
    cache_ok = True

    def process_bind_param(
        self, value: datetime.datetime | None, dialect: Any
    ) -> datetime.datetime | None:
        """Convert a time to UTC and drop its zone."""
        if value is None:
            return None
        return value.astimezone(datetime.UTC).replace(tzinfo=None)

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        """Return a function that reads a time; text that is none is oldest.

        Only SQLite stores such text. An error would end the query, so that
        one row would hide all others.
        """
        read = super().result_processor(dialect, coltype)
        if dialect.name != 'sqlite' or read is None:
            return read

        def process(value: Any) -> datetime.datetime | None:
            try:
                time: datetime.datetime | None = read(value)
            except (TypeError, ValueError):
                return datetime.datetime.min.replace(tzinfo=datetime.UTC)
            return time

        return process

    def process_result_value(
        self, value: datetime.datetime | None, dialect: Any
    ) -> datetime.datetime | None:
        """Set the zone of a time to UTC."""
        return value and value.replace(tzinfo=datetime.UTC)


class Json(types.TypeDecorator[Any]):
    """Any JSON value, stored as ASCII text.

    The databases' own JSON types reject different values: users' data may
    contain ``\\u0000`` and lone surrogates.
    """

    impl = sqlalchemy.Text().with_variant(
        mysql.MEDIUMTEXT(), 'mysql', 'mariadb'
    )
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> str | None:
        """Serialize a value; None is stored as NULL."""
        if value is None:
            return None
        return json.dumps(value, separators=(',', ':'))

    def process_result_value(self, value: str | None, dialect: Any) -> Any:
        """Parse a text; NULL becomes None."""
        if value is None:
            return None
        # Most rows hold an empty object; don't parse it.
        return {} if value == '{}' else json_text.loads(value.encode())


class utcnow(expression.FunctionElement[datetime.datetime]):  # noqa: N801
    """SQL function: the UTC time at which the statement runs."""

    type = UtcDateTime()
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
