# SPDX-License-Identifier: Apache-2.0
"""Add recorded responses of calls. Older engines don't record any."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db.migrations import columns as c

revision = '011'
down_revision = '010'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        'calls',
        c.id_(),
        c.json('answered'),
        c.time('created_at'),
        sa.PrimaryKeyConstraint('id', name='pk_calls'),
        **c.OPTIONS,
    )
    c.indices('calls', ('created_at',))
