# SPDX-License-Identifier: Apache-2.0
"""Tables of the live processes and their shared state."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Index, String, orm

from engine.db import clock
from engine.db.models.base import (
    TABLE_OPTIONS,
    Base,
    Time,
    json_column,
)
from vobjects_sql import columns
from vobjects_sql.ledger import tables

#: The tables of the live engine and API processes. Two columns are only shown.
LEDGER = tables.LedgerTables(
    Base.metadata,
    members='services',
    state='ledger_state',
    extra=lambda: (
        Column('disabled', columns.Flag, nullable=False, default=False),
        Column('disabled_reason', columns.Text(255)),
    ),
)


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

    version_num: orm.Mapped[str] = orm.mapped_column(
        String(32), primary_key=True
    )
