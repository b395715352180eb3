# SPDX-License-Identifier: Apache-2.0
"""Count the rows of a column by the versions of the objects in them.

With a column of :func:`vobjects_sql.stored.text.versions_column`, the distinct
versions are found by one look into its index for each of them, whatever the
number of rows. Otherwise, rows are read in batches, by primary key, up to a
limit. The greatest keys come first: if they increase, the newest rows, which
have the newest versions. No object is created.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from vobjects_sql.stored import text

#: Rows that are read at a time.
BATCH = 1_000

#: Primary keys that are named for each list of versions.
EXAMPLES = 3

Progress = Callable[[int], None]


@dataclasses.dataclass(frozen=True)
class StoredColumn:
    """A column with versioned objects, or with JSON text of primitives.

    :ivar column: a column, or an attribute of a mapped class
    :ivar where: the rows that a process still reads; None: all rows
    """

    column: sqlalchemy.Column[Any] | orm.InstrumentedAttribute[Any]
    where: sqlalchemy.ColumnElement[bool] | None = None

    @property
    def _column(self) -> sqlalchemy.Column[Any]:
        column = self.column
        if isinstance(column, orm.InstrumentedAttribute):
            (column,) = column.property.columns
        return column

    @property
    def label(self) -> str:
        """Table and column, as ``actions.inputs``."""
        return f'{self._column.table.name}.{self._column.name}'

    def _select(self, *columns: Any) -> sqlalchemy.Select[Any]:
        query = sqlalchemy.select(*columns)
        return query if self.where is None else query.where(self.where)


@dataclasses.dataclass
class Count:
    """The rows of a column with the same versions.

    :ivar versions: for example ``Backup 1.1,Disk 1.0``
    :ivar rows: number of rows; at least that many if ``is_cut``
    :ivar examples: primary keys of some of them
    """

    versions: str
    rows: int = 0
    is_cut: bool = False
    examples: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Census:
    """The rows of a column.

    :ivar counts: the rows with each list of versions
    :ivar not_read: the rows that were not read, in words; None: all were
    """

    column: StoredColumn
    counts: list[Count]
    not_read: str | None = None


def scan(
    connection: sqlalchemy.Connection,
    column: StoredColumn,
    *,
    limit: int,
    count_limit: int,
    progress: Progress = lambda rows: None,
) -> Census:
    """Count the rows of a column by version.

    :param limit: maximum number of rows to read, without an index of versions
    :param count_limit: maximum number of rows to count for each list of
        versions, with an index
    :param progress: called with the number of rows of each batch
    """
    index = text.index_of(column._column)
    if index is None:
        return _read(connection, column, None, limit, progress)
    counts = []
    for versions in _distinct(connection, index):
        if versions:
            same = index == versions
            count = _count(connection, column, same, versions, count_limit)
            progress(count.rows)
            if count.rows:
                counts.append(count)
    census = _read(connection, column, index == '', limit, progress)
    return Census(column, counts + census.counts, census.not_read)


def _distinct(
    connection: sqlalchemy.Connection, index: sqlalchemy.Column[Any]
) -> Iterator[str]:
    """Yield the distinct values of an index, without reading each row.

    These are the values of all rows: a condition would be tested with each
    row before the first that meets it.
    """
    last = None
    while True:
        query = sqlalchemy.select(sqlalchemy.func.min(index))
        if last is not None:
            query = query.where(index > last)
        last = connection.scalar(query)
        if last is None:
            return
        yield last


def _count(
    connection: sqlalchemy.Connection,
    column: StoredColumn,
    same: sqlalchemy.ColumnElement[bool],
    versions: str,
    limit: int,
) -> Count:
    rows = column._select(sqlalchemy.literal(1)).where(same).limit(limit + 1)
    number = connection.scalar(
        sqlalchemy.select(sqlalchemy.func.count()).select_from(rows.subquery())
    )
    keys = column._column.table.primary_key.columns
    examples = connection.execute(
        column._select(*keys).where(same).limit(EXAMPLES)
    )
    return Count(
        versions,
        min(number or 0, limit),
        is_cut=(number or 0) > limit,
        examples=[_name(row) for row in examples],
    )


def _read(
    connection: sqlalchemy.Connection,
    column: StoredColumn,
    more: sqlalchemy.ColumnElement[bool] | None,
    limit: int,
    progress: Progress,
) -> Census:
    """Count rows by reading them."""
    stored = column._column
    # As text, whatever the type of the column does with it.
    plain = sqlalchemy.type_coerce(stored, sqlalchemy.Text())
    listed = text.versions_of(plain)
    keys = list(stored.table.primary_key.columns)
    query = (
        column._select(
            *keys, listed, sqlalchemy.case((listed == '', plain), else_=None)
        )
        .where(stored.is_not(None))
        .order_by(*(key.desc() for key in keys))
    )
    if more is not None:
        query = query.where(more)
    counts: dict[str, Count] = {}
    seen = 0
    last: tuple[Any, ...] | None = None
    while True:
        batch = query.limit(min(BATCH, limit - seen + 1))
        if last is not None:
            batch = batch.where(_before(connection, keys, last))
        rows = connection.execute(batch).all()
        for *key, versions, value in rows[: limit - seen]:
            last = tuple(key)
            found = versions or text.versions_in_text(value)
            count = counts.setdefault(found, Count(found))
            count.rows += 1
            if len(count.examples) < EXAMPLES:
                count.examples.append(_name(key))
        seen += len(rows)
        progress(len(rows))
        if seen > limit and last is not None:
            names = ', '.join(key.name for key in keys)
            rest = f'rows of {column.label} before {names} {_name(last)}'
            return Census(column, _sorted(counts), rest)
        if len(rows) < BATCH:
            return Census(column, _sorted(counts))


def _before(
    connection: sqlalchemy.Connection,
    keys: Sequence[sqlalchemy.Column[Any]],
    last: tuple[Any, ...],
) -> sqlalchemy.ColumnElement[bool]:
    """Return the condition that a primary key is lower than another."""
    if connection.dialect.name not in ('mysql', 'mariadb'):
        return sqlalchemy.tuple_(*keys) < last
    # To find a tuple, they read the index from its end.
    return sqlalchemy.or_(
        *(
            sqlalchemy.and_(
                *map(operator.eq, keys[:n], last), keys[n] < last[n]
            )
            for n in range(len(keys))
        )
    )


def _sorted(counts: dict[str, Count]) -> list[Count]:
    return [counts[versions] for versions in sorted(counts)]


def _name(key: Any) -> str:
    return ', '.join(map(str, key))
