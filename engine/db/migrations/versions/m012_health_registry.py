# SPDX-License-Identifier: Apache-2.0
"""Add the registry of clusters whose health is monitored."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db.migrations import columns as c

revision = '012'
down_revision = '011'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        'health_registry',
        c.text('cluster_id', 36),
        c.text('policy_id', 36),
        sa.Column('enabled', sa.Boolean(), nullable=False),
        sa.Column('interval', sa.Double(), nullable=False),
        c.time('due'),
        c.text('owner', 36, nullable=True),
        sa.PrimaryKeyConstraint('cluster_id', name='pk_health_registry'),
        sa.ForeignKeyConstraint(
            ['cluster_id'],
            ['clusters.id'],
            name='fk_health_registry_cluster_id',
            ondelete='CASCADE',
        ),
        **c.OPTIONS,
    )
    c.indices('health_registry', ('enabled', 'due'))
