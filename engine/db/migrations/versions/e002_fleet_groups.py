# SPDX-License-Identifier: Apache-2.0
"""Store the groups of processes, so that heartbeats need not read all rows."""

from __future__ import annotations

from alembic import op

from vobjects.rpc.sql import migrations as ledger_migrations

revision = 'e002'
down_revision = 'e001'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add an index of processes, and columns to their shared state."""
    ledger_migrations.expand(op, 2, members='services', state='ledger_state')
