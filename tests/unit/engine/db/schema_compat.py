# SPDX-License-Identifier: Apache-2.0
"""Find the changes of a migration that break older programs.

The check compares the reflected tables before and after a revision, so that
it does not depend on how the revision changes them.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterator
from typing import Any

import sqlalchemy
from alembic import autogenerate
from alembic.runtime import migration

_NUMBERS = itertools.count(1000)


def reflect(connection: sqlalchemy.Connection) -> sqlalchemy.MetaData:
    """Return the tables of the database, except alembic's."""
    metadata = sqlalchemy.MetaData()
    metadata.reflect(connection)
    alembics = metadata.tables.get('alembic_version')
    if alembics is not None:
        metadata.remove(alembics)
    return metadata


def restrictions(
    connection: sqlalchemy.Connection, before: sqlalchemy.MetaData
) -> list[str]:
    """Describe changes that break a program that knows only ``before``."""
    context = migration.MigrationContext.configure(
        connection, opts={'compare_type': True}
    )
    return [
        finding
        for difference in autogenerate.compare_metadata(context, before)
        for finding in _problems(difference, before)
    ]


def _problems(difference: Any, before: sqlalchemy.MetaData) -> Iterator[str]:
    """Yield problems of one difference, seen as a step back to ``before``."""
    if isinstance(difference, list):
        for change in difference:
            yield from _column_problems(*change)
        return
    kind, *details = difference
    if kind == 'remove_table':
        return
    if kind == 'remove_column':
        table, column = details[1], details[-1]
        if not column.nullable and column.server_default is None:
            yield f'{table}.{column.name} is new, not null, has no default'
        return
    if kind in ('remove_index', 'remove_constraint', 'remove_fk'):
        limit = details[0]
        is_restriction = kind != 'remove_index' or limit.unique
        old = before.tables.get(limit.table.name)
        if is_restriction and old is not None and _concerns(limit, old):
            yield f'{limit.name} is new and limits {old.name}'
        return
    yield f'{kind.removeprefix("add_")} {details[-1]} has gone'


def _concerns(limit: Any, old: sqlalchemy.Table) -> bool:
    """Tell whether all columns of a constraint or index existed before."""
    return all(column.name in old.columns for column in limit.columns)


def _column_problems(
    kind: str, _: Any, table: str, column: str, __: Any, is_: Any, was: Any
) -> Iterator[str]:
    if kind == 'modify_nullable' and is_:
        return
    if kind == 'modify_default' and was is None:
        return
    if kind == 'modify_type' and (getattr(is_, 'length', None) or 0) > (
        getattr(was, 'length', None) or float('inf')
    ):
        return
    yield f'{kind} of {table}.{column}: {was!r} became {is_!r}'


def write(
    connection: sqlalchemy.Connection, tables: sqlalchemy.MetaData
) -> None:
    """Write a row into each table, as a program that knows only these does."""
    written: dict[str, dict[str, Any]] = {}
    for table in tables.sorted_tables:
        row = {
            column.name: _value(column, written) for column in table.columns
        }
        connection.execute(table.insert().values(row))
        written[table.name] = row
        key = [column == row[column.name] for column in table.primary_key]
        rows = connection.execute(
            sqlalchemy.select(table).where(*key)
        ).mappings()
        assert dict(rows.one()) == row


def _value(
    column: sqlalchemy.Column[Any], written: dict[str, dict[str, Any]]
) -> Any:
    for key in column.foreign_keys:
        return written[key.column.table.name][key.column.name]
    number = next(_NUMBERS)
    kind = column.type.python_type
    if kind is datetime.datetime:
        time = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
        return time.replace(tzinfo=None, microsecond=number % 1_000_000)
    if kind is bool:
        return True
    if kind is int and isinstance(column.type, sqlalchemy.types.Integer):
        # MariaDB's booleans are integers of one byte.
        return number if column.primary_key else 1
    return kind(number)
