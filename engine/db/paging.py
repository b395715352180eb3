# SPDX-License-Identifier: Apache-2.0
"""Pages of a list, in a stable order.

A page starts after a *marker* row. Rows are sorted by the requested keys, then
by ID; NULLs sort as greater than any value.

Building a statement takes longer than running it. A :class:`Listing` therefore
caches one statement for each *shape* of page, which is everything that
distinguishes statements apart from their parameters.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import sqlalchemy

from engine.db import models, statements
from vobjects import exceptions, wire
from vobjects.clustering import consts, errors
from vobjects.rpc import byte_budget

#: Maximum number of cached statements of one list; users choose its sort
#: order.
MAX_SHAPES = 256

#: Maximum bytes of JSON and other text in one page.
MAX_BYTES = consts.MAX_PAGE_BYTES

#: Bytes from which a page takes part in the budget for responses.
_LARGE = 1 << 18

#: Rows that are read and measured together.
_PART = 20

#: The rows to list: those of one project, those of no project, or all.
Owner = Literal['project', 'none', 'all']


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """The requested part of a list, and its sort order.

    :ivar limit: the maximum number of rows; None: all
    :ivar marker: the ID of the last row of the previous page
    :ivar sort: ``key[:asc|desc]`` items, separated by commas
    """

    limit: int | None = None
    marker: str | None = None
    sort: str | None = None


class _Shape(NamedTuple):
    """The properties that distinguish one statement from another.

    :ivar sort: as in :class:`Page`
    :ivar owner: the rows to list
    :ivar filters: the names of the given filters
    :ivar limited: whether there is a limit
    """

    sort: str
    owner: Owner
    filters: tuple[str, ...]
    limited: bool


@dataclasses.dataclass(frozen=True, slots=True)
class _Key:
    """An expression to sort by, and its value in the marker row."""

    expression: Any
    descending: bool
    value: Any


class Listing:
    """A list of rows of one table.

    :param query: selects the rows and the columns to show
    :param model: the mapped class; its rows have an ID and a project
    :param keys: the names of the columns to sort by; the ID breaks ties
    :param default: the default sort key
    """

    def __init__(
        self,
        query: sqlalchemy.Select[Any],
        model: type[models.Base],
        keys: Sequence[str],
        default: str,
    ) -> None:
        columns = statements.table(model).c
        self._query = query
        self._columns = columns
        self._keys = {name: columns[name] for name in keys}
        self._default = default
        self._page = functools.lru_cache(MAX_SHAPES)(self._make_page)
        self._marker = functools.lru_cache(MAX_SHAPES)(self._make_marker)

    def rows(
        self,
        connection: sqlalchemy.Connection,
        page: Page,
        owner: Owner = 'all',
        project: str | None = None,
        filters: Mapping[str, Collection[Any]] | None = None,
    ) -> Sequence[sqlalchemy.Row[Any]]:
        """Return a page.

        :param project: the ID of the project if ``owner`` is ``project``
        :param filters: accepted values by column name
        :raises vobjects.clustering.errors.BadRequest: the sort key is not
            supported, or the marker is not in the list
        :raises vobjects.clustering.errors.ListTooLarge: the page has several
            rows and more than :data:`MAX_BYTES`
        :raises vobjects.clustering.errors.Unavailable: the page is large, and
            this process handles too many large responses
        """
        filters = filters or {}
        sort = page.sort or self._default
        shape = _Shape(sort, owner, tuple(filters), page.limit is not None)
        values: dict[str, Any] = {
            'project': project,
            'limit': page.limit,
            **{
                f'in_{name}': [*accepted] for name, accepted in filters.items()
            },
        }
        if page.marker is None:
            return _read(connection.execute(self._page(shape, None), values))
        values['marker'] = page.marker
        marker = connection.execute(self._marker(shape), values).first()
        if marker is None:
            raise errors.BadRequest(
                f'marker {exceptions.cut(page.marker)} is not in this list;'
                ' give the ID of the last item of the page before'
            )
        nulls = tuple(value is None for value in marker)
        for number, value in enumerate(marker):
            values[f'after_{number}'] = value
        return _read(connection.execute(self._page(shape, nulls), values))

    def _make_page(
        self, shape: _Shape, nulls: tuple[bool, ...] | None
    ) -> sqlalchemy.Select[Any]:
        """Return the statement of a page.

        :param nulls: which of the marker's values are NULL; None: there is no
            marker
        """
        query = self._listed(shape)
        order = self._order(shape.sort, nulls)
        if nulls is not None:
            query = query.where(_after(order))
        query = query.order_by(
            *(
                key.expression.desc()
                if key.descending
                else key.expression.asc()
                for key in order
            )
        )
        if shape.limited:
            query = query.limit(
                sqlalchemy.bindparam('limit', type_=sqlalchemy.Integer)
            )
        return query

    def _make_marker(self, shape: _Shape) -> sqlalchemy.Select[Any]:
        """Return the statement that selects the marker's sort values."""
        columns = [column for column, _ in self._sorted_by(shape.sort)]
        return (
            self._listed(shape)
            .with_only_columns(
                *(
                    column.label(f'sorted_{number}')
                    for number, column in enumerate(columns)
                )
            )
            .where(self._columns.id == sqlalchemy.bindparam('marker'))
        )

    def _listed(self, shape: _Shape) -> sqlalchemy.Select[Any]:
        """Return the statement that selects the list, unsorted."""
        query = self._query
        if shape.owner == 'project':
            query = query.where(
                self._columns.project == sqlalchemy.bindparam('project')
            )
        elif shape.owner == 'none':
            query = query.where(self._columns.project.is_(None))
        for name in shape.filters:
            values: Any = sqlalchemy.bindparam(f'in_{name}', expanding=True)
            query = query.where(self._columns[name].in_(values))
        return query

    def _sorted_by(self, sort: str) -> list[tuple[Any, bool]]:
        """Return the sort columns, ending with the ID, and their directions.

        :returns: pairs of a column and whether it is descending
        """
        columns = []
        for item in sort.split(','):
            name, _, direction = item.partition(':')
            column = self._keys.get(name)
            if column is None or direction not in ('', 'asc', 'desc'):
                raise errors.BadRequest.advised(
                    f"Unsupported sort key {exceptions.cut(item)} for 'sort'.",
                    f'There are {", ".join(self._keys)}, each with :asc or'
                    ' :desc.',
                )
            columns.append((column, direction == 'desc'))
        return [*columns, (self._columns.id, False)]

    def _order(self, sort: str, nulls: tuple[bool, ...] | None) -> list[_Key]:
        order = []
        for number, (column, descending) in enumerate(self._sorted_by(sort)):
            is_null = nulls is not None and nulls[number]
            value = sqlalchemy.bindparam(f'after_{number}', type_=column.type)
            if column.nullable:
                # Databases sort NULLs differently.
                rank = sqlalchemy.case((column.is_(None), 1), else_=0)
                order.append(_Key(rank, descending, int(is_null)))
            order.append(_Key(column, descending, None if is_null else value))
        return order


