# SPDX-License-Identifier: Apache-2.0
"""Add a table for the revision of the contract chain."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db.migrations import columns as c

revision = '005'
down_revision = '004'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table in which alembic records that revision."""
    op.create_table(
        'contract_version',
        c.text('version_num', 32),
        sa.PrimaryKeyConstraint('version_num', name='pk_contract_version'),
        **c.OPTIONS,
    )
