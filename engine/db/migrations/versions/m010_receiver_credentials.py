# SPDX-License-Identifier: Apache-2.0
"""Add credentials of receivers. Older engines don't create any."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db.migrations import columns as c

revision = '010'
down_revision = '009'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        'receiver_credentials',
        c.text('receiver_id', 36),
        c.text('sealed', 1024),
        c.time('created_at'),
        sa.PrimaryKeyConstraint('receiver_id', name='pk_receiver_credentials'),
        **c.OPTIONS,
    )
