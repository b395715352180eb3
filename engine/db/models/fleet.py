# SPDX-License-Identifier: Apache-2.0
"""Tables of the live processes and their shared state."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index, String, orm

from engine.db import clock
from engine.db.models.base import (
    TABLE_OPTIONS,
    Base,
    Time,
    json_column,
)


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
    manifest: orm.Mapped[dict[str, Any]] = json_column()
    state: orm.Mapped[str] = orm.mapped_column(String(16))
    seen_generation: orm.Mapped[int] = orm.mapped_column(default=0)
    heartbeat: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())
    disabled: orm.Mapped[bool] = orm.mapped_column(default=False)
    disabled_reason: orm.Mapped[str | None] = orm.mapped_column(String(255))
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())


class LedgerState(Base):
    """The state of the whole fleet, in one row."""

    __tablename__ = 'ledger_state'
    __table_args__ = (TABLE_OPTIONS,)

    id: orm.Mapped[int] = orm.mapped_column(
        primary_key=True, autoincrement=False
    )
    generation: orm.Mapped[int]
    held_manifest: orm.Mapped[dict[str, Any] | None]


class RecordedCall(Base):
    """The recorded response of a call that changed something."""

    __tablename__ = 'calls'
    __table_args__ = (Index(None, 'created_at'), TABLE_OPTIONS)

    id: orm.Mapped[str] = orm.mapped_column(String(36), primary_key=True)
    answered: orm.Mapped[dict[str, Any]] = json_column()
    created_at: orm.Mapped[Time] = orm.mapped_column(default=clock.utcnow())


class ContractVersion(Base):
    """The current contracting revision, written by alembic; 0 or 1 rows."""

    __tablename__ = 'contract_version'
    __table_args__ = (TABLE_OPTIONS,)

    version_num: orm.Mapped[str] = orm.mapped_column(
        String(32), primary_key=True
    )
