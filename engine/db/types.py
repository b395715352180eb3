# SPDX-License-Identifier: Apache-2.0
"""Column types that are the same on SQLite, PostgreSQL and MariaDB."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

import sqlalchemy
from sqlalchemy import types
from sqlalchemy.dialects import mysql

from vobjects.codec import text


class UtcDateTime(types.TypeDecorator[datetime.datetime]):
    """An aware time in, an aware time in UTC out, microseconds kept."""

    impl = sqlalchemy.DateTime().with_variant(
        mysql.DATETIME(fsp=6), 'mysql', 'mariadb'
    )
    cache_ok = True

    def process_bind_param(
        self, value: datetime.datetime | None, dialect: Any
    ) -> datetime.datetime | None:
        """Drop the zone, after going to UTC."""
        if value is None:
            return None
        return value.astimezone(datetime.UTC).replace(tzinfo=None)

    def process_result_value(
        self, value: datetime.datetime | None, dialect: Any
    ) -> datetime.datetime | None:
        """Say that it is UTC."""
        return value and value.replace(tzinfo=datetime.UTC)


class Json(types.TypeDecorator[Any]):
    """Any JSON value, kept as ASCII text.

    Text and not the database's own JSON type, because those differ in what
    they refuse: users' data may hold ``\\u0000`` and lone surrogates.
    """

    impl = sqlalchemy.Text().with_variant(
        mysql.MEDIUMTEXT(), 'mysql', 'mariadb'
    )
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> str | None:
        """Write the text; None stays NULL."""
        if value is None:
            return None
        return json.dumps(value, separators=(',', ':'))

    def process_result_value(self, value: str | None, dialect: Any) -> Any:
        """Read the text; NULL is None."""
        if value is None:
            return None
        # What most rows hold, and what is read most.
        return {} if value == '{}' else text.loads(value.encode())


class TimeText(types.UserDefinedType[str]):
    """A :class:`UtcDateTime` read as the text that answers have.

    Seconds are the last that is told, as in o.vo's primitives.
    """

    cache_ok = True

    def result_processor(
        self, dialect: Any, coltype: object
    ) -> Callable[[Any], str | None]:
        """Return what reads a driver's value."""
        return _time_of_text if dialect.name == 'sqlite' else _time_of


def _time_of_text(value: str | None) -> str | None:
    return value and f'{value[:10]}T{value[11:19]}Z'


def _time_of(value: datetime.datetime | None) -> str | None:
    return None if value is None else value.isoformat('T', 'seconds') + 'Z'


class JsonText(types.UserDefinedType[Any]):
    """A :class:`Json` read as text that is passed on as it is."""

    cache_ok = True

    def result_processor(
        self, dialect: Any, coltype: object
    ) -> Callable[[Any], Any]:
        """Return what reads a driver's value."""
        return _written


_EMPTY = text.Written(b'{}')


def _written(value: str | None) -> Any:
    if value is None:
        return None
    # What most rows hold.
    return _EMPTY if value == '{}' else text.Written(value)


#: Long text, such as the reason of a status.
LongText = sqlalchemy.Text().with_variant(
    mysql.MEDIUMTEXT(), 'mysql', 'mariadb'
)

#: Seconds since the epoch: a single-precision float would be days off.
Seconds: sqlalchemy.Double[float] = sqlalchemy.Double()
