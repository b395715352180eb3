# SPDX-License-Identifier: Apache-2.0
"""Convert database rows to API resources.

Reads create no objects: columns are selected in the primitive form of the
response, checked, and written to the bus (see
:mod:`vobjects.objects.codec.list_decoding`). Rows that a transaction has just
changed are converted from their entities. One declaration per resource type
serves both.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import sqlalchemy

from engine.db import find, models, paging, statements, types
from vobjects import objects
from vobjects.clustering import errors
from vobjects.objects.codec import list_decoding

#: Field -> ID of a row -> value.
Beside = Mapping[str, Mapping[str, Any]]

#: Returns values of other tables for the rows with the given IDs.
Related = Callable[[sqlalchemy.Connection, Collection[str]], Beside]


def or_empty(value: str | None) -> str:
    """Return Senlin's form of a missing value: an empty string."""
    return value or ''


def _nothing(
    connection: sqlalchemy.Connection, ids: Collection[str]
) -> Beside:
    return {}


class Shown:
    """Mapping from the rows of a table to resources of a type.

    By default, a field is the column of the same name.

    :param kind: the resource type
    :param model: the model class of the table
    :param sort: allowed sort keys of a list
    :param sorted_by: default sort key
    :param filters: fields of a list request that filter by the column of the
        same name
    :param others: field -> attribute of the row, where the names differ
    :param made: field -> function that computes it from the attribute
    :param fixed: field -> value for all rows
    :param profile_named: whether to add ``profile_name``, by ``profile_id``
    :param related: returns values of other tables
    :param beside: the fields that ``related`` returns, or that have no column
    """

    def __init__(
        self,
        kind: type[objects.Resource],
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
        """Return the expression to select for a field."""
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

    # Reads

    def page(
        self,
        connection: sqlalchemy.Connection,
        context: Any,
        request: Any,
        **also: Collection[Any] | None,
    ) -> list[Any]:
        """Return a page of the resources that the caller may see.

        :param also: column -> accepted values; None for any value
        :raises vobjects.clustering.errors.Forbidden: the caller requests all
            projects and is not an administrator
        """
        given: dict[str, Collection[Any]] = {
            name: [one for one in values if find.is_storable(one)]
            for name in self._filters
            if (values := request.get(name)) is not None
        }
        given |= {
            name: some for name, some in also.items() if some is not None
        }
        marker = request.get('marker')
        page = paging.Page(
            request.get('limit'),
            marker and marker.lower(),
            request.get('sort'),
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
        return list_decoding.from_columns(self.kind, columns)

    def one(
        self, connection: sqlalchemy.Connection, context: Any, identity: str
    ) -> Any:
        """Return a resource; administrators see any resource, by its full ID.

        :raises vobjects.clustering.errors.ResourceNotFound: no resource
            matches
        :raises vobjects.clustering.errors.MultipleChoices: several resources
            match
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
        return list_decoding.from_row(
            self.kind, {name: values[0] for name, values in columns.items()}
        )

    def _columns(
        self,
        connection: sqlalchemy.Connection,
        rows: Sequence[sqlalchemy.Row[Any]],
    ) -> dict[str, Sequence[Any]]:
        """Return the values of each field for some rows."""
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

    # Entities of a transaction

    def entity(self, row: Any, **beside: Any) -> Any:
        """Convert an entity to a resource.

        :param beside: values of the fields without a column
        """
        values = dict(zip(self._fields, self._attributes(row), strict=True))
        for name, make in self._made.items():
            values[name] = make(values[name])
        return self.kind(**values, **self._fixed, **beside)


#: Type of a column -> type for reading it as a primitive.
_READ_AS: dict[type[Any], Any] = {
    types.Json: types.JsonText(),
    types.UtcDateTime: types.TimeText(),
}


def _owner(context: Any, request: Any) -> paging.Owner:
    """Return the scope of the rows that a caller may list.

    :raises vobjects.clustering.errors.Forbidden: the caller requests all
        projects and is not an administrator
    """
    if not request.get('global_project'):
        return 'none' if context.project_id is None else 'project'
    if not context.is_admin:
        raise errors.Forbidden(
            'Only an administrator may ask for the resources of all projects'
            ' (global_project).'
        )
    return 'all'
