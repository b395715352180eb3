# SPDX-License-Identifier: Apache-2.0
"""Extend the simulated cloud.

Only adds: the previous release simulates servers alone.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db.migrations import columns as c

revision = '006'
down_revision = '005'
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, and add the location of servers."""
    for name, length in (
        ('region', 255),
        ('zone', 255),
        ('host', 255),
        ('group_id', 36),
    ):
        op.add_column('simulated_servers', c.text(name, length, nullable=True))
    op.create_table(
        'simulated_parts',
        c.id_(),
        c.text('kind', 32),
        c.text('owner', 36),
        c.text('name', 255),
        c.json('data'),
        sa.PrimaryKeyConstraint('id', name='pk_simulated_parts'),
        sa.UniqueConstraint(
            'kind',
            'owner',
            'name',
            name='uq_simulated_parts_kind_owner_name',
        ),
        **c.OPTIONS,
    )
    op.create_table(
        'simulated_events',
        sa.Column('id', sa.Integer(), nullable=False, autoincrement=True),
        c.text('server_id', 36),
        c.text('type', 64),
        c.time('created_at'),
        sa.PrimaryKeyConstraint('id', name='pk_simulated_events'),
        **c.OPTIONS,
    )
    c.indices('simulated_events', ('server_id',), ('created_at',))
