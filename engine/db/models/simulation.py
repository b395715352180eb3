# SPDX-License-Identifier: Apache-2.0
"""Tables of the simulated cloud; see also :mod:`engine.db.simulation`."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index, String, orm

from engine.db import clock
from engine.db.models.base import (
    TABLE_OPTIONS,
    Base,
    Time,
    id_column,
    json_column,
)


class SimulatedServer(Base):
    """A server of the simulated cloud."""

    __tablename__ = 'simulated_servers'
    __table_args__ = (TABLE_OPTIONS,)

    id: orm.Mapped[str] = id_column()
    node_id: orm.Mapped[str] = orm.mapped_column(String(36), unique=True)
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    status: orm.Mapped[str] = orm.mapped_column(String(32))
    properties: orm.Mapped[dict[str, Any]] = json_column()
    #: The server's location; NULL in rows older than these columns.
    region: orm.Mapped[str | None] = orm.mapped_column(String(255))
    zone: orm.Mapped[str | None] = orm.mapped_column(String(255))
    host: orm.Mapped[str | None] = orm.mapped_column(String(255))
    group_id: orm.Mapped[str | None] = orm.mapped_column(String(36))
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    updated_at: orm.Mapped[Time | None]


class SimulatedMessage(Base):
    """A message of the simulated queues."""

    __tablename__ = 'simulated_messages'
    __table_args__ = (Index(None, 'project', 'queue'), TABLE_OPTIONS)

    id: orm.Mapped[str] = id_column()
    #: Empty for no project.
    project: orm.Mapped[str] = orm.mapped_column(String(64))
    queue: orm.Mapped[str] = orm.mapped_column(String(64))
    body: orm.Mapped[dict[str, Any]] = json_column()
    claim_id: orm.Mapped[str | None] = orm.mapped_column(String(36))
    claimed_until: orm.Mapped[Time | None]
    expires_at: orm.Mapped[Time]
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
