# SPDX-License-Identifier: Apache-2.0
"""What statements of all tables have alike."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast

import sqlalchemy
from sqlalchemy import orm

from engine.db import models

Row = TypeVar('Row', bound=models.Base)

#: In the ``info`` of a session: the rows that its transaction has locked.
_LOCKED = 'vobjects_locked'

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


def table(model: type[models.Base]) -> sqlalchemy.Table:
    """Return the table of a class of rows.

    A statement about a table, made at import, takes a fraction of the time
    of one about the class: nobody looks which objects it concerns.
    """
    return cast('sqlalchemy.Table', model.__table__)


def row(session: orm.Session, model: type[Row], id_: str) -> Row | None:
    """Return a row as the database has it now."""
    return session.scalars(_selection(model), {'id': id_}).first()


def locked(session: orm.Session, model: type[Row], id_: str) -> Row | None:
    """Return a row that nobody else changes before we commit.

    It is read once: from then on it is what the transaction makes of it.
    """
    held = session.info.setdefault(_LOCKED, {})
    known: Row | None = held.get((model, id_))
    if known is None or known not in session:
        query = _locking(model)
        known = session.scalars(query, {'id': id_}).first()
        held[model, id_] = known
    return known


@functools.cache
def _selection(model: type[models.Base]) -> sqlalchemy.Select[Any]:
    return (
        sqlalchemy.select(model)
        .where(table(model).c.id == sqlalchemy.bindparam('id'))
        .execution_options(populate_existing=True)
    )


@functools.cache
def _locking(model: type[models.Base]) -> sqlalchemy.Select[Any]:
    return _selection(model).with_for_update()


def change(
    session: orm.Session,
    statement: sqlalchemy.Update | sqlalchemy.Delete,
    values: Mapping[str, Any] | None = None,
) -> int:
    """Run an UPDATE or DELETE and return how many rows it concerned.

    Objects that the session has already loaded do not see the change.

    :param values: of the statement's parameters
    """
    session.flush()
    result = session.execute(
        statement, values, execution_options={'synchronize_session': False}
    )
    return cast('sqlalchemy.CursorResult[Any]', result).rowcount


def insert(session: orm.Session, rows: Iterable[models.Base]) -> None:
    """Insert rows that the session is not to look after.

    It would spend several times what the statement takes. What the database
    fills in is not in the objects then.

    :param rows: objects of :mod:`engine.db.models`
    """
    given = [(type(row), _given(row)) for row in rows]
    for (model, _names), alike in itertools.groupby(
        given, lambda one: (one[0], tuple(one[1]))
    ):
        session.execute(
            _insertion(model), [values for _model, values in alike]
        )


def _given(row: models.Base) -> dict[str, Any]:
    """Return what a row was made with, by column."""
    known = vars(row)
    return {
        column: known[attribute]
        for attribute, column in _columns(type(row))
        if attribute in known
    }


@functools.cache
def _insertion(model: type[models.Base]) -> sqlalchemy.Insert:
    return sqlalchemy.insert(table(model))


@functools.cache
def _columns(model: type[models.Base]) -> list[tuple[str, str]]:
    """Return attributes with the columns that they are."""
    return [
        (one.key, str(one.columns[0].key))
        for one in sqlalchemy.inspect(model).column_attrs
    ]
