# SPDX-License-Identifier: Apache-2.0
"""What tables have in common: their root, and columns that many have."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import sqlalchemy
from sqlalchemy import String, orm

from engine.db import types

Time = datetime.datetime

#: Names are compared byte by byte, everywhere; MariaDB would not otherwise.
TABLE_OPTIONS = {
    'mysql_engine': 'InnoDB',
    'mysql_charset': 'utf8mb4',
    'mysql_collate': 'utf8mb4_bin',
    'mariadb_engine': 'InnoDB',
    'mariadb_charset': 'utf8mb4',
    'mariadb_collate': 'utf8mb4_bin',
}

CONVENTIONS = {
    'ix': 'ix_%(table_name)s_%(column_0_N_name)s',
    'uq': 'uq_%(table_name)s_%(column_0_N_name)s',
    'fk': 'fk_%(table_name)s_%(column_0_N_name)s',
    'pk': 'pk_%(table_name)s',
}


class Base(orm.DeclarativeBase):
    """Root of the tables."""

    metadata = sqlalchemy.MetaData(naming_convention=CONVENTIONS)
    # What the database fills in is there when the session is gone.
    __mapper_args__ = {'eager_defaults': True}
    type_annotation_map = {
        Time: types.UtcDateTime,
        dict[str, Any]: types.Json,
    }


def new_id() -> str:
    """Return a random UUID as text."""
    return str(uuid.uuid4())


def id_column() -> orm.Mapped[str]:
    """Return a primary key that is a random UUID."""
    return orm.mapped_column(String(36), primary_key=True, default=new_id)


def json_column(name: str | None = None) -> orm.Mapped[dict[str, Any]]:
    """Return a column of a JSON object, {} where nothing is given.

    :param name: of the column, where it is not the attribute's
    """
    return orm.mapped_column(name, types.Json, nullable=False, default=dict)


def reason_column() -> orm.Mapped[str | None]:
    """Return a column of text for people, as long as it comes."""
    return orm.mapped_column(types.LongText)


class Owned:
    """Whose a row is."""

    user: orm.Mapped[str | None] = orm.mapped_column(String(64))
    project: orm.Mapped[str | None] = orm.mapped_column(String(64))
    domain: orm.Mapped[str | None] = orm.mapped_column(String(64))
