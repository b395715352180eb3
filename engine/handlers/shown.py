# SPDX-License-Identifier: Apache-2.0
"""Rows of a table as users see them.

What is only read never becomes an object: columns are selected as the
primitives that the answer has, checked, and written to the bus (see
:mod:`vobjects.codec.lists`). What a transaction has just changed is shown
from its entities. Both by one declaration for each type of resource.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import sqlalchemy

from engine.actions import work
from engine.db import find, models, paging, statements, types
from vobjects import base
from vobjects.clustering import errors
from vobjects.codec import lists

#: Field -> what a row's ID has there.
Beside = Mapping[str, Mapping[str, Any]]

#: Returns what other tables have of some rows.
Related = Callable[[sqlalchemy.Connection, Collection[str]], Beside]


def or_empty(value: str | None) -> str:
    """Return what Senlin says for none: an empty text."""
    return value or ''


def _nothing(
    connection: sqlalchemy.Connection, ids: Collection[str]
) -> Beside:
    return {}


class Shown:
    """How rows of a table are shown as resources of a type.

    A field is the column of its name, unless something else is said.

    :param kind: the type
    :param model: the table's class
    :param sort: what a list may be sorted by
    :param sorted_by: what it is sorted by unless something else is asked for
    :param filters: fields of a list's request that hold values of columns
    :param others: field -> the attribute of a row that it is
    :param made: field -> function that makes it of the attribute
    :param fixed: field -> what all rows have
    :param profile_named: whether ``profile_name`` belongs to ``profile_id``
    :param related: returns what other tables have
    :param beside: the fields that ``related`` returns, or that no row has
    """

    def __init__(
        self,
        kind: type[base.Resource],
        model: type[Any],
        *,
        sort: Sequence[str],
        sorted_by: str = 'created_at',
        filters: Collection[str] = (),
        others: Mapping[str, str] | None = None,
        made: Mapping[str, Callable[[Any], Any]] | None = None,
        fixed: Mapping[str, Any] | None = None,
        profile_named: bool = False,
        related: Related = _nothing,
        beside: Collection[str] = (),
    ) -> None:
        self.kind, self.model = kind, model
        self._made, self._fixed = dict(made or {}), dict(fixed or {})
        self._related = related
        self._filters = filters
        elsewhere = {*beside, *self._fixed}
        if profile_named:
            elsewhere.add('profile_name')
        self._fields = [one for one in kind.fields if one not in elsewhere]
        names = [(others or {}).get(one, one) for one in self._fields]
        self._attributes = operator.attrgetter(*names)
        self._id = self._fields.index('id')
        self._selected = [*self._fields]
        columns = [
            self._column(field, name)
            for field, name in zip(self._fields, names, strict=True)
        ]
        self.query = sqlalchemy.select(*columns)
        if profile_named:
            self._name_profiles()
        self._listing = paging.Listing(self.query, model, sort, sorted_by)

    def _column(self, field: str, name: str) -> Any:
        """Return what is selected for a field."""
        column = getattr(self.model, name).property.columns[0]
        kind = _READ_AS.get(type(column.type))
        if kind is not None and field not in self._made:
            column = sqlalchemy.type_coerce(column, kind)
        return column.label(field)

    def _name_profiles(self) -> None:
        profiles = statements.table(models.Profile)
        rows = statements.table(self.model)
        self._selected.append('profile_name')
        self.query = (
            self.query.add_columns(profiles.c.name.label('profile_name'))
            .select_from(rows)
            .outerjoin(profiles, profiles.c.id == rows.c.profile_id)
        )

    # What is only read

    def page(
        self,
        connection: sqlalchemy.Connection,
        context: Any,
        request: Any,
        **also: Collection[Any] | None,
    ) -> list[Any]:
        """Return a page of the resources that the caller may see.

        :param also: column -> values, one of which a row has to have; None:
            it may have any
        :raises vobjects.clustering.errors.Forbidden: all projects are asked
            for by somebody who is no administrator
        """
        given: dict[str, Collection[Any]] = {
            name: [one for one in values if find.is_storable(one)]
            for name in self._filters
            if (values := work.given(request, name)) is not None
        }
        given |= {
            name: some for name, some in also.items() if some is not None
        }
        page = paging.Page(
            work.given(request, 'limit'),
            work.given(request, 'marker'),
            work.given(request, 'sort'),
        )
        rows = self._listing.rows(
            connection,
            page,
            _owner(context, request),
            context.project_id,
            given,
        )
        if not rows:
            return []
        columns = self._columns(connection, rows)
        return lists.from_columns(self.kind, columns)

    def one(
        self, connection: sqlalchemy.Connection, context: Any, identity: str
    ) -> Any:
        """Return a resource; an administrator sees any, by its full ID.

        :raises vobjects.clustering.errors.ResourceNotFound: there is none
        :raises vobjects.clustering.errors.MultipleChoices: there are several
        """
        row = find.find_columns(
            connection,
            self.query,
            self.model,
            identity,
            context.project_id,
            any_project_by_id=bool(context.is_admin),
        )
        columns = self._columns(connection, [row])
        return lists.from_row(
            self.kind, {name: values[0] for name, values in columns.items()}
        )

    def _columns(
        self,
        connection: sqlalchemy.Connection,
        rows: Sequence[sqlalchemy.Row[Any]],
    ) -> dict[str, Sequence[Any]]:
        """Return each field's values of some rows."""
        columns: dict[str, Sequence[Any]] = dict(
            zip(self._selected, zip(*rows, strict=True), strict=True)
        )
        for name, make in self._made.items():
            columns[name] = [make(value) for value in columns[name]]
        for name, value in self._fixed.items():
            columns[name] = [value] * len(rows)
        ids = columns['id']
        for name, of in self._related(connection, ids).items():
            columns[name] = [of[one] for one in ids]
        return columns

    # What was just changed

    def entity(self, row: Any, **beside: Any) -> Any:
        """Return a resource of an entity.

        :param beside: what the row does not have
        """
        values = dict(zip(self._fields, self._attributes(row), strict=True))
        for name, make in self._made.items():
            values[name] = make(values[name])
        return self.kind(**values, **self._fixed, **beside)


#: Type of a column -> how it is read to be passed on.
_READ_AS: dict[type[Any], Any] = {
    types.Json: types.JsonText(),
    types.UtcDateTime: types.TimeText(),
}


def _owner(context: Any, request: Any) -> paging.Owner:
    """Return whose rows a caller is shown.

    :raises vobjects.clustering.errors.Forbidden: not to this one
    """
    if not work.given(request, 'global_project'):
        return 'nobody' if context.project_id is None else 'project'
    if not context.is_admin:
        raise errors.Forbidden(
            'Only an administrator may ask for the resources of all projects'
            ' (global_project).'
        )
    return 'everybody'
