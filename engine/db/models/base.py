# SPDX-License-Identifier: Apache-2.0
"""Base class of the tables, and columns that many tables share."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import sqlalchemy
from sqlalchemy import String, orm

from engine.db import types
from vobjects_sql.columns import TABLE_OPTIONS, utcnow

__all__ = [
    'CONVENTIONS',
    'TABLE_OPTIONS',
    'Base',
    'Named',
    'Owned',
    'Time',
    'id_column',
    'json_column',
    'new_id',
    'reason_column',
]

Time = datetime.datetime

CONVENTIONS = {
    'ix': 'ix_%(table_name)s_%(column_0_N_name)s',
    'uq': 'uq_%(table_name)s_%(column_0_N_name)s',
    'fk': 'fk_%(table_name)s_%(column_0_N_name)s',
    'pk': 'pk_%(table_name)s',
}


class Base(orm.DeclarativeBase):
    """Base class of the tables."""

    metadata = sqlalchemy.MetaData(naming_convention=CONVENTIONS)
    # Of tables that have no constraints of their own.
    __table_args__: Any = TABLE_OPTIONS
    # Load server defaults at once, so that they outlive the session.
    __mapper_args__ = {'eager_defaults': True}
    type_annotation_map = {
        Time: types.UtcDateTime,
        dict[str, Any]: types.JsonObject,
    }


def new_id() -> str:
    """Return a random UUID as text."""
    return str(uuid.uuid4())


def id_column() -> orm.Mapped[str]:
    """Return a primary key column that defaults to a random UUID."""
    return orm.mapped_column(String(36), primary_key=True, default=new_id)


def json_column(name: str | None = None) -> orm.Mapped[dict[str, Any]]:
    """Return a column for a JSON object, empty by default.

    :param name: the column's name, if it differs from the attribute's
    """
    return orm.mapped_column(
        name, types.JsonObject, nullable=False, default=dict
    )


def reason_column() -> orm.Mapped[str | None]:
    """Return a column for human-readable text of any length."""
    return orm.mapped_column(types.LongText)


class Owned:
    """Columns for the owner of a row."""

    user: orm.Mapped[str | None] = orm.mapped_column(String(64))
    project: orm.Mapped[str | None] = orm.mapped_column(String(64))
    domain: orm.Mapped[str | None] = orm.mapped_column(String(64))


class Named(Owned):
    """Columns and indexes of resources that a request creates at once."""

    @orm.declared_attr.directive
    def __table_args__(cls) -> tuple[Any, ...]:  # noqa: N805
        """Return the indexes, which each table needs separately."""
        return (
            sqlalchemy.Index(None, 'project', 'name'),
            sqlalchemy.Index(None, 'created_at'),
            TABLE_OPTIONS,
        )

    id: orm.Mapped[str] = id_column()
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    created_at: orm.Mapped[Time] = orm.mapped_column(default=utcnow())
    updated_at: orm.Mapped[Time | None]
