# SPDX-License-Identifier: Apache-2.0
"""Tables of receivers, which start actions from outside."""

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
    """An external trigger of actions on a cluster."""

    __tablename__ = 'receivers'
    __table_args__ = (
        Index(None, 'project', 'name'),
        Index(None, 'created_at'),
        TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = id_column()
    name: orm.Mapped[str] = orm.mapped_column(String(255))
    type: orm.Mapped[str] = orm.mapped_column(String(32))
    #: NULL for a message receiver: each message names both.
    cluster_id: orm.Mapped[str | None] = orm.mapped_column(
        ForeignKey('clusters.id', ondelete='CASCADE'), index=True
    )
    action: orm.Mapped[str | None] = orm.mapped_column(String(64))
    params: orm.Mapped[dict[str, Any]] = json_column()
    channel: orm.Mapped[dict[str, Any]] = json_column()
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    updated_at: orm.Mapped[Time | None]


class ReceiverCredential(Base):
    """The credential by which a receiver acts for its owner.

    See :mod:`engine.trusts`. It has no foreign key: the row stays until
    the credential has been revoked.
    """

    __tablename__ = 'receiver_credentials'
    __table_args__ = (TABLE_OPTIONS,)

    receiver_id: orm.Mapped[str] = orm.mapped_column(
        String(36), primary_key=True
    )
    sealed: orm.Mapped[str] = orm.mapped_column(String(1024))
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())


class ReceivedMessage(Base):
    """A message whose action exists, until it is deleted from its queue."""

    __tablename__ = 'received_messages'
    __table_args__ = (TABLE_OPTIONS,)

    receiver_id: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('receivers.id', ondelete='CASCADE'), primary_key=True
    )
    message_id: orm.Mapped[str] = orm.mapped_column(
        String(255), primary_key=True
    )
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
