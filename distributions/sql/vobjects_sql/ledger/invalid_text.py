# SPDX-License-Identifier: Apache-2.0
"""Read text that is not UTF-8, which only SQLite stores.

For example, a shell or a damaged file has written it. The driver's error would
end the query, so that one row would hide all others. :func:`readable` reads
such text with its bytes escaped, and :func:`equals` finds its row again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy import orm

from vobjects_sql.ledger.state import Transaction


class InvalidText(str):
    """Text whose invalid bytes are escaped.

    :ivar stored: the bytes in the database
    """

    __slots__ = ('stored',)

    stored: bytes


def _decode(stored: bytes) -> str:
    try:
        return stored.decode()
    except UnicodeDecodeError:
        text = InvalidText(stored.decode(errors='backslashreplace'))
        text.stored = stored
        return text


@contextlib.contextmanager
def readable(transaction: Transaction) -> Iterator[None]:
    """Read any text in a transaction; no effect on other databases."""
    connection = (
        transaction.connection()
        if isinstance(transaction, orm.Session)
        else transaction
    )
    if connection.dialect.name != 'sqlite':
        yield
        return
    driver: Any = connection.connection.dbapi_connection
    before, driver.text_factory = driver.text_factory, _decode
    try:
        yield
    finally:
        driver.text_factory = before


def equals(column: Any, value: Any) -> sa.ColumnElement[bool]:
    """Return the condition that a column has a value that was read from it."""
    if isinstance(value, InvalidText):
        # No parameter can hold such text.
        return sa.func.hex(column) == value.stored.hex().upper()
    return cast('sa.ColumnElement[bool]', column == value)
