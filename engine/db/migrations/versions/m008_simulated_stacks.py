# SPDX-License-Identifier: Apache-2.0
"""Add stacks and containers of the simulated cloud."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db.migrations import columns as c

revision = '008'
down_revision = '007'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    for table in ('simulated_stacks', 'simulated_containers'):
        op.create_table(
            table,
            c.id_(),
            c.text('node_id', 36),
            c.text('name', 255),
            c.text('status', 32),
            c.json('properties'),
            c.time('created_at'),
            c.time('updated_at', nullable=True),
            sa.PrimaryKeyConstraint('id', name=f'pk_{table}'),
            sa.UniqueConstraint('node_id', name=f'uq_{table}_node_id'),
            **c.OPTIONS,
        )
