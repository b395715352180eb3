# SPDX-License-Identifier: Apache-2.0
"""Cloud events about the servers of nodes, kept until handled."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy
from sqlalchemy import Index, String, orm

from engine.db import clock, health, models, statements

#: Seconds after which an unhandled event is deleted.
RETENTION = 3600


class ServerEvent:
    """Columns of an event about a server.

    :ivar type: one of the keys of :data:`engine.providers.lifecycle.FAILURES`
    """

    @orm.declared_attr.directive
    def __table_args__(cls) -> tuple[Any, ...]:  # noqa: N805
        """Return the indexes, which each table needs separately."""
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
    """An event reported by a cloud that no engine has handled yet."""

    __tablename__ = 'lifecycle_events'


def report(session: orm.Session, server_id: str, type_: str) -> bool:
    """Store an event if it concerns a node under health monitoring.

    :returns: whether the event was stored
    """
    row = health.HealthRegistration
    concerned = session.scalar(
        sqlalchemy.select(models.Node.id)
        .join(row, row.cluster_id == models.Node.cluster_id)
        .where(models.Node.physical_id == server_id, row.enabled.is_(True))
        .limit(1)
    )
    if concerned is None:
        return False
    delete_old(session, LifecycleEvent)
    session.add(LifecycleEvent(server_id=server_id, type=type_))
    session.flush()
    return True


def delete_old(session: orm.Session, model: Any) -> None:
    """Delete the events that are older than :data:`RETENTION` seconds.

    :param model: the mapped class of the events
    """
    since = clock.now(session) - datetime.timedelta(seconds=RETENTION)
    statements.change(
        session, sqlalchemy.delete(model).where(model.created_at < since)
    )
