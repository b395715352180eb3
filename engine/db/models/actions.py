# SPDX-License-Identifier: Apache-2.0
"""Tables of actions, their locks and their events."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, String, orm

import vobjects
from engine.db import clock, types
from engine.db.models.base import (
    TABLE_OPTIONS,
    Base,
    Owned,
    Time,
    id_column,
    json_column,
    reason_column,
)
from vobjects import objects
from vobjects_sql import stored


class Action(Owned, Base):
    """A unit of work that any engine may run.

    It has no foreign keys: an action outlives its target.
    """

    __tablename__ = 'actions'
    __table_args__ = (
        Index(None, 'status', 'not_before'),
        Index(None, 'target', 'status'),
        Index(None, 'cluster_id'),
        Index(None, 'project', 'name'),
        Index(None, 'blocked_on'),
        Index(None, 'created_at'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = id_column()
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    action: orm.Mapped[str] = orm.mapped_column(String(64))
    target: orm.Mapped[str] = orm.mapped_column(String(36))
    cluster_id: orm.Mapped[str | None] = orm.mapped_column(String(36))
    cause: orm.Mapped[str] = orm.mapped_column(String(255))
    interval: orm.Mapped[int] = orm.mapped_column(default=-1)
    timeout: orm.Mapped[int]

    status: orm.Mapped[str] = orm.mapped_column(String(32))
    status_reason: orm.Mapped[str | None] = reason_column()
    #: The stage of the handler to run next.
    stage: orm.Mapped[str] = orm.mapped_column(String(32), default='start')

    #: The service that runs the action, and the number of claims on it.
    #: Together they fence off a worker whose engine was declared dead.
    owner: orm.Mapped[str | None] = orm.mapped_column(String(36))
    claims: orm.Mapped[int] = orm.mapped_column(default=0)
    #: The number of owners that died while running the action.
    deaths: orm.Mapped[int] = orm.mapped_column(default=0)
    #: The time before which no engine claims the action, and the locked
    #: resource that it waits for.
    not_before: orm.Mapped[Time | None]
    blocked_on: orm.Mapped[str | None] = orm.mapped_column(String(36))
    deadline: orm.Mapped[Time | None]

    start_time: orm.Mapped[float | None] = orm.mapped_column(types.Seconds)
    end_time: orm.Mapped[float | None] = orm.mapped_column(types.Seconds)

    #: The request that created the action, at the cap. An engine that is older
    #: than the request leaves the action to newer ones.
    inputs: orm.Mapped[stored.StoredText[objects.Request]] = orm.mapped_column(
        stored.LazyStoredObject(vobjects.__version__)
    )
    outputs: orm.Mapped[dict[str, Any]] = json_column()
    data: orm.Mapped[dict[str, Any]] = json_column()
    request_id: orm.Mapped[str | None] = orm.mapped_column(String(64))
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    updated_at: orm.Mapped[Time | None]


class ActionDependency(Base):
    """A dependency: the action ``dependent`` waits for ``depended``."""

    __tablename__ = 'action_dependencies'
    __table_args__ = (Index(None, 'dependent'), TABLE_OPTIONS)

    depended: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('actions.id', ondelete='CASCADE'), primary_key=True
    )
    dependent: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('actions.id', ondelete='CASCADE'), primary_key=True
    )


class Lock(Base):
    """An action's lock on a cluster or node."""

    __tablename__ = 'locks'
    __table_args__ = (Index(None, 'action_id'), TABLE_OPTIONS)

    resource_id: orm.Mapped[str] = orm.mapped_column(
        String(36), primary_key=True
    )
    action_id: orm.Mapped[str] = orm.mapped_column(
        String(36), primary_key=True
    )
    exclusive: orm.Mapped[bool]
    acquired_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())


class Event(Owned, Base):
    """An event in the life of a cluster or a node.

    It has no foreign keys: an event outlives its subject.
    """

    __tablename__ = 'events'
    __table_args__ = (
        Index(None, 'project', 'timestamp'),
        Index(None, 'cluster_id', 'timestamp'),
        Index(None, 'oid', 'timestamp'),
        Index(None, 'timestamp'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = id_column()
    timestamp: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    level: orm.Mapped[int]
    oid: orm.Mapped[str] = orm.mapped_column(String(36))
    oname: orm.Mapped[str] = orm.mapped_column(String(255))
    otype: orm.Mapped[str] = orm.mapped_column(String(32))
    cluster_id: orm.Mapped[str | None] = orm.mapped_column(String(36))
    action: orm.Mapped[str] = orm.mapped_column(String(64))
    status: orm.Mapped[str] = orm.mapped_column(String(32))
    status_reason: orm.Mapped[str | None] = reason_column()
    meta_data: orm.Mapped[dict[str, Any]] = json_column()