def _read(result: sqlalchemy.CursorResult[Any]) -> list[sqlalchemy.Row[Any]]:
    """Return all rows.

    :raises vobjects.clustering.errors.ListTooLarge: the rows have too many
        bytes
    :raises vobjects.clustering.errors.Unavailable: there are too many large
        responses
    """
    is_reserved = False
    rows: list[sqlalchemy.Row[Any]] = []
    size = 0
    for part in result.partitions(_PART):
        for row in part:
            size += sum(
                len(value)
                for value in row
                if value.__class__ is str or value.__class__ is wire.RawJson
            )
            if rows and size > MAX_BYTES:
                result.close()
                raise errors.ListTooLarge(
                    f'The list has more than {MAX_BYTES} bytes; ask for'
                    f' pages of at most {len(rows)} items with limit.',
                    '',
                    str(len(rows)),
                )
            if size > _LARGE and not is_reserved:
                if not byte_budget.reserve(max(MAX_BYTES, size)):
                    result.close()
                    raise errors.Unavailable(
                        'The engine handles too many large lists; try again,'
                        ' or ask for smaller pages with limit.'
                    )
                is_reserved = True
            rows.append(row)
    return rows


def _after(order: Sequence[_Key]) -> sqlalchemy.ColumnElement[bool]:
    """Return the condition that a row comes after the marker."""
    choices = []
    for position, key in enumerate(order):
        if key.value is None:
            continue  # only the preceding key can be greater than NULL
        same = [
            before.expression.is_(None)
            if before.value is None
            else before.expression == before.value
            for before in order[:position]
        ]
        beyond = (
            key.expression < key.value
            if key.descending
            else key.expression > key.value
        )
        choices.append(sqlalchemy.and_(*same, beyond))
    return sqlalchemy.or_(*choices)
