# SPDX-License-Identifier: Apache-2.0
"""Tables of policies, and of their attachments to clusters."""

from __future__ import annotations

from typing import Any

import sqlalchemy
from sqlalchemy import ForeignKey, Index, String, orm

from engine.db import clock
from engine.db.models.base import (
    TABLE_OPTIONS,
    Base,
    Owned,
    Time,
    id_column,
    json_column,
)


class Policy(Owned, Base):
    """A rule that can be attached to clusters."""

    __tablename__ = 'policies'
    __table_args__ = (
        Index(None, 'project', 'name'),
        Index(None, 'created_at'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = id_column()
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    type: orm.Mapped[str] = orm.mapped_column(String(255))
    spec: orm.Mapped[dict[str, Any]] = json_column()
    data: orm.Mapped[dict[str, Any]] = json_column()
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    updated_at: orm.Mapped[Time | None]


class ClusterPolicy(Base):
    """A policy that is attached to a cluster."""

    __tablename__ = 'cluster_policies'
    __table_args__ = (
        sqlalchemy.UniqueConstraint('cluster_id', 'policy_id'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = id_column()
    cluster_id: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('clusters.id', ondelete='CASCADE')
    )
    policy_id: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('policies.id'), index=True
    )
    priority: orm.Mapped[int]
    enabled: orm.Mapped[bool]
    data: orm.Mapped[dict[str, Any]] = json_column()
    #: When the policy last allowed an action that it governs.
    last_op: orm.Mapped[Time | None]
