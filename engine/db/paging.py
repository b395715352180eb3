# SPDX-License-Identifier: Apache-2.0
"""Pages of a list, in a stable order.

A page starts after a *marker* row. The order is what the caller asked for,
then the ID; NULLs count as greater than everything.

To make a statement takes longer than to run it, so each is made once: a
:class:`Listing` keeps one for every *shape* of page, which is all that makes
one statement differ from another but its values.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import sqlalchemy

from engine.db import models, statements
from vobjects import exceptions
from vobjects.clustering import errors

#: Statements of one list that are kept; users choose how it is sorted.
MAX_SHAPES = 256

#: Whose rows are listed: a project's, those of no project, or all.
Owner = Literal['project', 'nobody', 'everybody']


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list is wanted, and how it is sorted.

    :ivar limit: most rows; None: all
    :ivar marker: the ID of the last row of the page before
    :ivar sort: ``key[:asc|desc]`` items, joined by commas
    """

    limit: int | None = None
    marker: str | None = None
    sort: str | None = None


class _Shape(NamedTuple):
    """What makes statements differ.

    :ivar sort: as in :class:`Page`
    :ivar owner: whose rows
    :ivar filters: names of those that are given
    :ivar limited: whether there is a limit
    """

    sort: str
    owner: Owner
    filters: tuple[str, ...]
    limited: bool


@dataclasses.dataclass(frozen=True, slots=True)
class _Key:
    """An expression to sort by, and the marker row's value of it."""

    expression: Any
    descending: bool
    value: Any


class Listing:
    """A list of rows of one table.

    :param query: selects them, and whatever is shown of them, by columns
    :param model: the class of the table; its rows have an ID and a project
    :param keys: names of columns a caller may sort by; the ID is the
        tie-breaker
    :param default: one of them, for a caller who does not say
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
        owner: Owner = 'everybody',
        project: str | None = None,
        given: Mapping[str, Collection[Any]] | None = None,
    ) -> Sequence[sqlalchemy.Row[Any]]:
        """Return a page.

        :param project: of the owner
        :param given: name of a column -> values, one of which a row has
            to have
        :raises vobjects.clustering.errors.BadRequest: a key nobody may sort
            by, or a marker that is not in the list
        """
        given = given or {}
        sort = page.sort or self._default
        shape = _Shape(sort, owner, tuple(given), page.limit is not None)
        values: dict[str, Any] = {
            'project': project,
            'limit': page.limit,
            **{f'in_{name}': [*some] for name, some in given.items()},
        }
        if page.marker is None:
            return connection.execute(self._page(shape, None), values).all()
        values['marker'] = page.marker
        found = connection.execute(self._marker(shape), values).first()
        if found is None:
            raise errors.BadRequest(
                f'marker {exceptions.cut(page.marker)} is not in this list;'
                ' give the ID of the last item of the page before'
            )
        nulls = tuple(value is None for value in found)
        for number, value in enumerate(found):
            values[f'after_{number}'] = value
        return connection.execute(self._page(shape, nulls), values).all()

    def _make_page(
        self, shape: _Shape, nulls: tuple[bool, ...] | None
    ) -> sqlalchemy.Select[Any]:
        """Return the statement of a page.

        :param nulls: which of the marker's values are NULL; None: there is
            no marker
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
        """Return the statement that selects what a marker is sorted by."""
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
        """Return what selects the list, in any order."""
        query = self._query
        if shape.owner == 'project':
            query = query.where(
                self._columns.project == sqlalchemy.bindparam('project')
            )
        elif shape.owner == 'nobody':
            query = query.where(self._columns.project.is_(None))
        for name in shape.filters:
            some: Any = sqlalchemy.bindparam(f'in_{name}', expanding=True)
            query = query.where(self._columns[name].in_(some))
        return query

    def _sorted_by(self, sort: str) -> list[tuple[Any, bool]]:
        """Return columns, the last the ID, and whether each descends."""
        found = []
        for item in sort.split(','):
            name, _, direction = item.partition(':')
            column = self._keys.get(name)
            if column is None or direction not in ('', 'asc', 'desc'):
                raise errors.BadRequest.advised(
                    f"Unsupported sort key {exceptions.cut(item)} for 'sort'.",
                    f'There are {", ".join(self._keys)}, each with :asc or'
                    ' :desc.',
                )
            found.append((column, direction == 'desc'))
        return [*found, (self._columns.id, False)]

    def _order(self, sort: str, nulls: tuple[bool, ...] | None) -> list[_Key]:
        order = []
        for number, (column, descending) in enumerate(self._sorted_by(sort)):
            is_null = nulls is not None and nulls[number]
            value = sqlalchemy.bindparam(f'after_{number}', type_=column.type)
            if column.nullable:
                # Databases disagree about where NULLs come.
                rank = sqlalchemy.case((column.is_(None), 1), else_=0)
                order.append(_Key(rank, descending, int(is_null)))
            order.append(_Key(column, descending, None if is_null else value))
        return order


def _after(order: Sequence[_Key]) -> sqlalchemy.ColumnElement[bool]:
    """Return the condition of standing after the marker."""
    choices = []
    for position, key in enumerate(order):
        if key.value is None:
            continue  # nothing is beyond NULL but by the key before it
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
