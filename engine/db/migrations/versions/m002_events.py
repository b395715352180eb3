# SPDX-License-Identifier: Apache-2.0
"""Add events. Engines of the previous release don't use them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db.migrations import columns as c

revision = '002'
down_revision = '001'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        'events',
        c.id_(),
        c.time('timestamp'),
        c.number('level'),
        c.text('oid', 36),
        c.text('oname', 255),
        c.text('otype', 32),
        c.text('cluster_id', 36, nullable=True),
        c.text('action', 64),
        c.text('status', 32),
        c.long_text('status_reason'),
        c.json('meta_data'),
        *c.owned(),
        sa.PrimaryKeyConstraint('id', name='pk_events'),
        **c.OPTIONS,
    )
    c.indices(
        'events',
        ('project', 'timestamp'),
        ('cluster_id', 'timestamp'),
        ('oid', 'timestamp'),
        ('timestamp',),
    )
