# SPDX-License-Identifier: Apache-2.0
"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db import types
from engine.db.migrations import columns as c

revision = '001'
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create all tables."""
    _user_data()
    _work()
    _fleet()
    op.create_table(
        'simulated_servers',
        c.id_(),
        c.text('node_id', 36),
        c.text('name', 255),
        c.text('status', 32),
        c.json('properties'),
        c.time('created_at'),
        c.time('updated_at', nullable=True),
        sa.PrimaryKeyConstraint('id', name='pk_simulated_servers'),
        sa.UniqueConstraint('node_id', name='uq_simulated_servers_node_id'),
        **c.OPTIONS,
    )


def _user_data() -> None:
    op.create_table(
        'profiles',
        c.id_(),
        c.text('name', 255),
        c.text('type', 255),
        c.json('spec'),
        c.json('metadata'),
        c.time('created_at'),
        c.time('updated_at', nullable=True),
        *c.owned(),
        sa.PrimaryKeyConstraint('id', name='pk_profiles'),
        **c.OPTIONS,
    )
    c.indices('profiles', ('project', 'name'), ('created_at',))
    op.create_table(
        'clusters',
        c.id_(),
        c.text('name', 255),
        c.text('profile_id', 36),
        c.number('min_size'),
        c.number('max_size'),
        c.number('desired_capacity'),
        c.number('next_index'),
        c.number('timeout', nullable=True),
        c.text('status', 32),
        c.long_text('status_reason'),
        c.json('metadata'),
        c.json('data'),
        c.json('dependents'),
        c.json('config'),
        c.time('init_at'),
        c.time('created_at', nullable=True),
        c.time('updated_at', nullable=True),
        *c.owned(),
        sa.PrimaryKeyConstraint('id', name='pk_clusters'),
        sa.ForeignKeyConstraint(
            ['profile_id'], ['profiles.id'], name='fk_clusters_profile_id'
        ),
        **c.OPTIONS,
    )
    c.indices('clusters', ('project', 'name'), ('init_at',), ('profile_id',))
    op.create_table(
        'nodes',
        c.id_(),
        c.text('name', 255),
        c.text('profile_id', 36),
        c.text('cluster_id', 36, nullable=True),
        c.text('physical_id', 255, nullable=True),
        c.number('index'),
        c.text('role', 255, nullable=True),
        c.text('status', 32),
        c.long_text('status_reason'),
        sa.Column('tainted', sa.Boolean(), nullable=False),
        c.json('metadata'),
        c.json('data'),
        c.json('dependents'),
        c.time('init_at'),
        c.time('created_at', nullable=True),
        c.time('updated_at', nullable=True),
        *c.owned(),
        sa.PrimaryKeyConstraint('id', name='pk_nodes'),
        sa.ForeignKeyConstraint(
            ['profile_id'], ['profiles.id'], name='fk_nodes_profile_id'
        ),
        sa.ForeignKeyConstraint(
            ['cluster_id'], ['clusters.id'], name='fk_nodes_cluster_id'
        ),
        **c.OPTIONS,
    )
    c.indices(
        'nodes',
        ('project', 'name'),
        ('init_at',),
        ('profile_id',),
        ('cluster_id',),
    )


def _work() -> None:
    op.create_table(
        'actions',
        c.id_(),
        c.text('name', 255),
        c.text('action', 64),
        c.text('target', 36),
        c.text('cluster_id', 36, nullable=True),
        c.text('cause', 255),
        c.number('interval'),
        c.number('timeout'),
        c.text('status', 32),
        c.long_text('status_reason'),
        c.text('stage', 32),
        c.text('owner', 36, nullable=True),
        c.number('claims'),
        c.number('deaths'),
        c.time('not_before', nullable=True),
        c.text('blocked_on', 36, nullable=True),
        c.time('deadline', nullable=True),
        sa.Column('start_time', types.Seconds, nullable=True),
        sa.Column('end_time', types.Seconds, nullable=True),
        c.json('inputs'),
        c.json('outputs'),
        c.json('data'),
        c.text('request_id', 64, nullable=True),
        c.time('created_at'),
        c.time('updated_at', nullable=True),
        *c.owned(),
        sa.PrimaryKeyConstraint('id', name='pk_actions'),
        **c.OPTIONS,
    )
    c.indices(
        'actions',
        ('status', 'not_before'),
        ('target', 'status'),
        ('cluster_id',),
        ('project', 'name'),
        ('blocked_on',),
        ('created_at',),
    )
    op.create_table(
        'action_dependencies',
        c.text('depended', 36),
        c.text('dependent', 36),
        sa.PrimaryKeyConstraint(
            'depended', 'dependent', name='pk_action_dependencies'
        ),
        sa.ForeignKeyConstraint(
            ['depended'],
            ['actions.id'],
            name='fk_action_dependencies_depended',
            ondelete='CASCADE',
        ),
        sa.ForeignKeyConstraint(
            ['dependent'],
            ['actions.id'],
            name='fk_action_dependencies_dependent',
            ondelete='CASCADE',
        ),
        **c.OPTIONS,
    )
    c.indices('action_dependencies', ('dependent',))
    op.create_table(
        'locks',
        c.text('resource_id', 36),
        c.text('action_id', 36),
        sa.Column('exclusive', sa.Boolean(), nullable=False),
        c.time('acquired_at'),
        sa.PrimaryKeyConstraint('resource_id', 'action_id', name='pk_locks'),
        **c.OPTIONS,
    )
    c.indices('locks', ('action_id',))


def _fleet() -> None:
    op.create_table(
        'services',
        c.id_(),
        c.text('binary', 64),
        c.text('host', 255),
        c.text('topic', 255),
        c.text('release', 64),
        c.text('manifest_digest', 64),
        c.json('manifest'),
        c.text('state', 16),
        c.number('seen_generation'),
        c.time('heartbeat'),
        sa.Column('disabled', sa.Boolean(), nullable=False),
        c.text('disabled_reason', 255, nullable=True),
        c.time('created_at'),
        sa.PrimaryKeyConstraint('id', name='pk_services'),
        **c.OPTIONS,
    )
    ledger_state = op.create_table(
        'ledger_state',
        sa.Column('id', sa.Integer(), autoincrement=False, nullable=False),
        c.number('generation'),
        c.json('held_manifest', nullable=True),
        sa.PrimaryKeyConstraint('id', name='pk_ledger_state'),
        **c.OPTIONS,
    )
    op.bulk_insert(ledger_state, [{'id': 1, 'generation': 0}])
