# SPDX-License-Identifier: Apache-2.0
"""The two tables of a ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from vobjects_sql.columns import (
    TABLE_OPTIONS,
    Integer,
    Json,
    Text,
    UtcDateTime,
    utcnow,
)

#: Default names of the tables.
MEMBERS = 'vobjects_members'
STATE = 'vobjects_ledger'

#: ID of the single row of the second table.
STATE_ID = 1


def group_index(members: str) -> str:
    """Return the name of the index of the table of live processes."""
    return f'ix_{members}_group'


class LedgerTables:
    """The tables of a ledger, in the metadata of a service.

    :param metadata: the service's tables; None: metadata of its own
    :param members: name of the table of live processes
    :param state: name of the table with the generation and the hold, one row
    :param extra: returns further columns for the table of processes, which the
        ledger never sets; each needs a default or is nullable
    """

    def __init__(
        self,
        metadata: sa.MetaData | None = None,
        *,
        members: str = MEMBERS,
        state: str = STATE,
        extra: Callable[[], Sequence[sa.Column[Any]]] = tuple,
    ) -> None:
        self.metadata = sa.MetaData() if metadata is None else metadata
        self.members = sa.Table(
            members,
            self.metadata,
            sa.Column('id', Text(36), primary_key=True),
            sa.Column('binary', Text(64), nullable=False),
            sa.Column('host', Text(255), nullable=False),
            sa.Column('topic', Text(255), nullable=False),
            sa.Column('release', Text(64), nullable=False),
            sa.Column('manifest_digest', Text(64), nullable=False),
            sa.Column('manifest', Json, nullable=False),
            sa.Column('state', Text(16), nullable=False),
            sa.Column('seen_generation', Integer, nullable=False),
            sa.Column('heartbeat', UtcDateTime, nullable=False),
            sa.Column(
                'created_at', UtcDateTime, nullable=False, default=utcnow()
            ),
            *extra(),
            # The groups of members, and their first members.
            sa.Index(
                group_index(members),
                'manifest_digest',
                'topic',
                'state',
                'id',
            ),
            **TABLE_OPTIONS,
        )
        self.state = sa.Table(
            state,
            self.metadata,
            sa.Column('id', Integer, primary_key=True, autoincrement=False),
            sa.Column('generation', Integer, nullable=False),
            sa.Column('held_manifest', Json),
            # Random, new with each generation. Releases without this column
            # leave it unchanged.
            sa.Column('generation_token', Text(32)),
            # The groups of members, and the generation they belong to.
            sa.Column('group_counts', Json),
            sa.Column('groups_generation', Integer),
            # The time at which a process last looked for dead members.
            sa.Column('swept_at', UtcDateTime),
            # The beginning of the hold. Releases without this column leave it
            # unchanged when they begin or end a hold.
            sa.Column('hold_origin', Json),
            # Random, new after each known step of the database's clock.
            sa.Column('clock_token', Text(32)),
            **TABLE_OPTIONS,
        )
