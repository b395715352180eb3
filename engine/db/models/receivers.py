# SPDX-License-Identifier: Apache-2.0
"""What starts actions from outside."""

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
)


class Receiver(Owned, Base):
    """By which something outside starts an action on a cluster."""

    __tablename__ = 'receivers'
    __table_args__ = (
        Index(None, 'project', 'name'),
        Index(None, 'created_at'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = id_column()
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    type: orm.Mapped[str] = orm.mapped_column(String(32))
    #: Both are said by the messages of a receiver of messages.
    cluster_id: orm.Mapped[str | None] = orm.mapped_column(
        ForeignKey('clusters.id', ondelete='CASCADE'), index=True
    )
    action: orm.Mapped[str | None] = orm.mapped_column(String(64))
    params: orm.Mapped[dict[str, Any]] = json_column()
    channel: orm.Mapped[dict[str, Any]] = json_column()
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
