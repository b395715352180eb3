# SPDX-License-Identifier: Apache-2.0
"""The tables.

::

    profiles  <-  clusters  <-  nodes        what users have
    policies  <-  cluster_policies           which rules clusters are under
    receivers, receiver_credentials          what starts actions from outside
    actions, action_dependencies             what engines do with it
    events                                   what came of it
    locks                                    which action works on what
    projects                                 whose clusters are counted
    services, ledger_state                   which engines and APIs live
    contract_version                         what engines may not use any more
    simulated_servers                        the simulated cloud; the rest
                                             of it: engine.db.simulation

Migrations are written by hand (``migrations/versions``); a test compares
their result with these classes on every database.
"""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import sqlalchemy
from sqlalchemy import ForeignKey, Index, String, orm

from engine.db import clock, types

Time = datetime.datetime

#: Names are compared byte by byte, everywhere; MariaDB would not otherwise.
TABLE_OPTIONS = {
    'mysql_engine': 'InnoDB',
    'mysql_charset': 'utf8mb4',
    'mysql_collate': 'utf8mb4_bin',
    'mariadb_engine': 'InnoDB',
    'mariadb_charset': 'utf8mb4',
    'mariadb_collate': 'utf8mb4_bin',
}

CONVENTIONS = {
    'ix': 'ix_%(table_name)s_%(column_0_N_name)s',
    'uq': 'uq_%(table_name)s_%(column_0_N_name)s',
    'fk': 'fk_%(table_name)s_%(column_0_N_name)s',
    'pk': 'pk_%(table_name)s',
}


class Base(orm.DeclarativeBase):
    """Root of the tables."""

    metadata = sqlalchemy.MetaData(naming_convention=CONVENTIONS)
    # What the database fills in is there when the session is gone.
    __mapper_args__ = {'eager_defaults': True}
    type_annotation_map = {
        Time: types.UtcDateTime,
        dict[str, Any]: types.Json,
    }


def new_id() -> str:
    """Return a random UUID as text."""
    return str(uuid.uuid4())


def _id() -> orm.Mapped[str]:
    return orm.mapped_column(String(36), primary_key=True, default=new_id)


def _json(name: str | None = None) -> orm.Mapped[dict[str, Any]]:
    return orm.mapped_column(name, types.Json, nullable=False, default=dict)


def _reason() -> orm.Mapped[str | None]:
    return orm.mapped_column(types.LongText)


class Owned:
    """Whose a row is."""

    user: orm.Mapped[str | None] = orm.mapped_column(String(64))
    project: orm.Mapped[str | None] = orm.mapped_column(String(64))
    domain: orm.Mapped[str | None] = orm.mapped_column(String(64))


