# SPDX-License-Identifier: Apache-2.0
"""What statements of all tables have alike."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, cast

import sqlalchemy
from sqlalchemy import orm

#: Values in one list of a statement; SQLite has a limit.
PORTION = 500


def portions(values: Collection[str]) -> Iterator[list[str]]:
    """Yield the values in lists that a statement can hold."""
    everything = list(values)
    for start in range(0, len(everything), PORTION):
        yield everything[start : start + PORTION]


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
