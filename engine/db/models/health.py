# SPDX-License-Identifier: Apache-2.0
"""Tables of the health checks and of the events about servers."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, String, orm

from engine.db import clock, types
from engine.db.models.base import TABLE_OPTIONS, Base, Time


class HealthRegistration(Base):
    """A cluster whose nodes are checked periodically.

    :ivar interval: seconds between two checks
    :ivar due: the time of the next check
    :ivar owner: the ID of the service that runs the check
    """

    __tablename__ = 'health_registry'
    __table_args__ = (Index(None, 'enabled', 'due'), TABLE_OPTIONS)

    cluster_id: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('clusters.id', ondelete='CASCADE'), primary_key=True
    )
    policy_id: orm.Mapped[str] = orm.mapped_column(String(36))
    enabled: orm.Mapped[bool]
    interval: orm.Mapped[float] = orm.mapped_column(types.Interval)
    due: orm.Mapped[Time]
    owner: orm.Mapped[str | None] = orm.mapped_column(String(36))


class ServerEvent:
    """Columns of an event about a server.

    :ivar type: one of the keys of
        :data:`engine.providers.server_events.FAILURES`
    """

    @orm.declared_attr.directive
    def __table_args__(cls) -> tuple[Any, ...]:  # noqa: N805
        """Return the indexes, which each table needs separately."""
        return (
            Index(None, 'server_id'),
            Index(None, 'created_at'),
            TABLE_OPTIONS,
        )

    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    server_id: orm.Mapped[str] = orm.mapped_column(String(36))
    type: orm.Mapped[str] = orm.mapped_column(String(64))
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())


class LifecycleEvent(ServerEvent, Base):
    """An event reported by a cloud that no engine has handled yet."""

    __tablename__ = 'lifecycle_events'
