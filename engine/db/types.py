# SPDX-License-Identifier: Apache-2.0
"""Column types that behave alike on SQLite, PostgreSQL and MariaDB."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

import sqlalchemy
from sqlalchemy import types
from sqlalchemy.dialects import mysql

from vobjects.objects.codec import json_text


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


class TimeText(types.UserDefinedType[str]):
    """A :class:`UtcDateTime` read as the text used in responses.

    The text has a resolution of seconds, as in the primitives of
    oslo.versionedobjects.
    """

    cache_ok = True

    def result_processor(
        self, dialect: Any, coltype: object
    ) -> Callable[[Any], str | None]:
        """Return the function that converts a driver's value."""
        return _time_of_text if dialect.name == 'sqlite' else _time_of


def _time_of_text(value: str | None) -> str | None:
    return value and f'{value[:10]}T{value[11:19]}Z'


def _time_of(value: datetime.datetime | None) -> str | None:
    return None if value is None else value.isoformat('T', 'seconds') + 'Z'


class JsonText(types.UserDefinedType[Any]):
    """A :class:`Json` column read as text, to be passed on unparsed."""

    cache_ok = True

    def result_processor(
        self, dialect: Any, coltype: object
    ) -> Callable[[Any], Any]:
        """Return the function that converts a driver's value."""
        return _written


_EMPTY = json_text.RawJson(b'{}')


def _written(value: str | None) -> Any:
    if value is None:
        return None
    # Most rows hold an empty object.
    return _EMPTY if value == '{}' else json_text.RawJson(value)


#: Long text, such as a status reason.
LongText = sqlalchemy.Text().with_variant(
    mysql.MEDIUMTEXT(), 'mysql', 'mariadb'
)

#: Seconds since the epoch; a single-precision float would be minutes off.
Seconds: sqlalchemy.Double[float] = sqlalchemy.Double()
