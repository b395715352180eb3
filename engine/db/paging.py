# SPDX-License-Identifier: Apache-2.0
"""Pages of a list, in a stable order.

A page starts after a *marker* row. The order is what the caller asked for,
then the ID; NULLs count as greater than everything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import sqlalchemy
from sqlalchemy import orm

from vobjects import exceptions
from vobjects.clustering import errors

Row = TypeVar('Row')


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


@dataclasses.dataclass(frozen=True, slots=True)
class _Key:
    """An expression to sort by, and the marker row's value of it."""

    expression: Any
    descending: bool
    value: Any


def rows(
    session: orm.Session,
    query: sqlalchemy.Select[tuple[Row]],
    page: Page,
    keys: Mapping[str, Any],
) -> Sequence[Row]:
    """Return a page of what ``query`` selects.

    :param query: selects one class, with every filter the caller is under
    :param keys: key a caller may sort by -> column; the first is the
        default; ``id`` is the tie-breaker and needs not be there
    :raises vobjects.clustering.errors.BadRequest: a key nobody may sort by,
        or a marker that the query does not select
    """
    model = query.column_descriptions[0]['entity']
    marker = None
    if page.marker is not None:
        marker = session.scalar(query.where(model.id == page.marker))
        if marker is None:
            raise errors.BadRequest(
                f'marker {exceptions.cut(page.marker)} is not in this list;'
                ' give the ID of the last item of the page before'
            )
    order = _order(page.sort, keys, model.id, marker)
    if marker is not None:
        query = query.where(_after(order))
    query = query.order_by(
        *(
            key.expression.desc() if key.descending else key.expression.asc()
            for key in order
        )
    )
    found: Sequence[Any] = session.scalars(query.limit(page.limit)).all()
    return found


def _order(
    sort: str | None, keys: Mapping[str, Any], tie_breaker: Any, marker: Any
) -> list[_Key]:
    order = []
    for item in (sort or next(iter(keys))).split(','):
        name, _, direction = item.partition(':')
        column = keys.get(name)
        if column is None or direction not in ('', 'asc', 'desc'):
            raise errors.BadRequest(
                f'cannot sort by {exceptions.cut(item)}; sort by'
                f' {", ".join(keys)}, each with :asc or :desc'
            )
        descending = direction == 'desc'
        value = getattr(marker, column.key, None)
        if column.nullable:
            # Databases disagree about where NULLs come.
            is_null = sqlalchemy.case((column.is_(None), 1), else_=0)
            order.append(_Key(is_null, descending, int(value is None)))
        order.append(_Key(column, descending, value))
    order.append(_Key(tie_breaker, False, getattr(marker, 'id', None)))
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
