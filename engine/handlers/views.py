# SPDX-License-Identifier: Apache-2.0
"""Convert database rows to API resources.

Reads create no objects: columns are selected in the primitive form of the
response, checked, and written to the bus (see :mod:`vobjects.wire`). Rows that
a transaction has just changed are converted from their entities. One
declaration per resource type serves both.
"""

from __future__ import annotations

import dataclasses
import logging
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Generic, TypeVar

import sqlalchemy

from engine.db import database, find, models, paging, statements, types
from vobjects import exceptions, objects, wire
from vobjects.clustering import errors

LOG = logging.getLogger(__name__)

Resource = TypeVar('Resource', bound=objects.Resource)

#: Field -> ID of a row -> value.
RelatedValues = Mapping[str, Mapping[str, Any]]

#: Returns values of other tables for the rows with the given IDs.
RelatedQuery = Callable[
    [sqlalchemy.Connection, Collection[str]], RelatedValues
]


def text_or_empty(value: str | None) -> str:
    """Return Senlin's form of a missing value: an empty string."""
    return value or ''


def _no_related_values(
    connection: sqlalchemy.Connection, ids: Collection[str]
) -> RelatedValues:
    return {}


class ResourceView(Generic[Resource]):
    """Mapping from the rows of a table to resources of a type.

    By default, a field is the column of the same name.

    :param resource_type: the resource type
    :param model: the model class of the table
    :param sort: allowed sort keys of a list
    :param default_sort: default sort key
    :param filters: fields of a list request that filter by the column of the
        same name
    :param renamed: field -> attribute of the row, where the names differ
    :param computed: field -> function that computes it from the attribute
    :param constants: field -> value for all rows
    :param with_profile_name: whether to add ``profile_name``
    :param related: returns values of other tables
    :param related_fields: the fields that ``related`` returns, or that have no
        column
    """

    def __init__(
        self,
        resource_type: type[Resource],
        model: type[Any],
        *,
        sort: Sequence[str],
        default_sort: str = 'created_at',
        filters: Collection[str] = (),
        renamed: Mapping[str, str] | None = None,
        computed: Mapping[str, Callable[[Any], Any]] | None = None,
        constants: Mapping[str, Any] | None = None,
        with_profile_name: bool = False,
        related: RelatedQuery = _no_related_values,
        related_fields: Collection[str] = (),
    ) -> None:
        self.resource_type, self.model = resource_type, model
        self._computed = dict(computed or {})
        self._constants = dict(constants or {})
        self._related = related
        self._filters = filters
        separate = {*related_fields, *self._constants}
        if with_profile_name:
            separate.add('profile_name')
        self._fields = [
            field for field in resource_type.fields if field not in separate
        ]
        names = [(renamed or {}).get(field, field) for field in self._fields]
        self._attributes = operator.attrgetter(*names)
        self._id = self._fields.index('id')
        self._selected = [*self._fields]
        columns = [
            self._column(field, name)
            for field, name in zip(self._fields, names, strict=True)
        ]
        self.query = sqlalchemy.select(*columns)
        if with_profile_name:
            self._name_profiles()
        self._listing = paging.Listing(self.query, model, sort, default_sort)

    def _column(self, field: str, name: str) -> Any:
        """Return the expression to select for a field."""
        if not hasattr(self.model, name):
            raise exceptions.DeclarationError(
                f'{self.resource_type.obj_name()}.{field}: the model'
                f' {self.model.__name__} has no attribute {name!r}; add a'
                f' column to engine/db/models, or list the field in the view'
            )
        column = getattr(self.model, name).property.columns[0]
        resource_type = _PRIMITIVE_TYPES.get(type(column.type))
        if resource_type is not None and field not in self._computed:
            column = sqlalchemy.type_coerce(column, resource_type)
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
        **column_filters: Collection[Any] | None,
    ) -> list[Resource]:
        """Return a page of the resources that the caller may see.

        It omits rows that cannot be read, each of which would hide all others.

        :param column_filters: column -> accepted values; None for any value
        :raises vobjects.clustering.errors.Forbidden: the caller requests all
            projects and is not an administrator
        """
        filters: dict[str, Collection[Any]] = {
            name: [field for field in values if find.is_storable(field)]
            for name in self._filters
            if (values := request.get(name)) is not None
        }
        filters |= {
            name: values
            for name, values in column_filters.items()
            if values is not None
        }
        marker = request.get('marker')
        page = paging.Page(
            request.get('limit'),
            marker and marker.lower(),
            request.get('sort'),
        )
        owner = _owner_scope(context, request)
        limit = size = page.limit
        while True:
            page = dataclasses.replace(page, limit=size)
            rows = self._listing.rows(
                connection, page, owner, context.project_id, filters
            )
            resources = self._resources(connection, rows)
            omitted = len(rows) - len(resources)
            if limit is None or size is None or not omitted:
                return resources
            if len(resources) >= limit or len(rows) < size:
                return resources[:limit]
            # Clients take a short page for the last one.
            size = limit + omitted

    def get(
        self, target: database.Database, context: Any, identity: str
    ) -> Resource:
        """Return a resource; administrators see any resource, by its full ID.

        :raises vobjects.clustering.errors.ResourceNotFound: no resource
            matches
        :raises vobjects.clustering.errors.MultipleChoices: several resources
            match
        :raises vobjects.clustering.errors.UnreadableRow: see :meth:`_shown`
        """
        with target.read_connection() as connection:
            row = find.find_columns(
                connection,
                self.query,
                self.model,
                identity,
                context.project_id,
                any_project_by_id=bool(context.is_admin),
            )
            columns = self._columns(connection, [row])
        return self._shown(
            self._from_row,
            {name: values[0] for name, values in columns.items()},
        )

    def _resources(
        self,
        connection: sqlalchemy.Connection,
        rows: Sequence[sqlalchemy.Row[Any]],
    ) -> list[Resource]:
        """Return the resources of the rows that can be read."""
        if not rows:
            return []
        columns = self._columns(connection, rows)
        resources: list[Resource]
        try:
            resources = wire.from_columns(self.resource_type, columns)
            return resources
        except _UNREADABLE:
            resources = []
        omitted = []
        for values in zip(*columns.values(), strict=True):
            row = dict(zip(columns, values, strict=True))
            try:
                resources.append(self._from_row(row))
            except _UNREADABLE as error:
                omitted.append(f'{row["id"]}: {error}')
        LOG.error(
            'Omitted %s rows of table %s from a list; the first is %s',
            len(omitted),
            self.model.__tablename__,
            omitted[0],
        )
        return resources

    def _columns(
        self,
        connection: sqlalchemy.Connection,
        rows: Sequence[sqlalchemy.Row[Any]],
    ) -> dict[str, Sequence[Any]]:
        """Return the values of each field for some rows."""
        columns: dict[str, Sequence[Any]] = dict(
            zip(self._selected, zip(*rows, strict=True), strict=True)
        )
        for name, compute in self._computed.items():
            columns[name] = [compute(value) for value in columns[name]]
        for name, value in self._constants.items():
            columns[name] = [value] * len(rows)
        ids = columns['id']
        for name, values_by_id in self._related(connection, ids).items():
            columns[name] = [values_by_id[field] for field in ids]
        return columns

    # Entities of a transaction

    def from_entity(self, row: Any, **related_fields: Any) -> Resource:
        """Convert an entity to a resource.

        :param related_fields: values of the fields without a column
        :raises vobjects.clustering.errors.UnreadableRow: see :meth:`_shown`
        """
        values = dict(zip(self._fields, self._attributes(row), strict=True))
        for name, compute in self._computed.items():
            values[name] = compute(values[name])
        values |= {**self._constants, **related_fields}
        return self._shown(lambda fields: self.resource_type(**fields), values)

    # Rows with values that a field of the resource cannot have

    def _from_row(self, row: Mapping[str, Any]) -> Resource:
        resource: Resource = wire.from_row(self.resource_type, row)
        return resource

    def _shown(
        self,
        build: Callable[[Mapping[str, Any]], Resource],
        values: Mapping[str, Any],
    ) -> Resource:
        """Return the resource that ``build`` makes of the values of a row.

        :raises vobjects.clustering.errors.UnreadableRow: it has a value that
            its field rejects; the error names the fields, which are logged
            with the row
        """
        try:
            return build(values)
        except _UNREADABLE as error:
            rejected = []
            for name, value in values.items():
                try:
                    build({name: value})
                except _UNREADABLE:
                    rejected.append(name)
            fields = ', '.join(rejected)
            table, id_ = self.model.__tablename__, values['id']
            if fields == 'profile_name':
                table, id_ = models.Profile.__tablename__, values['profile_id']
            LOG.error(
                'Unreadable %s in row %s of table %s: %s',
                *(fields, id_, table, error),
            )
            raise errors.UnreadableRow(
                f'The {find.resource_name(self.model)} {values["id"]} cannot'
                f' be shown: this release cannot read {fields}. If'
                ' a newer release has stored it, upgrade the engines.'
                ' Otherwise, an administrator has to correct the row that the'
                ' log of the engine names.'
            ) from error


#: Errors of a value that a field of the resource cannot have. Such a row was
#: written by a newer release or by hand: SQLite even stores text as a number.
_UNREADABLE = (TypeError, ValueError)

#: Type of a column -> type for reading it as a primitive.
_PRIMITIVE_TYPES: dict[type[Any], Any] = {
    types.JsonObject: types.JsonText(),
    types.UtcDateTime: types.TimeText(),
}


def _owner_scope(context: Any, request: Any) -> paging.Owner:
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
