# SPDX-License-Identifier: Apache-2.0
"""Tables of the users' resources and of the trusts to act for users."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, orm

from engine.db import clock, types
from engine.db.models.base import (
    TABLE_OPTIONS,
    Base,
    Named,
    Owned,
    Time,
    id_column,
    json_column,
    reason_column,
)


class Profile(Named, Base):
    """A template for creating nodes."""

    __tablename__ = 'profiles'

    type: orm.Mapped[str] = orm.mapped_column(String(255))
    spec: orm.Mapped[dict[str, Any]] = json_column()
    meta: orm.Mapped[dict[str, Any]] = json_column('metadata')


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

    #: Empty for resources without a project.
    id: orm.Mapped[str] = orm.mapped_column(String(64), primary_key=True)


class Policy(Named, Base):
    """A rule that can be attached to clusters."""

    __tablename__ = 'policies'

    type: orm.Mapped[str] = orm.mapped_column(String(255))
    spec: orm.Mapped[dict[str, Any]] = json_column()
    data: orm.Mapped[dict[str, Any]] = json_column()


class ClusterPolicy(Base):
    """A policy that is attached to a cluster."""

    __tablename__ = 'cluster_policies'
    __table_args__ = (
        UniqueConstraint('cluster_id', 'policy_id'),
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


class Receiver(Named, Base):
    """An external trigger of actions on a cluster."""

    __tablename__ = 'receivers'

    type: orm.Mapped[str] = orm.mapped_column(String(32))
    #: NULL for a message receiver: each message names both.
    cluster_id: orm.Mapped[str | None] = orm.mapped_column(
        ForeignKey('clusters.id', ondelete='CASCADE'), index=True
    )
    action: orm.Mapped[str | None] = orm.mapped_column(String(64))
    params: orm.Mapped[dict[str, Any]] = json_column()
    channel: orm.Mapped[dict[str, Any]] = json_column()


class ReceiverCredential(Base):
    """The credential by which a receiver acts for its owner.

    See :mod:`engine.trusts`. It has no foreign key: the row stays until
    the credential has been revoked.
    """

    __tablename__ = 'receiver_credentials'

    receiver_id: orm.Mapped[str] = orm.mapped_column(
        String(36), primary_key=True
    )
    sealed: orm.Mapped[str] = orm.mapped_column(String(1024))
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())


class ReceivedMessage(Base):
    """A message whose action exists, until it is deleted from its queue."""

    __tablename__ = 'received_messages'

    receiver_id: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('receivers.id', ondelete='CASCADE'), primary_key=True
    )
    message_id: orm.Mapped[str] = orm.mapped_column(
        String(255), primary_key=True
    )
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())


class ProjectTrust(Base):
    """A trust of a user for a project.

    :ivar sealed: the trust, encrypted by :mod:`engine.trusts.encryption`
    :ivar roles: the names of the delegated roles
    :ivar refused: whether Keystone rejected it at the last attempt
    :ivar used_at: the approximate time of the user's last request
    """

    __tablename__ = 'project_trusts'
    __table_args__ = (
        UniqueConstraint('user', 'project'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = id_column()
    user: orm.Mapped[str] = orm.mapped_column(String(64))
    project: orm.Mapped[str] = orm.mapped_column(String(64))
    sealed: orm.Mapped[str] = orm.mapped_column(String(1024))
    roles: orm.Mapped[Any] = orm.mapped_column(types.Json, nullable=False)
    refused: orm.Mapped[bool] = orm.mapped_column(default=False)
    used_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
