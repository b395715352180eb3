# SPDX-License-Identifier: Apache-2.0
"""Add server events reported by clouds, and index nodes by server."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db.migrations import columns as c

revision = '014'
down_revision = '013'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table and the index."""
    op.create_table(
        'lifecycle_events',
        sa.Column('id', sa.Integer(), nullable=False, autoincrement=True),
        c.text('server_id', 36),
        c.text('type', 64),
        c.time('created_at'),
        sa.PrimaryKeyConstraint('id', name='pk_lifecycle_events'),
        **c.OPTIONS,
    )
    c.indices('lifecycle_events', ('server_id',), ('created_at',))
    c.indices('nodes', ('physical_id',))
