# SPDX-License-Identifier: Apache-2.0
"""Tables.

The properties of a resource are one JSON value. Processes of several releases
use the same rows, and each release ignores the properties that only another
one knows.
"""

import contextlib
from typing import Any

import sqlalchemy
from sqlalchemy import orm


class Base(orm.DeclarativeBase):
    """Base of the tables."""

    type_annotation_map = {dict[str, Any]: sqlalchemy.JSON}

    #: Increases with each new row.
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    uuid: orm.Mapped[str] = orm.mapped_column(
        sqlalchemy.String(36), unique=True
    )
    properties: orm.Mapped[dict[str, Any]]


class ClusterTemplate(Base):
    """A cluster template."""

    __tablename__ = 'cluster_templates'


class Cluster(Base):
    """A cluster."""

    __tablename__ = 'clusters'

    cluster_template_id: orm.Mapped[str] = orm.mapped_column(
        sqlalchemy.String(36), index=True
    )


def connect(url):
    """Return an engine for a database that has the tables."""
    timeout = {'timeout': 60} if url.startswith('sqlite') else {}
    database = sqlalchemy.create_engine(url, connect_args=timeout)
    # Several processes may create the tables at the same time.
    with contextlib.suppress(sqlalchemy.exc.DBAPIError):
        Base.metadata.create_all(database)
    Base.metadata.create_all(database)
    return database
