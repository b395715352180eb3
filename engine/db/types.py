# SPDX-License-Identifier: Apache-2.0
"""Column types that behave alike on SQLite, PostgreSQL and MariaDB.

One of them is that of the library's ledger.

A value that is no JSON object, for example after a mistake in an SQL shell, is
read as :data:`UNREADABLE`, so that it harms no other row.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import msgspec
import sqlalchemy
from sqlalchemy import types
from sqlalchemy.dialects import mysql

from vobjects import exceptions, wire
from vobjects_sql.columns import Json, Tolerant, UtcDateTime

__all__ = [
    'UNREADABLE',
    'Interval',
    'Json',
    'JsonObject',
    'JsonText',
    'LongText',
    'Seconds',
    'TimeText',
    'UtcDateTime',
]

#: The value of a column whose text is no JSON object.
UNREADABLE = {'unreadable': 'The database has no JSON object here.'}


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


def _time_of_text(value: Any) -> Any:
    if value.__class__ is not str:  # null, or a mistake in an SQL shell
        return value
    return f'{value[:10]}T{value[11:19]}Z'


def _time_of(value: datetime.datetime | None) -> str | None:
    return None if value is None else value.isoformat('T', 'seconds') + 'Z'


class JsonObject(Json):
    """A JSON object; see :data:`UNREADABLE`."""

    cache_ok = True

    def process_result_value(self, value: str | None, dialect: Any) -> Any:
        """Parse a text; NULL becomes None."""
        if value is None:
            return None
        try:
            parsed = super().process_result_value(value, dialect)
        except (AttributeError, ValueError):
            parsed = None
        return parsed if isinstance(parsed, dict) else dict(UNREADABLE)


class JsonText(types.UserDefinedType[Any]):
    """A :class:`JsonObject` read as text, to be passed on as it is."""

    cache_ok = True

    def result_processor(
        self, dialect: Any, coltype: object
    ) -> Callable[[Any], Any]:
        """Return the function that converts a driver's value."""
        return _written


_EMPTY = wire.RawJson(b'{}')
_check = msgspec.json.Decoder(dict[str, wire.RawJson]).decode


def _written(value: Any) -> Any:
    if value is None:
        return None
    if value.__class__ is not str:
        return wire.RawJson(wire.dumps(UNREADABLE))
    if value == '{}':  # as in most rows
        return _EMPTY
    try:
        _check(value)
    except (msgspec.MsgspecError, RecursionError):
        return wire.RawJson(_rewritten(value))
    return wire.RawJson(value)


def _rewritten(text: str) -> bytes:
    """Return JSON that msgspec rejects without NaN and infinity.

    msgspec also rejects lone surrogates.
    """
    try:
        value = wire.loads(text.encode())
    except ValueError:
        value = None
    return wire.dumps(
        value if isinstance(value, dict) else UNREADABLE, finite=True
    )


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


class Interval(Tolerant):
    """Seconds between two checks; those of a day for another value.

    Without this, a value that is no number would end each search for a check
    that is due, and so those of all clusters.
    """

    impl = sqlalchemy.Double
    cache_ok = True
    python = float

    def substitute(self, value: Any) -> float:
        """Return the seconds of a day."""
        return 86400.0


#: Seconds since the epoch; a single-precision float would be minutes off.
Seconds: sqlalchemy.Double[float] = sqlalchemy.Double()
