# SPDX-License-Identifier: Apache-2.0
"""Tables of the users' resources: profiles, clusters and nodes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, String, orm

from engine.db import clock
from engine.db.models.base import (
    TABLE_OPTIONS,
    Base,
    Owned,
    Time,
    id_column,
    json_column,
    reason_column,
)


class Profile(Owned, Base):
    """A template for creating nodes."""

    __tablename__ = 'profiles'
    __table_args__ = (
        Index(None, 'project', 'name'),
        Index(None, 'created_at'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = id_column()
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    type: orm.Mapped[str] = orm.mapped_column(String(255))
    spec: orm.Mapped[dict[str, Any]] = json_column()
    meta: orm.Mapped[dict[str, Any]] = json_column('metadata')
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    updated_at: orm.Mapped[Time | None]


class Cluster(Owned, Base):
    """A group of nodes."""

    __tablename__ = 'clusters'
    __table_args__ = (
        Index(None, 'project', 'name'),
        Index(None, 'init_at'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = id_column()
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    profile_id: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('profiles.id'), index=True
    )
    min_size: orm.Mapped[int] = orm.mapped_column(default=0)
    max_size: orm.Mapped[int] = orm.mapped_column(default=-1)
    desired_capacity: orm.Mapped[int] = orm.mapped_column(default=0)
    next_index: orm.Mapped[int] = orm.mapped_column(default=1)
    timeout: orm.Mapped[int | None]
    status: orm.Mapped[str] = orm.mapped_column(String(32))
    status_reason: orm.Mapped[str | None] = reason_column()
    meta: orm.Mapped[dict[str, Any]] = json_column('metadata')
    data: orm.Mapped[dict[str, Any]] = json_column()
    dependents: orm.Mapped[dict[str, Any]] = json_column()
    config: orm.Mapped[dict[str, Any]] = json_column()
    init_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    created_at: orm.Mapped[Time | None]
    updated_at: orm.Mapped[Time | None]


class Node(Owned, Base):
    """One server, stack or container."""

    __tablename__ = 'nodes'
    __table_args__ = (
        Index(None, 'project', 'name'),
        Index(None, 'init_at'),
        Index(None, 'physical_id'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = id_column()
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    profile_id: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('profiles.id'), index=True
    )
    cluster_id: orm.Mapped[str | None] = orm.mapped_column(
        ForeignKey('clusters.id'), index=True
    )
    physical_id: orm.Mapped[str | None] = orm.mapped_column(String(255))
    index: orm.Mapped[int] = orm.mapped_column(default=-1)
    role: orm.Mapped[str | None] = orm.mapped_column(String(255))
    status: orm.Mapped[str] = orm.mapped_column(String(32))
    status_reason: orm.Mapped[str | None] = reason_column()
    tainted: orm.Mapped[bool] = orm.mapped_column(default=False)
    meta: orm.Mapped[dict[str, Any]] = json_column('metadata')
    data: orm.Mapped[dict[str, Any]] = json_column()
    dependents: orm.Mapped[dict[str, Any]] = json_column()
    init_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    created_at: orm.Mapped[Time | None]
    updated_at: orm.Mapped[Time | None]


class Project(Base):
    """A project that has had clusters, locked while quotas are checked."""

    __tablename__ = 'projects'
    __table_args__ = (TABLE_OPTIONS,)

    #: Empty for resources without a project.
    id: orm.Mapped[str] = orm.mapped_column(String(64), primary_key=True)
