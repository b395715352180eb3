# SPDX-License-Identifier: Apache-2.0
"""Tables of OpenStack Senlin, and the conversion of their rows to our rows.

Only :mod:`engine.senlin_import` uses them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import decimal
import json
import pathlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import sqlalchemy

from engine.db import database, models, types
from vobjects import exceptions, objects, sensitive
from vobjects_sql import sqlite_files, stored

#: Number of rows that are read together.
BATCH = 1000

#: Maximum number of missing columns that are listed.
_MAX_LISTED = 10

#: Range of an integer in all databases.
_INTEGERS = range(-(2**31), 2**31)

#: Times before this one are text that is not a time.
_FIRST_TIME = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


Row = Mapping[str, Any]
Values = dict[str, Any]


class NotSenlinError(exceptions.VobjectsError):
    """Raised if a database is not that of a supported release of Senlin."""


class Unreadable:
    """Stands for text that is not JSON."""


class SenlinJson(types.Json):
    """A JSON column whose text may be invalid."""

    cache_ok = True

    def process_result_value(self, value: Any, dialect: Any) -> Any:
        """Parse a text; return :class:`Unreadable` if it is not JSON."""
        try:
            return super().process_result_value(value, dialect)
        except (AttributeError, ValueError):
            return Unreadable


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
    fields = {
        f'{objects.Object.OBJ_SERIAL_NAMESPACE}.data': row['inputs'] or {}
    }
    values['inputs'] = stored.StoredText(json.dumps(fields))
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
    :ivar attributes: the attributes of the model for which Senlin has a
        column, separated by spaces
    :ivar more: further columns to read
    :ivar change: completes the values of a new row from the row of Senlin
    """

    name: str
    model: type[models.Base]
    attributes: str
    more: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    change: Callable[[Values, Row], None] = _no_change

    @property
    def label(self) -> str:
        """Plural noun for the rows."""
        return str(self.model.__tablename__)

    def columns(self) -> dict[str, sqlalchemy.ColumnClause[Any]]:
        """Return attribute -> column of Senlin."""
        ours = sqlalchemy.inspect(self.model).columns
        kinds = {name: ours[name].type for name in self.attributes.split()}
        return {
            name: sqlalchemy.column(
                _RENAMED.get(name, name),
                _JSON if isinstance(kind, types.Json) else kind,
            )
            for name, kind in {**kinds, **self.more}.items()
        }

    def faults(self, row: Row) -> Iterator[str]:
        """Yield the names of invalid values, and what is wrong with them."""
        ours = sqlalchemy.inspect(self.model).columns
        for name, value in row.items():
            column = None if name in self.more else ours[name]
            if fault := fault_of(value, column):
                yield f'{_RENAMED.get(name, name)} {fault}'

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

_JSON = SenlinJson()

_OWNED = ' created_at updated_at user project domain'

PROFILES = Source('profile', models.Profile, 'id name type spec meta' + _OWNED)
CLUSTERS = Source(
    'cluster',
    models.Cluster,
    'id name profile_id min_size max_size desired_capacity next_index timeout'
    ' status status_reason meta data dependents config init_at' + _OWNED,
    change=_cluster,
)
NODES = Source(
    'node',
    models.Node,
    'id name profile_id cluster_id physical_id index role status status_reason'
    ' tainted meta data dependents init_at' + _OWNED,
    change=_node,
)
POLICIES = Source('policy', models.Policy, 'id name type spec data' + _OWNED)
BINDINGS = Source(
    'cluster_policy',
    models.ClusterPolicy,
    'id cluster_id policy_id priority enabled data last_op',
)
RECEIVERS = Source(
    'receiver',
    models.Receiver,
    'id name type cluster_id action params channel' + _OWNED,
    more={'actor': _JSON},
)

#: In the order in which they can be written.
RESOURCES = (PROFILES, CLUSTERS, NODES, POLICIES, BINDINGS, RECEIVERS)

ACTIONS = Source(
    'action',
    models.Action,
    'id name action target cluster_id cause interval timeout status'
    ' status_reason start_time end_time outputs data' + _OWNED,
    more={'inputs': _JSON},
    change=_action,
)
EVENTS = Source(
    'event',
    models.Event,
    'id timestamp level oid oname otype cluster_id action status status_reason'
    ' meta_data user project',
    change=_event,
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
    with contextlib.ExitStack() as opened:
        try:
            senlin = sqlalchemy.create_engine(url)
            opened.callback(senlin.dispose)
            sqlite_files.distrust_schema(senlin)
            path = senlin.url.database or ''
            is_file = path and senlin.dialect.name == 'sqlite'
            if is_file and not pathlib.Path(path).exists():
                # Connecting would create it.
                raise database.UnusableError(
                    f'--from {sensitive.mask_url(url)} cannot be used: there'
                    f' is no file {path}'
                )
            inspector = sqlalchemy.inspect(senlin)
            missing = [
                name
                for source in (*RESOURCES, *HISTORY)
                for name in _missing(inspector, source)
            ]
        except database.UNUSABLE_ERRORS as error:
            is_away = isinstance(error, database.UNREACHABLE_ERRORS)
            kind = (
                exceptions.Unreachable if is_away else database.UnusableError
            )
            reason = sensitive.mask_text(str(error).strip(), url)
            raise kind(
                f'--from {sensitive.mask_url(url)} cannot be used:'
                f' {reason.splitlines()[0]}'
            ) from error
        if missing:
            raise NotSenlinError(
                f'--from {sensitive.mask_url(url)} is not a database of Senlin'
                f' 10 or newer: it lacks {", ".join(missing[:_MAX_LISTED])}'
            )
        opened.pop_all()
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


def fault_of(value: Any, column: sqlalchemy.Column[Any] | None) -> str:
    """Return what is wrong with a value; empty if nothing is.

    SQLite stores any value in any column, and all databases store JSON as
    text. A row with a value of another type could not be read later.

    :param column: our column for the value; None: optional JSON
    """
    if value is None:
        optional = column is None or column.nullable or column.default
        return '' if optional else 'must not be NULL'
    kind: Any = types.Json() if column is None else column.type
    if isinstance(kind, types.Json):
        return '' if isinstance(value, dict) else 'must be a JSON object'
    if isinstance(kind, types.LongText):
        return '' if isinstance(value, str) else 'must be text'
    if isinstance(kind, sqlalchemy.String):
        return _text_fault(value, kind.length or 0)
    if isinstance(kind, sqlalchemy.Boolean):
        return '' if isinstance(value, bool) else 'must be a boolean'
    if isinstance(kind, sqlalchemy.Integer):
        return '' if _is_integer(value) else 'must be an integer of 32 bits'
    if isinstance(kind, sqlalchemy.Double):
        is_number = isinstance(value, int | float | decimal.Decimal)
        return '' if is_number else 'must be a number'
    is_time = isinstance(value, datetime.datetime) and value >= _FIRST_TIME
    return '' if is_time else 'must be a time'


def _text_fault(value: Any, length: int) -> str:
    if not isinstance(value, str):
        return 'must be text'
    if len(value) > length:
        return f'must have at most {length} characters'
    if value != exceptions.storable_text(value):
        return 'has characters that cannot be stored'
    return ''


def _is_integer(value: Any) -> bool:
    # Senlin stores the level of an event as text.
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value[:20])
    return isinstance(value, int) and value in _INTEGERS
