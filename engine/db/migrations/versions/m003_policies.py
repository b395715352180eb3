# SPDX-License-Identifier: Apache-2.0
"""Add policies. Engines of the previous release don't apply them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db.migrations import columns as c

revision = '003'
down_revision = '002'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        'policies',
        c.id_(),
        c.text('name', 255),
        c.text('type', 255),
        c.json('spec'),
        c.json('data'),
        c.time('created_at'),
        c.time('updated_at', nullable=True),
        *c.owned(),
        sa.PrimaryKeyConstraint('id', name='pk_policies'),
        **c.OPTIONS,
    )
    c.indices('policies', ('project', 'name'), ('created_at',))
    op.create_table(
        'cluster_policies',
        c.id_(),
        c.text('cluster_id', 36),
        c.text('policy_id', 36),
        c.number('priority'),
        sa.Column('enabled', sa.Boolean(), nullable=False),
        c.json('data'),
        c.time('last_op', nullable=True),
        sa.PrimaryKeyConstraint('id', name='pk_cluster_policies'),
        sa.ForeignKeyConstraint(
            ['cluster_id'],
            ['clusters.id'],
            name='fk_cluster_policies_cluster_id',
            ondelete='CASCADE',
        ),
        sa.ForeignKeyConstraint(
            ['policy_id'],
            ['policies.id'],
            name='fk_cluster_policies_policy_id',
        ),
        sa.UniqueConstraint(
            'cluster_id',
            'policy_id',
            name='uq_cluster_policies_cluster_id_policy_id',
        ),
        **c.OPTIONS,
    )
    c.indices('cluster_policies', ('policy_id',))
