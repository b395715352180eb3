# SPDX-License-Identifier: Apache-2.0
"""Record the origin of a hold, and steps of the database's clock."""

from __future__ import annotations

from alembic import op

from vobjects_sql.ledger import migrations as ledger_migrations

revision = 'e003'
down_revision = 'e002'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns."""
    ledger_migrations.expand(op, 2, members='services', state='ledger_state')
