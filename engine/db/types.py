# SPDX-License-Identifier: Apache-2.0
"""Column types that behave alike on SQLite, PostgreSQL and MariaDB.

Two of them are those of the library's ledger.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import sqlalchemy
from sqlalchemy import types
from sqlalchemy.dialects import mysql

from vobjects import exceptions, wire
from vobjects.rpc.sql.columns import Json, UtcDateTime

__all__ = [
    'Json',
    'JsonText',
    'LongText',
    'Seconds',
    'TimeText',
    'UtcDateTime',
]


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


_EMPTY = wire.RawJson(b'{}')


def _written(value: str | None) -> Any:
    if value is None:
        return None
    # Most rows hold an empty object.
    return _EMPTY if value == '{}' else wire.RawJson(value)


class LongText(types.TypeDecorator[str]):
    """Long text, such as a status reason, which may quote other services.

    Characters that not every database can store are replaced.
    """

    impl = sqlalchemy.Text().with_variant(
        mysql.MEDIUMTEXT(), 'mysql', 'mariadb'
    )
    cache_ok = True

    def process_bind_param(
        self, value: str | None, dialect: Any
    ) -> str | None:
        """Replace NUL characters and lone surrogates."""
        return value and exceptions.storable_text(value)


#: Seconds since the epoch; a single-precision float would be minutes off.
Seconds: sqlalchemy.Double[float] = sqlalchemy.Double()
