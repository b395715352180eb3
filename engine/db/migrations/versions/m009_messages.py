# SPDX-License-Identifier: Apache-2.0
"""Add message receivers and the simulated queues.

Only adds, and makes two columns nullable. Engines of the previous release
refuse to create message receivers, and ignore existing ones.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db.migrations import columns as c

revision = '009'
down_revision = '008'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, and let a receiver have no cluster or action."""
    with op.batch_alter_table('receivers') as receivers:
        for name, length in (('cluster_id', 36), ('action', 64)):
            receivers.alter_column(
                name, existing_type=sa.String(length), nullable=True
            )
    op.create_table(
        'received_messages',
        c.text('receiver_id', 36),
        c.text('message_id', 255),
        c.time('created_at'),
        sa.PrimaryKeyConstraint(
            'receiver_id', 'message_id', name='pk_received_messages'
        ),
        sa.ForeignKeyConstraint(
            ['receiver_id'],
            ['receivers.id'],
            name='fk_received_messages_receiver_id',
            ondelete='CASCADE',
        ),
        **c.OPTIONS,
    )
    op.create_table(
        'simulated_messages',
        c.id_(),
        c.text('project', 64),
        c.text('queue', 64),
        c.json('body'),
        c.text('claim_id', 36, nullable=True),
        c.time('claimed_until', nullable=True),
        c.time('expires_at'),
        c.time('created_at'),
        sa.PrimaryKeyConstraint('id', name='pk_simulated_messages'),
        **c.OPTIONS,
    )
    c.indices('simulated_messages', ('project', 'queue'))
