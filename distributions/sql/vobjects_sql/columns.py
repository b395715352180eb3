# SPDX-License-Identifier: Apache-2.0
"""Column types that behave alike on all databases, and the database's clock.

SQLite stores a value of any type in a column of any type. An error at reading
one would end the query, so that one row would hide all others: the types here
return a substitute for it, see :class:`Tolerant`.

All hosts share the database's clock. Times that one host writes and another
compares come from it, so that the clocks of the hosts may differ.
"""

from __future__ import annotations

import datetime
import json
import logging
from collections.abc import Callable
from typing import Any, TypeVar

import sqlalchemy
from sqlalchemy import types
from sqlalchemy.dialects import mysql
from sqlalchemy.ext import compiler
from sqlalchemy.sql import expression

from vobjects import exceptions
from vobjects.field_values import equal_primitives
from vobjects.objects.codec import json_text

LOG = logging.getLogger(__name__)

Parsed = TypeVar('Parsed')

#: Compare names byte by byte, which is not MariaDB's default.
TABLE_OPTIONS: dict[str, Any] = {
    'mysql_engine': 'InnoDB',
    'mysql_charset': 'utf8mb4',
    'mysql_collate': 'utf8mb4_bin',
    'mariadb_engine': 'InnoDB',
    'mariadb_charset': 'utf8mb4',
    'mariadb_collate': 'utf8mb4_bin',
}


class Tolerant(types.TypeDecorator[Any]):
    """A type that reads a value of another type, which only SQLite stores.

    :cvar python: the type of its values in Python
    """

    python: type

    def substitute(self, value: Any) -> Any:
        """Return what to read instead of a value of another type."""
        raise NotImplementedError

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        """Return a function that reads a value; see :meth:`substitute`."""
        read = super().result_processor(dialect, coltype)
        if dialect.name != 'sqlite':
            return read

        def process(value: Any) -> Any:
            try:
                result = value if read is None else read(value)
            except (TypeError, ValueError):
                return self.substitute(value)
            if result is None or isinstance(result, self.python):
                return result
            return self.substitute(value)

        return process


class _Misplaced(str):
    """The text of a value that is no text; a condition finds its row."""

    __slots__ = ('value',)

    value: Any


class Text(Tolerant):
    """Text of limited length; of another value, its representation."""

    impl = sqlalchemy.String
    cache_ok = True
    python = str

    def process_bind_param(self, value: Any, dialect: Any) -> Any:
        """Return the value that was read."""
        return value.value if isinstance(value, _Misplaced) else value

    def substitute(self, value: Any) -> str:
        """Return a text that differs from each name of a process."""
        text = _Misplaced(repr(value))
        text.value = value
        return text


class Integer(Tolerant):
    """An integer; 0 for another value."""

    impl = sqlalchemy.Integer
    cache_ok = True
    python = int

    def substitute(self, value: Any) -> int:
        """Return 0."""
        return 0


class Flag(Tolerant):
    """A boolean; false for another value."""

    impl = sqlalchemy.Boolean
    cache_ok = True
    python = bool

    def substitute(self, value: Any) -> bool:
        """Return False."""
        return False


class UtcDateTime(Tolerant):
    """A UTC time with microseconds; the oldest time for another value.

    Accepts aware datetimes in any zone, and returns aware datetimes in UTC.
    """

    impl = sqlalchemy.DateTime().with_variant(
        mysql.DATETIME(fsp=6), 'mysql', 'mariadb'
    )
    cache_ok = True
    python = datetime.datetime

    def process_bind_param(
        self, value: datetime.datetime | None, dialect: Any
    ) -> datetime.datetime | None:
        """Convert a time to UTC and drop its zone."""
        if value is None:
            return None
        return value.astimezone(datetime.UTC).replace(tzinfo=None)

    def substitute(self, value: Any) -> datetime.datetime:
        """Return the oldest time."""
        return datetime.datetime.min.replace(tzinfo=datetime.UTC)

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

    def compare_values(self, x: Any, y: Any) -> bool:
        """Tell whether two values are the same JSON; true is not 1."""
        return equal_primitives(x, y)


def read_json(
    text: Any, parse: Callable[[Any], Parsed], where: str
) -> Parsed | None:
    """Return what a :class:`Json` column holds; None if it is unreadable.

    :param text: the column, read as :class:`Text`; None: it is null
    :param parse: checks and converts the value
    :param where: the column, for the log
    """
    if text is None:
        return None
    try:
        return parse(json_text.loads(text.encode()))
    except (
        exceptions.VobjectsError,
        ArithmeticError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        LOG.warning(
            'Ignored unreadable JSON in the ledger: %s: %s', where, error
        )
        return None


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
