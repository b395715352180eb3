# SPDX-License-Identifier: Apache-2.0
"""Column helpers for migrations."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from engine.db import types
from vobjects_sql.columns import TABLE_OPTIONS


def table(name: str, *items: Any) -> None:
    """Create a table with its indexes.

    :param items: columns, constraints and indexes; those without names get
        the names of :data:`engine.db.models.base.CONVENTIONS`
    """
    op.create_table(name, *items, **TABLE_OPTIONS)


def id_() -> sa.Column[Any]:
    """Return the primary key ``id``, a random UUID."""
    return key('id', 36)


def key(name: str, length: int) -> sa.Column[Any]:
    """Return a column of the primary key, with short text."""
    return sa.Column(name, sa.String(length), primary_key=True)


def reference(
    name: str,
    column: str,
    *,
    nullable: bool = False,
    is_key: bool = False,
    cascades: bool = False,
) -> sa.Column[Any]:
    """Return a column with the ID of another row.

    :param column: the foreign column, such as ``clusters.id``
    :param is_key: whether it belongs to the primary key
    :param cascades: whether the row is deleted with the other row
    """
    ondelete = 'CASCADE' if cascades else None
    return sa.Column(
        name,
        sa.String(36),
        sa.ForeignKey(column, ondelete=ondelete),
        nullable=nullable,
        primary_key=is_key,
    )


def text(name: str, length: int, *, nullable: bool = False) -> sa.Column[Any]:
    """Return a column of short text."""
    return sa.Column(name, sa.String(length), nullable=nullable)


def long_text(name: str) -> sa.Column[Any]:
    """Return a nullable column of text of any length."""
    return sa.Column(name, types.LongText, nullable=True)


def number(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    """Return a column of integers."""
    return sa.Column(name, sa.Integer(), nullable=nullable)


def time(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    """Return a column of UTC times."""
    return sa.Column(name, types.UtcDateTime(), nullable=nullable)


def json(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    """Return a column of JSON values."""
    return sa.Column(name, types.Json(), nullable=nullable)


def owned() -> list[sa.Column[Any]]:
    """Return the columns for the owner of a row."""
    return [
        text(name, 64, nullable=True) for name in ('user', 'project', 'domain')
    ]


def indices(*keys: tuple[str, ...]) -> list[sa.Index]:
    """Return indexes on columns of a table."""
    return [sa.Index(None, *names) for names in keys]
