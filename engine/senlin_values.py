# SPDX-License-Identifier: Apache-2.0
"""Check the values in rows of Senlin's tables.

SQLite stores any value in any column, and all databases store JSON as text. A
row with a value of another type could not be read later.
"""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import sqlalchemy

from engine.db import types
from vobjects import exceptions

#: Range of an integer in all databases.
_INTEGERS = range(-(2**31), 2**31)

#: Times before this one are text that is not a time.
_FIRST_TIME = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


class Unreadable:
    """Stands for text that is not JSON."""


class SenlinJson(types.Json):
    """A JSON column whose text may be invalid."""

    cache_ok = True

    def process_result_value(self, value: Any, dialect: Any) -> Any:
        """Parse a text; return :class:`Unreadable` if it is not JSON."""
        try:
            return super().process_result_value(value, dialect)
        except (AttributeError, ValueError):
            return Unreadable


def fault_of(value: Any, column: sqlalchemy.Column[Any] | None) -> str:
    """Return what is wrong with a value; empty if nothing is.

    :param column: our column for the value; None: optional JSON
    """
    if value is None:
        optional = column is None or column.nullable or column.default
        return '' if optional else 'must not be NULL'
    kind: Any = types.Json() if column is None else column.type
    if isinstance(kind, types.Json):
        return '' if isinstance(value, dict) else 'must be a JSON object'
    if isinstance(kind, types.LongText):
        return '' if isinstance(value, str) else 'must be text'
    if isinstance(kind, sqlalchemy.String):
        return _text_fault(value, kind.length or 0)
    if isinstance(kind, sqlalchemy.Boolean):
        return '' if isinstance(value, bool) else 'must be a boolean'
    if isinstance(kind, sqlalchemy.Integer):
        return '' if _is_integer(value) else 'must be an integer of 32 bits'
    if isinstance(kind, sqlalchemy.Double):
        is_number = isinstance(value, int | float | decimal.Decimal)
        return '' if is_number else 'must be a number'
    is_time = isinstance(value, datetime.datetime) and value >= _FIRST_TIME
    return '' if is_time else 'must be a time'


def _text_fault(value: Any, length: int) -> str:
    if not isinstance(value, str):
        return 'must be text'
    if len(value) > length:
        return f'must have at most {length} characters'
    if value != exceptions.storable_text(value):
        return 'has characters that cannot be stored'
    return ''


def _is_integer(value: Any) -> bool:
    # Senlin stores the level of an event as text.
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value[:20])
    return isinstance(value, int) and value in _INTEGERS
