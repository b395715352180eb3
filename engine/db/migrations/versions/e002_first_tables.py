# SPDX-License-Identifier: Apache-2.0
"""Create all tables of the first release."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db import types
from engine.db.migrations import columns as c
from vobjects.rpc.sql import migrations as ledger_migrations

revision = 'e002'
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create all tables."""
    _resources()
    _policies()
    _receivers()
    _actions()
    _health()
    _fleet()
    _simulated_cloud()


def _resources() -> None:
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
        ('physical_id',),
    )
    op.create_table(
        'projects',
        c.text('id', 64),
        sa.PrimaryKeyConstraint('id', name='pk_projects'),
        **c.OPTIONS,
    )


def _policies() -> None:
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


def _receivers() -> None:
    op.create_table(
        'receivers',
        c.id_(),
        c.text('name', 255),
        c.text('type', 32),
        c.text('cluster_id', 36, nullable=True),
        c.text('action', 64, nullable=True),
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
        'receiver_credentials',
        c.text('receiver_id', 36),
        c.text('sealed', 1024),
        c.time('created_at'),
        sa.PrimaryKeyConstraint('receiver_id', name='pk_receiver_credentials'),
        **c.OPTIONS,
    )
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


def _actions() -> None:
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


def _health() -> None:
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
    op.create_table(
        'lifecycle_events',
        sa.Column('id', sa.Integer(), nullable=False, autoincrement=True),
        c.text('server_id', 36),
        c.text('type', 64),
        c.time('created_at'),
        sa.PrimaryKeyConstraint('id', name='pk_lifecycle_events'),
        **c.OPTIONS,
    )
    c.indices('lifecycle_events', ('server_id',), ('created_at',))


def _fleet() -> None:
    ledger_migrations.expand(
        op,
        1,
        members='services',
        state='ledger_state',
        extra=lambda: (
            sa.Column('disabled', sa.Boolean(), nullable=False),
            c.text('disabled_reason', 255, nullable=True),
        ),
    )
    op.create_table(
        'calls',
        c.id_(),
        c.json('answered'),
        c.time('created_at'),
        sa.PrimaryKeyConstraint('id', name='pk_calls'),
        **c.OPTIONS,
    )
    c.indices('calls', ('created_at',))
    op.create_table(
        'contract_version',
        c.text('version_num', 32),
        sa.PrimaryKeyConstraint('version_num', name='pk_contract_version'),
        **c.OPTIONS,
    )


def _simulated_cloud() -> None:
    op.create_table(
        'simulated_servers',
        c.id_(),
        c.text('node_id', 36),
        c.text('name', 255),
        c.text('status', 32),
        c.json('properties'),
        c.time('created_at'),
        c.time('updated_at', nullable=True),
        c.text('region', 255, nullable=True),
        c.text('zone', 255, nullable=True),
        c.text('host', 255, nullable=True),
        c.text('group_id', 36, nullable=True),
        sa.PrimaryKeyConstraint('id', name='pk_simulated_servers'),
        sa.UniqueConstraint('node_id', name='uq_simulated_servers_node_id'),
        **c.OPTIONS,
    )
    for table in ('simulated_stacks', 'simulated_containers'):
        op.create_table(
            table,
            c.id_(),
            c.text('node_id', 36),
            c.text('name', 255),
            c.text('status', 32),
            c.json('properties'),
            c.time('created_at'),
            c.time('updated_at', nullable=True),
            sa.PrimaryKeyConstraint('id', name=f'pk_{table}'),
            sa.UniqueConstraint('node_id', name=f'uq_{table}_node_id'),
            **c.OPTIONS,
        )
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
