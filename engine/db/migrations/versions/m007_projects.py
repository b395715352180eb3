# SPDX-License-Identifier: Apache-2.0
"""Add projects, which are locked while quotas are checked.

Engines of the previous release check quotas without a lock.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db.migrations import columns as c

revision = '007'
down_revision = '006'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        'projects',
        c.text('id', 64),
        sa.PrimaryKeyConstraint('id', name='pk_projects'),
        **c.OPTIONS,
    )
