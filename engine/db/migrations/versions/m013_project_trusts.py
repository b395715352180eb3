# SPDX-License-Identifier: Apache-2.0
"""Add trusts of users for projects. Older engines don't use any."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db.migrations import columns as c

revision = '013'
down_revision = '012'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        'project_trusts',
        c.text('id', 36),
        c.text('user', 64),
        c.text('project', 64),
        c.text('sealed', 1024),
        c.json('roles'),
        sa.Column('refused', sa.Boolean(), nullable=False),
        c.time('used_at'),
        sa.PrimaryKeyConstraint('id', name='pk_project_trusts'),
        sa.UniqueConstraint(
            'user', 'project', name='uq_project_trusts_user_project'
        ),
        **c.OPTIONS,
    )
