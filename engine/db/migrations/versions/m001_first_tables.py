# SPDX-License-Identifier: Apache-2.0
"""The first tables."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from engine.db import types

revision = '001'
down_revision = None
branch_labels = None
depends_on = None

OPTIONS: dict[str, Any] = {
    'mysql_engine': 'InnoDB',
    'mysql_charset': 'utf8mb4',
    'mysql_collate': 'utf8mb4_bin',
    'mariadb_engine': 'InnoDB',
    'mariadb_charset': 'utf8mb4',
    'mariadb_collate': 'utf8mb4_bin',
}


def upgrade() -> None:
    """Create everything."""
    _user_data()
    _work()
    _fleet()
    op.create_table(
        'simulated_servers',
        _id(),
        _text('node_id', 36),
        _text('name', 255),
        _text('status', 32),
        _json('properties'),
        _time('created_at'),
        _time('updated_at', nullable=True),
        sa.PrimaryKeyConstraint('id', name='pk_simulated_servers'),
        sa.UniqueConstraint('node_id', name='uq_simulated_servers_node_id'),
        **OPTIONS,
    )


def _user_data() -> None:
    op.create_table(
        'profiles',
        _id(),
        _text('name', 255),
        _text('type', 255),
        _json('spec'),
        _json('metadata'),
        _time('created_at'),
        _time('updated_at', nullable=True),
        *_owned(),
        sa.PrimaryKeyConstraint('id', name='pk_profiles'),
        **OPTIONS,
    )
    _indices('profiles', ('project', 'name'), ('created_at',))
    op.create_table(
        'clusters',
        _id(),
        _text('name', 255),
        _text('profile_id', 36),
        _number('min_size'),
        _number('max_size'),
        _number('desired_capacity'),
        _number('next_index'),
        _number('timeout', nullable=True),
        _text('status', 32),
        _long_text('status_reason'),
        _json('metadata'),
        _json('data'),
        _json('dependents'),
        _json('config'),
        _time('init_at'),
        _time('created_at', nullable=True),
        _time('updated_at', nullable=True),
        *_owned(),
        sa.PrimaryKeyConstraint('id', name='pk_clusters'),
        sa.ForeignKeyConstraint(
            ['profile_id'], ['profiles.id'], name='fk_clusters_profile_id'
        ),
        **OPTIONS,
    )
    _indices('clusters', ('project', 'name'), ('init_at',), ('profile_id',))
    op.create_table(
        'nodes',
        _id(),
        _text('name', 255),
        _text('profile_id', 36),
        _text('cluster_id', 36, nullable=True),
        _text('physical_id', 255, nullable=True),
        _number('index'),
        _text('role', 255, nullable=True),
        _text('status', 32),
        _long_text('status_reason'),
        sa.Column('tainted', sa.Boolean(), nullable=False),
        _json('metadata'),
        _json('data'),
        _json('dependents'),
        _time('init_at'),
        _time('created_at', nullable=True),
        _time('updated_at', nullable=True),
        *_owned(),
        sa.PrimaryKeyConstraint('id', name='pk_nodes'),
        sa.ForeignKeyConstraint(
            ['profile_id'], ['profiles.id'], name='fk_nodes_profile_id'
        ),
        sa.ForeignKeyConstraint(
            ['cluster_id'], ['clusters.id'], name='fk_nodes_cluster_id'
        ),
        **OPTIONS,
    )
    _indices(
        'nodes',
        ('project', 'name'),
        ('init_at',),
        ('profile_id',),
        ('cluster_id',),
    )


def _work() -> None:
    op.create_table(
        'actions',
        _id(),
        _text('name', 255),
        _text('action', 64),
        _text('target', 36),
        _text('cluster_id', 36, nullable=True),
        _text('cause', 255),
        _number('interval'),
        _number('timeout'),
        _text('status', 32),
        _long_text('status_reason'),
        _text('stage', 32),
        _text('owner', 36, nullable=True),
        _number('claims'),
        _number('deaths'),
        _time('not_before', nullable=True),
        _text('blocked_on', 36, nullable=True),
        _time('deadline', nullable=True),
        sa.Column('start_time', types.Seconds, nullable=True),
        sa.Column('end_time', types.Seconds, nullable=True),
        _json('inputs'),
        _json('outputs'),
        _json('data'),
        _text('request_id', 64, nullable=True),
        _time('created_at'),
        _time('updated_at', nullable=True),
        *_owned(),
        sa.PrimaryKeyConstraint('id', name='pk_actions'),
        **OPTIONS,
    )
    _indices(
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
        _text('depended', 36),
        _text('dependent', 36),
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
        **OPTIONS,
    )
    _indices('action_dependencies', ('dependent',))
    op.create_table(
        'locks',
        _text('resource_id', 36),
        _text('action_id', 36),
        sa.Column('exclusive', sa.Boolean(), nullable=False),
        _time('acquired_at'),
        sa.PrimaryKeyConstraint('resource_id', 'action_id', name='pk_locks'),
        **OPTIONS,
    )
    _indices('locks', ('action_id',))


def _fleet() -> None:
    op.create_table(
        'services',
        _id(),
        _text('binary', 64),
        _text('host', 255),
        _text('topic', 255),
        _text('release', 64),
        _text('manifest_digest', 64),
        _json('manifest'),
        _text('state', 16),
        _number('seen_generation'),
        _time('heartbeat'),
        sa.Column('disabled', sa.Boolean(), nullable=False),
        _text('disabled_reason', 255, nullable=True),
        _time('created_at'),
        sa.PrimaryKeyConstraint('id', name='pk_services'),
        **OPTIONS,
    )
    ledger_state = op.create_table(
        'ledger_state',
        sa.Column('id', sa.Integer(), autoincrement=False, nullable=False),
        _number('generation'),
        _json('held_manifest', nullable=True),
        sa.PrimaryKeyConstraint('id', name='pk_ledger_state'),
        **OPTIONS,
    )
    op.bulk_insert(ledger_state, [{'id': 1, 'generation': 0}])


def _id() -> sa.Column[Any]:
    return sa.Column('id', sa.String(36), nullable=False)


def _text(name: str, length: int, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.String(length), nullable=nullable)


def _long_text(name: str) -> sa.Column[Any]:
    return sa.Column(name, types.LongText, nullable=True)


def _number(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), nullable=nullable)


def _time(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, types.UtcDateTime(), nullable=nullable)


def _json(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, types.Json(), nullable=nullable)


def _owned() -> list[sa.Column[Any]]:
    return [
        _text(name, 64, nullable=True)
        for name in ('user', 'project', 'domain')
    ]


def _indices(table: str, *keys: tuple[str, ...]) -> None:
    for columns in keys:
        op.create_index(
            f'ix_{table}_{"_".join(columns)}', table, list(columns)
        )
