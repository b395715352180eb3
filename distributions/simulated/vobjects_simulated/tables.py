# SPDX-License-Identifier: Apache-2.0
"""Tables of the simulated cloud and of the simulated queues."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index, String, UniqueConstraint, orm

from engine.storage import (
    TABLE_OPTIONS,
    Base,
    ServerEvent,
    Time,
    id_column,
    json_column,
    utcnow,
)


class SimulatedObject:
    """Columns of servers, stacks and containers."""

    id: orm.Mapped[str] = id_column()
    node_id: orm.Mapped[str] = orm.mapped_column(String(36), unique=True)
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    status: orm.Mapped[str] = orm.mapped_column(String(32))
    properties: orm.Mapped[dict[str, Any]] = json_column()
    created_at: orm.Mapped[Time] = orm.mapped_column(default=utcnow())
    updated_at: orm.Mapped[Time | None]


class SimulatedServer(SimulatedObject, Base):
    """A server of the simulated cloud."""

    __tablename__ = 'simulated_servers'

    #: The server's location; NULL: the cloud has none.
    region: orm.Mapped[str | None] = orm.mapped_column(String(255))
    zone: orm.Mapped[str | None] = orm.mapped_column(String(255))
    host: orm.Mapped[str | None] = orm.mapped_column(String(255))
    group_id: orm.Mapped[str | None] = orm.mapped_column(String(36))


class SimulatedStack(SimulatedObject, Base):
    """A stack of the simulated cloud."""

    __tablename__ = 'simulated_stacks'


class SimulatedContainer(SimulatedObject, Base):
    """A container of the simulated cloud."""

    __tablename__ = 'simulated_containers'


class SimulatedPart(Base):
    """A server group, a load balancer, or a member of one.

    :ivar kind: the kind of object
    :ivar owner: the ID of the pool that a member belongs to; otherwise empty
    :ivar name: a group's name, a balancer's key or the ID of a member's server
    """

    __tablename__ = 'simulated_parts'
    __table_args__ = (
        UniqueConstraint('kind', 'owner', 'name'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = id_column()
    kind: orm.Mapped[str] = orm.mapped_column(String(32))
    owner: orm.Mapped[str] = orm.mapped_column(String(36), default='')
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    data: orm.Mapped[dict[str, Any]] = json_column()


class SimulatedEvent(ServerEvent, Base):
    """A server event recorded by the simulated cloud."""

    __tablename__ = 'simulated_events'


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
    created_at: orm.Mapped[Time] = orm.mapped_column(default=utcnow())
