# SPDX-License-Identifier: Apache-2.0
"""What clouds have told of the servers of nodes, until somebody minds it."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy
from sqlalchemy import Index, String, orm

from engine.db import clock, health, models, statements

#: Seconds that an event is kept which nobody wants.
KEPT = 3600


class ServerEvent:
    """Columns of something that happened to a server.

    :ivar type: as :data:`engine.providers.lifecycle.FAILURES` has them
    """

    @orm.declared_attr.directive
    def __table_args__(cls) -> tuple[Any, ...]:  # noqa: N805
        """Indexes, which each table needs of its own."""
        return (
            Index(None, 'server_id'),
            Index(None, 'created_at'),
            models.TABLE_OPTIONS,
        )

    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    server_id: orm.Mapped[str] = orm.mapped_column(String(36))
    type: orm.Mapped[str] = orm.mapped_column(String(64))
    created_at: orm.Mapped[models.Time] = orm.mapped_column(
        default=clock.utcnow()
    )


class LifecycleEvent(ServerEvent, models.Base):
    """One that a cloud has told of, and nobody has minded yet."""

    __tablename__ = 'lifecycle_events'


def report(session: orm.Session, server_id: str, type_: str) -> bool:
    """Keep an event, if it is of a node that somebody looks after.

    :returns: whether it is
    """
    row = health.Registered
    concerned = session.scalar(
        sqlalchemy.select(models.Node.id)
        .join(row, row.cluster_id == models.Node.cluster_id)
        .where(models.Node.physical_id == server_id, row.enabled.is_(True))
        .limit(1)
    )
    if concerned is None:
        return False
    forget_old(session, LifecycleEvent)
    session.add(LifecycleEvent(server_id=server_id, type=type_))
    session.flush()
    return True


def forget_old(session: orm.Session, model: Any) -> None:
    """Delete the events that nobody has wanted for :data:`KEPT` seconds.

    :param model: the class of their table
    """
    since = clock.now(session) - datetime.timedelta(seconds=KEPT)
    statements.change(
        session, sqlalchemy.delete(model).where(model.created_at < since)
    )
