# SPDX-License-Identifier: Apache-2.0
"""SQLite files whose views and triggers call functions of their readers."""

from __future__ import annotations

import contextlib
import pathlib
import sqlite3

#: The start of SQLite's error about such a call.
REJECTED = 'unsafe use of'

#: A function that SQLAlchemy registers on each connection.
CALL = "regexp('a', 'a')"


def add_view(path: pathlib.Path, table: str) -> None:
    """Replace a table by a view with the same rows that calls a function."""
    _execute(
        path,
        f'ALTER TABLE "{table}" RENAME TO stolen',
        f'CREATE VIEW "{table}" AS SELECT * FROM stolen WHERE {CALL}',
    )


def add_trigger(path: pathlib.Path, table: str) -> None:
    """Call a function with each change of a table."""
    _execute(
        path,
        f'CREATE TRIGGER crafted AFTER UPDATE ON "{table}"'
        f' BEGIN SELECT {CALL}; END',
    )


def _execute(path: pathlib.Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
