# SPDX-License-Identifier: Apache-2.0
"""The tables, which each release expands.

A release only adds tables, and columns that may be null. Engines of an older
release continue to work with them.
"""

import contextlib
import datetime
from typing import Annotated

import sqlalchemy
from sqlalchemy import orm


class UtcDateTime(sqlalchemy.TypeDecorator):
    """A time, stored in UTC without its offset."""

    impl = sqlalchemy.DateTime
    cache_ok = True

    def process_bind_param(self, value, dialect):
        return value and value.astimezone(datetime.UTC).replace(tzinfo=None)

    def process_result_value(self, value, dialect):
        return value and value.replace(tzinfo=datetime.UTC)


class Base(orm.DeclarativeBase):
    """Base of the tables."""

    type_annotation_map = {
        str: sqlalchemy.String(255),
        datetime.datetime: UtcDateTime,
    }


Id = Annotated[str, orm.mapped_column(sqlalchemy.String(36))]


class Secret(Base):
    """A secret."""

    __tablename__ = 'secrets'

    secret_id: orm.Mapped[Id] = orm.mapped_column(primary_key=True)
    project_id: orm.Mapped[str] = orm.mapped_column(index=True)
    name: orm.Mapped[str]
    secret_type: orm.Mapped[str]
    algorithm: orm.Mapped[str | None]
    bit_length: orm.Mapped[int | None]
    expiration: orm.Mapped[datetime.datetime | None]
    created: orm.Mapped[datetime.datetime]
    payload: orm.Mapped[str] = orm.mapped_column(sqlalchemy.Text)


def connect(url):
    """Return a database with the tables and columns of this release."""
    timeout = {'timeout': 60} if url.startswith('sqlite') else {}
    database = sqlalchemy.create_engine(url, connect_args=timeout)
    if database.dialect.name == 'sqlite':
        sqlalchemy.event.listen(database, 'connect', enforce_foreign_keys)
    # Two engines may add the same; the second one finds it the next time.
    with contextlib.suppress(sqlalchemy.exc.DBAPIError):
        expand(database)
        return database
    expand(database)
    return database


def enforce_foreign_keys(connection, record):
    """Let SQLite enforce foreign keys, also those that later releases add."""
    connection.execute('PRAGMA foreign_keys = ON')


def expand(database):
    """Add the tables and columns that are missing."""
    Base.metadata.create_all(database)
    inspector = sqlalchemy.inspect(database)
    for table in Base.metadata.sorted_tables:
        present = {item['name'] for item in inspector.get_columns(table.name)}
        for column in table.columns:
            if column.name not in present:
                kind = column.type.compile(database.dialect)
                clause = f'ADD COLUMN {column.name} {kind}'
                with database.begin() as connection:
                    connection.execute(
                        sqlalchemy.DDL(f'ALTER TABLE {table.name} {clause}')
                    )
