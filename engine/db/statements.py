# SPDX-License-Identifier: Apache-2.0
"""What statements of all tables have alike."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, cast

import sqlalchemy
from sqlalchemy import orm

#: Values in one list of a statement; SQLite has a limit.
PORTION = 500

#: Stands for a list of them in a statement.
IDS: Any = sqlalchemy.bindparam('ids', expanding=True)


def portions(values: Collection[str]) -> Iterator[list[str]]:
    """Yield the values in lists that a statement can hold."""
    everything = list(values)
    for start in range(0, len(everything), PORTION):
        yield everything[start : start + PORTION]


def pairs(
    session: orm.Session,
    query: sqlalchemy.Executable,
    ids: Collection[str],
) -> Iterator[Any]:
    """Yield the rows of two columns that belong to some IDs.

    :param query: has :data:`IDS` for them; one made at import, because that
        takes longer than to run it
    """
    for some in portions(ids):
        yield from session.execute(query, {'ids': some})


def change(
    session: orm.Session, statement: sqlalchemy.Update | sqlalchemy.Delete
) -> int:
    """Run an UPDATE or DELETE and return how many rows it concerned.

    Objects that the session has already loaded do not see the change.
    """
    session.flush()
    result = session.execute(
        statement, execution_options={'synchronize_session': False}
    )
    return cast('sqlalchemy.CursorResult[Any]', result).rowcount
