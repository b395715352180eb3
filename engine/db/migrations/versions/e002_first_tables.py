# SPDX-License-Identifier: Apache-2.0
"""Create all tables of the first release."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.db import types
from engine.db.migrations import columns as c
from vobjects_sql.ledger import migrations as ledger_migrations

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
    c.table(
        'profiles',
        c.id_(),
        c.text('name', 255),
        c.text('type', 255),
        c.json('spec'),
        c.json('metadata'),
        c.time('created_at'),
        c.time('updated_at', nullable=True),
        *c.owned(),
        *c.indices(('project', 'name'), ('created_at',)),
    )
    c.table(
        'clusters',
        c.id_(),
        c.text('name', 255),
        c.reference('profile_id', 'profiles.id'),
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
        *c.indices(('project', 'name'), ('init_at',), ('profile_id',)),
    )
    c.table(
        'nodes',
        c.id_(),
        c.text('name', 255),
        c.reference('profile_id', 'profiles.id'),
        c.reference('cluster_id', 'clusters.id', nullable=True),
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
        *c.indices(
            ('project', 'name'),
            ('init_at',),
            ('profile_id',),
            ('cluster_id',),
            ('physical_id',),
        ),
    )
    c.table('projects', c.key('id', 64))


def _policies() -> None:
    c.table(
        'policies',
        c.id_(),
        c.text('name', 255),
        c.text('type', 255),
        c.json('spec'),
        c.json('data'),
        c.time('created_at'),
        c.time('updated_at', nullable=True),
        *c.owned(),
        *c.indices(('project', 'name'), ('created_at',)),
    )
    c.table(
        'cluster_policies',
        c.id_(),
        c.reference('cluster_id', 'clusters.id', cascades=True),
        c.reference('policy_id', 'policies.id'),
        c.number('priority'),
        sa.Column('enabled', sa.Boolean(), nullable=False),
        c.json('data'),
        c.time('last_op', nullable=True),
        sa.UniqueConstraint('cluster_id', 'policy_id'),
        *c.indices(('policy_id',)),
    )


def _receivers() -> None:
    c.table(
        'receivers',
        c.id_(),
        c.text('name', 255),
        c.text('type', 32),
        c.reference('cluster_id', 'clusters.id', nullable=True, cascades=True),
        c.text('action', 64, nullable=True),
        c.json('params'),
        c.json('channel'),
        c.time('created_at'),
        c.time('updated_at', nullable=True),
        *c.owned(),
        *c.indices(('project', 'name'), ('created_at',), ('cluster_id',)),
    )
    c.table(
        'received_messages',
        c.reference('receiver_id', 'receivers.id', is_key=True, cascades=True),
        c.key('message_id', 255),
        c.time('created_at'),
    )
    c.table(
        'receiver_credentials',
        c.key('receiver_id', 36),
        c.text('sealed', 1024),
        c.time('created_at'),
    )
    c.table(
        'project_trusts',
        c.id_(),
        c.text('user', 64),
        c.text('project', 64),
        c.text('sealed', 1024),
        c.json('roles'),
        sa.Column('refused', sa.Boolean(), nullable=False),
        c.time('used_at'),
        sa.UniqueConstraint('user', 'project'),
    )


def _actions() -> None:
    c.table(
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
        *c.indices(
            ('status', 'not_before'),
            ('target', 'status'),
            ('cluster_id',),
            ('project', 'name'),
            ('blocked_on',),
            ('created_at',),
        ),
    )
    c.table(
        'action_dependencies',
        c.reference('depended', 'actions.id', is_key=True, cascades=True),
        c.reference('dependent', 'actions.id', is_key=True, cascades=True),
        *c.indices(('dependent',)),
    )
    c.table(
        'locks',
        c.key('resource_id', 36),
        c.key('action_id', 36),
        sa.Column('exclusive', sa.Boolean(), nullable=False),
        c.time('acquired_at'),
        *c.indices(('action_id',)),
    )
    c.table(
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
        *c.indices(
            ('project', 'timestamp'),
            ('cluster_id', 'timestamp'),
            ('oid', 'timestamp'),
            ('timestamp',),
        ),
    )


def _health() -> None:
    c.table(
        'health_registry',
        c.reference('cluster_id', 'clusters.id', is_key=True, cascades=True),
        c.text('policy_id', 36),
        sa.Column('enabled', sa.Boolean(), nullable=False),
        sa.Column('interval', sa.Double(), nullable=False),
        c.time('due'),
        c.text('owner', 36, nullable=True),
        *c.indices(('enabled', 'due')),
    )
    c.table(
        'lifecycle_events',
        sa.Column('id', sa.Integer(), primary_key=True),
        c.text('server_id', 36),
        c.text('type', 64),
        c.time('created_at'),
        *c.indices(('server_id',), ('created_at',)),
    )


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
    c.table(
        'calls',
        c.id_(),
        c.json('answered'),
        c.time('created_at'),
        *c.indices(('created_at',)),
    )
    c.table(
        'contract_version',
        c.key('version_num', 32),
    )


def _simulated_cloud() -> None:
    c.table(
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
        sa.UniqueConstraint('node_id'),
    )
    for table in ('simulated_stacks', 'simulated_containers'):
        c.table(
            table,
            c.id_(),
            c.text('node_id', 36),
            c.text('name', 255),
            c.text('status', 32),
            c.json('properties'),
            c.time('created_at'),
            c.time('updated_at', nullable=True),
            sa.UniqueConstraint('node_id', name=f'uq_{table}_node_id'),
        )
    c.table(
        'simulated_parts',
        c.id_(),
        c.text('kind', 32),
        c.text('owner', 36),
        c.text('name', 255),
        c.json('data'),
        sa.UniqueConstraint('kind', 'owner', 'name'),
    )
    c.table(
        'simulated_events',
        sa.Column('id', sa.Integer(), primary_key=True),
        c.text('server_id', 36),
        c.text('type', 64),
        c.time('created_at'),
        *c.indices(('server_id',), ('created_at',)),
    )
    c.table(
        'simulated_messages',
        c.id_(),
        c.text('project', 64),
        c.text('queue', 64),
        c.json('body'),
        c.text('claim_id', 36, nullable=True),
        c.time('claimed_until', nullable=True),
        c.time('expires_at'),
        c.time('created_at'),
        *c.indices(('project', 'queue')),
    )
