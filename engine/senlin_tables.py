# SPDX-License-Identifier: Apache-2.0
"""Tables of OpenStack Senlin, and the conversion of their rows to our rows.

Only :mod:`engine.senlin_import` uses them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import sqlalchemy

from engine.db import database, models
from vobjects import exceptions, objects, sensitive

#: Number of rows that are read together.
BATCH = 1000

#: Maximum number of missing columns that are listed.
_MAX_LISTED = 10

Row = Mapping[str, Any]
Values = dict[str, Any]


class NotSenlinError(exceptions.VobjectsError):
    """Raised if a database is not that of a supported release of Senlin."""


def _no_change(values: Values, row: Row) -> None:
    """Change nothing."""


def _empty_is_none(values: Values, *names: str) -> None:
    """Replace empty texts, which Senlin stores for "none"."""
    for name in names:
        values[name] = values.get(name) or None


def _cluster(values: Values, row: Row) -> None:
    values.setdefault('init_at', row['created_at'])


def _node(values: Values, row: Row) -> None:
    _empty_is_none(values, 'cluster_id', 'physical_id')
    _cluster(values, row)


def _action(values: Values, row: Row) -> None:
    _empty_is_none(values, 'cluster_id')
    values['inputs'] = {
        f'{objects.Object.OBJ_SERIAL_NAMESPACE}.data': row['inputs'] or {}
    }
    for name in ('start_time', 'end_time'):
        if row[name] is not None:
            values[name] = float(row[name])


def _event(values: Values, row: Row) -> None:
    _empty_is_none(values, 'cluster_id')
    values['level'] = int(row['level'] or 0)
    # The view shows the phase of the action; Senlin stores it as the status.
    values['meta_data'] = {**(row['meta_data'] or {}), 'phase': row['status']}


@dataclasses.dataclass(frozen=True, eq=False)
class Source:
    """A table of Senlin.

    :ivar name: name of the table
    :ivar model: class of the rows to create
    :ivar without: attributes of the model for which Senlin has no column
    :ivar more: further columns to read
    :ivar change: completes the values of a new row from the row of Senlin
    """

    name: str
    model: type[models.Base]
    without: frozenset[str] = frozenset()
    more: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    change: Callable[[Values, Row], None] = _no_change

    @property
    def label(self) -> str:
        """Plural noun for the rows."""
        return str(self.model.__tablename__)

    def columns(self) -> dict[str, sqlalchemy.ColumnClause[Any]]:
        """Return attribute -> column of Senlin."""
        columns = {
            attribute.key: sqlalchemy.column(
                _RENAMED.get(attribute.key, attribute.key),
                attribute.columns[0].type,
            )
            for attribute in sqlalchemy.inspect(self.model).column_attrs
            if attribute.key not in self.without
        }
        for name, type_ in self.more.items():
            columns[name] = sqlalchemy.column(name, type_)
        return columns

    def query(self) -> sqlalchemy.Select[Any]:
        """Return a query of all rows, with the names of our attributes."""
        columns = [c.label(key) for key, c in self.columns().items()]
        return sqlalchemy.select(*columns).select_from(
            sqlalchemy.table(self.name, *self.columns().values())
        )

    def new_row(self, row: Row) -> Any:
        """Return a new row of our table."""
        defaults = sqlalchemy.inspect(self.model).columns
        values = {
            name: value
            for name, value in row.items()
            if name not in self.more
            # The default of the column replaces NULL.
            and not (value is None and defaults[name].default is not None)
        }
        self.change(values, row)
        return self.model(**values)


_RENAMED = {'meta': 'meta_data'}

_JSON = models.Profile.spec.type

PROFILES = Source('profile', models.Profile)
CLUSTERS = Source('cluster', models.Cluster, change=_cluster)
NODES = Source('node', models.Node, change=_node)
POLICIES = Source('policy', models.Policy)
BINDINGS = Source('cluster_policy', models.ClusterPolicy)
RECEIVERS = Source('receiver', models.Receiver, more={'actor': _JSON})

#: In the order in which they can be written.
RESOURCES = (PROFILES, CLUSTERS, NODES, POLICIES, BINDINGS, RECEIVERS)

ACTIONS = Source(
    'action',
    models.Action,
    without=frozenset(
        {
            'blocked_on',
            'claims',
            'deadline',
            'deaths',
            'not_before',
            'owner',
            'request_id',
            'stage',
        }
    ),
    change=_action,
)
EVENTS = Source(
    'event', models.Event, without=frozenset({'domain'}), change=_event
)
HISTORY = (ACTIONS, EVENTS)

SERVICES = sqlalchemy.table(
    'service',
    sqlalchemy.column('host', sqlalchemy.String),
    sqlalchemy.column('binary', sqlalchemy.String),
    sqlalchemy.column('updated_at', models.Profile.updated_at.type),
)
CREDENTIALS = sqlalchemy.table(
    'credential',
    *(
        sqlalchemy.column(name, sqlalchemy.String)
        for name in ('user', 'project')
    ),
    sqlalchemy.column('cred', _JSON),
)


def batches(
    senlin: sqlalchemy.Connection, query: sqlalchemy.Select[Any]
) -> Iterator[list[Row]]:
    result = senlin.execution_options(yield_per=BATCH).execute(query)
    for partition in result.mappings().partitions(BATCH):
        yield [dict(row) for row in partition]


def connect(url: str) -> sqlalchemy.Engine:
    """Return an engine for Senlin's database, after checking its tables."""
    try:
        senlin = sqlalchemy.create_engine(url)
        inspector = sqlalchemy.inspect(senlin)
        missing = [
            name
            for source in (*RESOURCES, *HISTORY)
            for name in _missing(inspector, source)
        ]
    except database.UNUSABLE_ERRORS as error:
        is_away = isinstance(error, database.UNREACHABLE_ERRORS)
        kind = exceptions.Unreachable if is_away else database.UnusableError
        raise kind(
            f'--from {sensitive.mask_url(url)} cannot be used:'
            f' {str(error).strip().splitlines()[0]}'
        ) from error
    if missing:
        raise NotSenlinError(
            f'--from {sensitive.mask_url(url)} is not a database of Senlin 10'
            f' or newer: it lacks {", ".join(missing[:_MAX_LISTED])}'
        )
    return senlin


def _missing(inspector: Any, source: Source) -> list[str]:
    """Return the table if it is missing, or its missing columns."""
    if not inspector.has_table(source.name):
        return [source.name]
    existing = {
        column['name'] for column in inspector.get_columns(source.name)
    }
    names = [column.name for column in source.columns().values()]
    return [f'{source.name}.{name}' for name in names if name not in existing]
