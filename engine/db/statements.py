# SPDX-License-Identifier: Apache-2.0
"""Shared SQL helpers."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast

import sqlalchemy
from sqlalchemy import orm, types
from sqlalchemy.ext import compiler
from sqlalchemy.sql import expression

from engine.db import clock, models

Row = TypeVar('Row', bound=models.Base)

#: Key in a session's ``info``: the rows that its transaction has locked.
_LOCKED = 'vobjects_locked'

#: Maximum number of values in one IN list; SQLite limits parameters.
PORTION = 500

#: Placeholder for a list of IDs in a statement.
IDS: Any = sqlalchemy.bindparam('ids', expanding=True)


def portions(values: Collection[str]) -> Iterator[list[str]]:
    """Yield the values in lists short enough for one statement."""
    all_values = list(values)
    for start in range(0, len(all_values), PORTION):
        yield all_values[start : start + PORTION]


def pairs(
    session: orm.Session,
    query: sqlalchemy.Executable,
    ids: Collection[str],
) -> Iterator[Any]:
    """Yield the two-column rows that belong to some IDs.

    :param query: contains :data:`IDS`; build it at import, because that takes
        longer than running it
    """
    for batch in portions(ids):
        yield from session.execute(query, {'ids': batch})


def exists(session: orm.Session, *conditions: Any) -> bool:
    """Return whether any row meets all conditions."""
    query = sqlalchemy.select(sqlalchemy.exists().where(*conditions))
    return bool(session.scalar(query))


def differs(row: models.Base, name: str, value: Any) -> bool:
    """Return whether an attribute of a row has another value.

    In JSON, unlike in Python, true differs from 1.
    """
    same: bool = getattr(type(row), name).type.compare_values(
        value, getattr(row, name)
    )
    return not same


def table(model: type[models.Base]) -> sqlalchemy.Table:
    """Return the table of a mapped class.

    A statement about a table, built at import, runs in a fraction of the time
    of a statement about the class, because the ORM does not process it.
    """
    return cast('sqlalchemy.Table', model.__table__)


def row(session: orm.Session, model: type[Row], id_: str) -> Row | None:
    """Return the committed state of a row."""
    return session.scalars(_selection(model), {'id': id_}).first()


def locked(session: orm.Session, model: type[Row], id_: str) -> Row | None:
    """Return a row and lock it until the transaction ends.

    The row is read once per transaction; later calls return the same object
    with the transaction's changes.
    """
    locked_rows = session.info.setdefault(_LOCKED, {})
    row: Row | None = locked_rows.get((model, id_))
    if row is None or row not in session:
        row = session.scalars(_locking(model), {'id': id_}).first()
        locked_rows[model, id_] = row
    return row


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
    """Run an UPDATE or DELETE and return the number of matching rows.

    Objects that the session has already loaded are not updated.

    :param values: the statement's parameters
    """
    session.flush()
    # The connection is faster than the session, which would look for loaded
    # objects to update.
    return session.connection().execute(statement, values).rowcount


def insert(session: orm.Session, rows: Iterable[models.Base]) -> None:
    """Insert rows without adding them to the session.

    Tracking them in the session would take several times as long as the
    statement. The objects do not receive values that the database generates.

    :param rows: objects of :mod:`engine.db.models`
    """
    models_and_values = [(type(row), _set_values(row)) for row in rows]
    for (model, _columns_set), group in itertools.groupby(
        models_and_values, lambda pair: (pair[0], tuple(pair[1]))
    ):
        session.connection().execute(
            _insertion(model), [values for _model, values in group]
        )


def insert_now(session: orm.Session, row: models.Base, attribute: str) -> None:
    """Insert a row with the current time, as :func:`insert` does.

    :param row: an object of :mod:`engine.db.models`
    :param attribute: the attribute to set to the database's time
    """
    model, connection = type(row), session.connection()
    if connection.dialect.insert_returning:
        statement = _timed_insertion(model, attribute)
        now = connection.execute(statement, _set_values(row)).scalar_one()
        orm.attributes.set_committed_value(row, attribute, now)
    else:  # MySQL
        setattr(row, attribute, clock.now(session))
        insert(session, [row])


@functools.cache
def _timed_insertion(
    model: type[models.Base], attribute: str
) -> sqlalchemy.sql.dml.ReturningInsert[Any]:
    column = dict(_columns(model))[attribute]
    return (
        sqlalchemy.insert(table(model))
        .values({column: clock.utcnow()})
        .returning(table(model).c[column])
    )


def _set_values(row: models.Base) -> dict[str, Any]:
    """Return the values that were set on a row, by column name."""
    attributes = vars(row)
    return {
        column: attributes[attribute]
        for attribute, column in _columns(type(row))
        if attribute in attributes
    }


@functools.cache
def _insertion(model: type[models.Base]) -> sqlalchemy.Insert:
    return sqlalchemy.insert(table(model))


@functools.cache
def _columns(model: type[models.Base]) -> list[tuple[str, str]]:
    """Return pairs of attribute name and column name."""
    return [
        (attribute.key, str(attribute.columns[0].key))
        for attribute in sqlalchemy.inspect(model).column_attrs
    ]


class _TextList(types.UserDefinedType[Any]):
    """A list of strings bound as one parameter."""

    cache_ok = True

    def bind_processor(self, dialect: Any) -> Callable[[Any], Any]:
        """Return the function that converts a list for the driver."""
        return json.dumps if dialect.name == 'sqlite' else list


class in_list(expression.FunctionElement[bool]):  # noqa: N801
    """The condition that a text column has one of the values in a list.

    The list is a single parameter. With one parameter for each value,
    SQLAlchemy renders the statement anew each time, which takes longer than
    running it.

    :param column: the column
    :param name: the name of the parameter; its value is a list
    """

    type = sqlalchemy.Boolean()
    inherit_cache = True

    def __init__(self, column: Any, name: str) -> None:
        super().__init__(column, sqlalchemy.bindparam(name, type_=_TextList()))


def _parts(element: in_list, compiler: Any, options: Any) -> list[str]:
    return [compiler.process(part, **options) for part in element.clauses]


@compiler.compiles(in_list)
def _mysql(element: in_list, compiler: Any, **options: Any) -> str:
    # The driver renders a list as an SQL list.
    column, values = _parts(element, compiler, options)
    return f'{column} IN {values}'


@compiler.compiles(in_list, 'postgresql')
def _postgresql(element: in_list, compiler: Any, **options: Any) -> str:
    column, values = _parts(element, compiler, options)
    return f'{column} = ANY({values})'


@compiler.compiles(in_list, 'sqlite')
def _sqlite(element: in_list, compiler: Any, **options: Any) -> str:
    column, values = _parts(element, compiler, options)
    subquery = f'(SELECT value FROM json_each({values}))'  # noqa: S608 - a placeholder
    return f'{column} IN {subquery}'
