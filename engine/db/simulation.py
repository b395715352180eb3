# SPDX-License-Identifier: Apache-2.0
"""Tables of the simulated cloud, except those of its servers."""

from __future__ import annotations

from typing import Any

import sqlalchemy
from sqlalchemy import String, orm

from engine.db import clock, lifecycle, models


class Part(models.Base):
    """A server group, a load balancer, or a member of one.

    :ivar kind: the kind of object
    :ivar owner: the ID of the pool that a member belongs to; otherwise empty
    :ivar name: a group's name, a balancer's key or the ID of a member's server
    """

    __tablename__ = 'simulated_parts'
    __table_args__ = (
        sqlalchemy.UniqueConstraint('kind', 'owner', 'name'),
        models.TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = orm.mapped_column(
        String(36), primary_key=True, default=models.new_id
    )
    kind: orm.Mapped[str] = orm.mapped_column(String(32))
    owner: orm.Mapped[str] = orm.mapped_column(String(36), default='')
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    data: orm.Mapped[dict[str, Any]] = orm.mapped_column(default=dict)


class Event(lifecycle.ServerEvent, models.Base):
    """A server event recorded by the simulated cloud."""

    __tablename__ = 'simulated_events'


class Object:
    """Columns of the nodes that are not servers."""

    id: orm.Mapped[str] = orm.mapped_column(
        String(36), primary_key=True, default=models.new_id
    )
    node_id: orm.Mapped[str] = orm.mapped_column(String(36), unique=True)
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    status: orm.Mapped[str] = orm.mapped_column(String(32))
    properties: orm.Mapped[dict[str, Any]] = orm.mapped_column(default=dict)
    created_at: orm.Mapped[models.Time] = orm.mapped_column(
        default=clock.utcnow()
    )
    updated_at: orm.Mapped[models.Time | None]


class Stack(Object, models.Base):
    """A stack of the simulated cloud."""

    __tablename__ = 'simulated_stacks'
    __table_args__ = (models.TABLE_OPTIONS,)


class Container(Object, models.Base):
    """A container of the simulated cloud."""

    __tablename__ = 'simulated_containers'
    __table_args__ = (models.TABLE_OPTIONS,)