class Profile(Owned, Base):
    """What nodes made from it are like."""

    __tablename__ = 'profiles'
    __table_args__ = (
        Index(None, 'project', 'name'),
        Index(None, 'created_at'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = _id()
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    type: orm.Mapped[str] = orm.mapped_column(String(255))
    spec: orm.Mapped[dict[str, Any]] = _json()
    meta: orm.Mapped[dict[str, Any]] = _json('metadata')
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

    id: orm.Mapped[str] = _id()
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
    status_reason: orm.Mapped[str | None] = _reason()
    meta: orm.Mapped[dict[str, Any]] = _json('metadata')
    data: orm.Mapped[dict[str, Any]] = _json()
    dependents: orm.Mapped[dict[str, Any]] = _json()
    config: orm.Mapped[dict[str, Any]] = _json()
    init_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    created_at: orm.Mapped[Time | None]
    updated_at: orm.Mapped[Time | None]


class Node(Owned, Base):
    """One server, stack or container."""

    __tablename__ = 'nodes'
    __table_args__ = (
        Index(None, 'project', 'name'),
        Index(None, 'init_at'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = _id()
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
    status_reason: orm.Mapped[str | None] = _reason()
    tainted: orm.Mapped[bool] = orm.mapped_column(default=False)
    meta: orm.Mapped[dict[str, Any]] = _json('metadata')
    data: orm.Mapped[dict[str, Any]] = _json()
    dependents: orm.Mapped[dict[str, Any]] = _json()
    init_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    created_at: orm.Mapped[Time | None]
    updated_at: orm.Mapped[Time | None]


class Action(Owned, Base):
    """A piece of work that any engine may do.

    No foreign key leads from here: an action outlives its target.
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

    id: orm.Mapped[str] = _id()
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    action: orm.Mapped[str] = orm.mapped_column(String(64))
    target: orm.Mapped[str] = orm.mapped_column(String(36))
    cluster_id: orm.Mapped[str | None] = orm.mapped_column(String(36))
    cause: orm.Mapped[str] = orm.mapped_column(String(255))
    interval: orm.Mapped[int] = orm.mapped_column(default=-1)
    timeout: orm.Mapped[int]

    status: orm.Mapped[str] = orm.mapped_column(String(32))
    status_reason: orm.Mapped[str | None] = _reason()
    #: The step of its handler to run next.
    stage: orm.Mapped[str] = orm.mapped_column(String(32), default='start')

    #: The service that runs it, and how often it was claimed: together they
    #: fence off a worker that was given up.
    owner: orm.Mapped[str | None] = orm.mapped_column(String(36))
    claims: orm.Mapped[int] = orm.mapped_column(default=0)
    #: How many owners died with it.
    deaths: orm.Mapped[int] = orm.mapped_column(default=0)
    #: Not to be claimed earlier, and the locked resource it waits for.
    not_before: orm.Mapped[Time | None]
    blocked_on: orm.Mapped[str | None] = orm.mapped_column(String(36))
    deadline: orm.Mapped[Time | None]

    start_time: orm.Mapped[float | None] = orm.mapped_column(types.Seconds)
    end_time: orm.Mapped[float | None] = orm.mapped_column(types.Seconds)

    #: The primitive of the request that asked for it, with its version.
    inputs: orm.Mapped[dict[str, Any]] = _json()
    outputs: orm.Mapped[dict[str, Any]] = _json()
    data: orm.Mapped[dict[str, Any]] = _json()
    request_id: orm.Mapped[str | None] = orm.mapped_column(String(64))
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    updated_at: orm.Mapped[Time | None]


class ActionDependency(Base):
    """An action that waits (``dependent``) for another (``depended``)."""

    __tablename__ = 'action_dependencies'
    __table_args__ = (Index(None, 'dependent'), TABLE_OPTIONS)

    depended: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('actions.id', ondelete='CASCADE'), primary_key=True
    )
    dependent: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('actions.id', ondelete='CASCADE'), primary_key=True
    )


class Policy(Owned, Base):
    """A rule that clusters can be under."""

    __tablename__ = 'policies'
    __table_args__ = (
        Index(None, 'project', 'name'),
        Index(None, 'created_at'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = _id()
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    type: orm.Mapped[str] = orm.mapped_column(String(255))
    spec: orm.Mapped[dict[str, Any]] = _json()
    data: orm.Mapped[dict[str, Any]] = _json()
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    updated_at: orm.Mapped[Time | None]


class ClusterPolicy(Base):
    """A policy that is attached to a cluster."""

    __tablename__ = 'cluster_policies'
    __table_args__ = (
        sqlalchemy.UniqueConstraint('cluster_id', 'policy_id'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = _id()
    cluster_id: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('clusters.id', ondelete='CASCADE')
    )
    policy_id: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('policies.id'), index=True
    )
    priority: orm.Mapped[int]
    enabled: orm.Mapped[bool]
    data: orm.Mapped[dict[str, Any]] = _json()
    #: When the policy last let an action happen that it is about.
    last_op: orm.Mapped[Time | None]


class Receiver(Owned, Base):
    """By which something outside starts an action on a cluster."""

    __tablename__ = 'receivers'
    __table_args__ = (
        Index(None, 'project', 'name'),
        Index(None, 'created_at'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = _id()
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    type: orm.Mapped[str] = orm.mapped_column(String(32))
    #: Both are said by the messages of a receiver of messages.
    cluster_id: orm.Mapped[str | None] = orm.mapped_column(
        ForeignKey('clusters.id', ondelete='CASCADE'), index=True
    )
    action: orm.Mapped[str | None] = orm.mapped_column(String(64))
    params: orm.Mapped[dict[str, Any]] = _json()
    channel: orm.Mapped[dict[str, Any]] = _json()
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    updated_at: orm.Mapped[Time | None]


class ReceiverCredential(Base):
    """By which a receiver acts for its owner; see :mod:`engine.delegations`.

    No foreign key leads from here: it stays until it has been revoked.
    """

    __tablename__ = 'receiver_credentials'
    __table_args__ = (TABLE_OPTIONS,)

    receiver_id: orm.Mapped[str] = orm.mapped_column(
        String(36), primary_key=True
    )
    sealed: orm.Mapped[str] = orm.mapped_column(String(1024))
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())


class ReceivedMessage(Base):
    """A message whose action was made, until it is out of its queue."""

    __tablename__ = 'received_messages'
    __table_args__ = (TABLE_OPTIONS,)

    receiver_id: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('receivers.id', ondelete='CASCADE'), primary_key=True
    )
    message_id: orm.Mapped[str] = orm.mapped_column(
        String(255), primary_key=True
    )
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())


class Event(Owned, Base):
    """What happened to a cluster or a node.

    No foreign key leads from here: an event outlives what it is about.
    """

    __tablename__ = 'events'
    __table_args__ = (
        Index(None, 'project', 'timestamp'),
        Index(None, 'cluster_id', 'timestamp'),
        Index(None, 'oid', 'timestamp'),
        Index(None, 'timestamp'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = _id()
    timestamp: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    level: orm.Mapped[int]
    oid: orm.Mapped[str] = orm.mapped_column(String(36))
    oname: orm.Mapped[str] = orm.mapped_column(String(255))
    otype: orm.Mapped[str] = orm.mapped_column(String(32))
    cluster_id: orm.Mapped[str | None] = orm.mapped_column(String(36))
    action: orm.Mapped[str] = orm.mapped_column(String(64))
    status: orm.Mapped[str] = orm.mapped_column(String(32))
    status_reason: orm.Mapped[str | None] = _reason()
    meta_data: orm.Mapped[dict[str, Any]] = _json()


class Lock(Base):
    """An action's claim on a cluster or node."""

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


class Service(Base):
    """A live engine or API process."""

    __tablename__ = 'services'
    __table_args__ = (TABLE_OPTIONS,)

    id: orm.Mapped[str] = orm.mapped_column(String(36), primary_key=True)
    binary: orm.Mapped[str] = orm.mapped_column(String(64))
    host: orm.Mapped[str] = orm.mapped_column(String(255))
    topic: orm.Mapped[str] = orm.mapped_column(String(255))
    release: orm.Mapped[str] = orm.mapped_column(String(64))
    manifest_digest: orm.Mapped[str] = orm.mapped_column(String(64))
    manifest: orm.Mapped[dict[str, Any]] = _json()
    state: orm.Mapped[str] = orm.mapped_column(String(16))
    seen_generation: orm.Mapped[int] = orm.mapped_column(default=0)
    heartbeat: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    disabled: orm.Mapped[bool] = orm.mapped_column(default=False)
    disabled_reason: orm.Mapped[str | None] = orm.mapped_column(String(255))
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())


class Project(Base):
    """Who has had clusters: locked while they are counted."""

    __tablename__ = 'projects'
    __table_args__ = (TABLE_OPTIONS,)

    #: Empty for what belongs to no project.
    id: orm.Mapped[str] = orm.mapped_column(String(64), primary_key=True)


class LedgerState(Base):
    """What is true of the fleet as a whole; one row."""

    __tablename__ = 'ledger_state'
    __table_args__ = (TABLE_OPTIONS,)

    id: orm.Mapped[int] = orm.mapped_column(
        primary_key=True, autoincrement=False
    )
    generation: orm.Mapped[int]
    held_manifest: orm.Mapped[dict[str, Any] | None]


class Call(Base):
    """What a call was answered that has changed something."""

    __tablename__ = 'calls'
    __table_args__ = (Index(None, 'created_at'), TABLE_OPTIONS)

    id: orm.Mapped[str] = orm.mapped_column(String(36), primary_key=True)
    answered: orm.Mapped[dict[str, Any]] = _json()
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())


class ContractVersion(Base):
    """The last contracting migration; alembic's own, one row or none."""

    __tablename__ = 'contract_version'
    __table_args__ = (TABLE_OPTIONS,)

    version_num: orm.Mapped[str] = orm.mapped_column(
        String(32), primary_key=True
    )


class SimulatedServer(Base):
    """A server of the simulated cloud."""

    __tablename__ = 'simulated_servers'
    __table_args__ = (TABLE_OPTIONS,)

    id: orm.Mapped[str] = _id()
    node_id: orm.Mapped[str] = orm.mapped_column(String(36), unique=True)
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    status: orm.Mapped[str] = orm.mapped_column(String(32))
    properties: orm.Mapped[dict[str, Any]] = _json()
    #: Where it was put; NULL: before there was a choice.
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

    id: orm.Mapped[str] = _id()
    #: '' for none.
    project: orm.Mapped[str] = orm.mapped_column(String(64))
    queue: orm.Mapped[str] = orm.mapped_column(String(64))
    body: orm.Mapped[dict[str, Any]] = _json()
    claim_id: orm.Mapped[str | None] = orm.mapped_column(String(36))
    claimed_until: orm.Mapped[Time | None]
    expires_at: orm.Mapped[Time]
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
