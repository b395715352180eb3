# SPDX-License-Identifier: Apache-2.0
"""Column helpers for migrations."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from engine.db import types
from vobjects.rpc.sql.columns import TABLE_OPTIONS

#: Options of all tables.
OPTIONS = TABLE_OPTIONS


def id_() -> sa.Column[Any]:
    """Return the column ``id``, a random UUID."""
    return sa.Column('id', sa.String(36), nullable=False)


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


def indices(table: str, *keys: tuple[str, ...]) -> None:
    """Create indexes on a table."""
    for names in keys:
        op.create_index(f'ix_{table}_{"_".join(names)}', table, list(names))
