# SPDX-License-Identifier: Apache-2.0
"""Add receivers. Engines of the previous release don't use them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db.migrations import columns as c

revision = '004'
down_revision = '003'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        'receivers',
        c.id_(),
        c.text('name', 255),
        c.text('type', 32),
        c.text('cluster_id', 36),
        c.text('action', 64),
        c.json('params'),
        c.json('channel'),
        c.time('created_at'),
        c.time('updated_at', nullable=True),
        *c.owned(),
        sa.PrimaryKeyConstraint('id', name='pk_receivers'),
        sa.ForeignKeyConstraint(
            ['cluster_id'],
            ['clusters.id'],
            name='fk_receivers_cluster_id',
            ondelete='CASCADE',
        ),
        **c.OPTIONS,
    )
    c.indices(
        'receivers', ('project', 'name'), ('created_at',), ('cluster_id',)
    )
