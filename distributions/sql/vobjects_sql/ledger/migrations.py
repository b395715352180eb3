# SPDX-License-Identifier: Apache-2.0
"""Steps that change the tables of a ledger, for a service's alembic history.

A revision of the service runs a step by its number::

    from alembic import op
    from vobjects_sql.ledger import migrations

    def upgrade() -> None:
        migrations.expand(op, 1)

A step never changes after its release. Expanding steps only add, so that
processes of the previous release keep working; run them before the new release
starts. The release notes name the steps that a release adds. A new service
runs all of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from vobjects import exceptions
from vobjects_sql.columns import TABLE_OPTIONS, Json, UtcDateTime
from vobjects_sql.ledger.tables import (
    MEMBERS,
    STATE,
    STATE_ID,
    LedgerTables,
    group_index,
)

#: Number of the newest expanding step.
NEWEST = 2

#: Step after the first -> columns that it adds to the table of the state.
_ADDED_COLUMNS = {2: ('hold_origin', 'clock_token')}


def expand(
    operations: Any,
    step: int,
    *,
    members: str = MEMBERS,
    state: str = STATE,
    extra: Callable[[], Sequence[sa.Column[Any]]] = tuple,
) -> None:
    """Run one expanding step.

    :param operations: the module ``alembic.op``, or an
        ``alembic.operations.Operations``
    :param step: number of the step, from 1 to :data:`NEWEST`
    :param members: see :class:`vobjects_sql.ledger.tables.LedgerTables`
    :param state: see :class:`vobjects_sql.ledger.tables.LedgerTables`
    :param extra: see :class:`vobjects_sql.ledger.tables.LedgerTables`
    :raises ValueError: there is no such step
    """
    if step == 1:
        _create(operations, members, state, extra)
    elif step == 2:
        operations.add_column(state, sa.Column('hold_origin', Json))
        operations.add_column(state, sa.Column('clock_token', sa.String(32)))
    else:
        raise ValueError(f'there is no step {step}; the newest is {NEWEST}')


def _create(
    operations: Any,
    members: str,
    state: str,
    extra: Callable[[], Sequence[sa.Column[Any]]],
) -> None:
    operations.create_table(
        members,
        sa.Column('id', sa.String(36), nullable=False),
        sa.Column('binary', sa.String(64), nullable=False),
        sa.Column('host', sa.String(255), nullable=False),
        sa.Column('topic', sa.String(255), nullable=False),
        sa.Column('release', sa.String(64), nullable=False),
        sa.Column('manifest_digest', sa.String(64), nullable=False),
        sa.Column('manifest', Json, nullable=False),
        sa.Column('state', sa.String(16), nullable=False),
        sa.Column('seen_generation', sa.Integer, nullable=False),
        sa.Column('heartbeat', UtcDateTime, nullable=False),
        sa.Column('created_at', UtcDateTime, nullable=False),
        *extra(),
        sa.PrimaryKeyConstraint('id', name=f'pk_{members}'),
        **TABLE_OPTIONS,
    )
    ledger = operations.create_table(
        state,
        sa.Column('id', sa.Integer, autoincrement=False, nullable=False),
        sa.Column('generation', sa.Integer, nullable=False),
        sa.Column('held_manifest', Json),
        sa.Column('generation_token', sa.String(32)),
        sa.Column('group_counts', Json),
        sa.Column('groups_generation', sa.Integer),
        sa.Column('swept_at', UtcDateTime),
        sa.PrimaryKeyConstraint('id', name=f'pk_{state}'),
        **TABLE_OPTIONS,
    )
    operations.bulk_insert(ledger, [{'id': STATE_ID, 'generation': 0}])
    operations.create_index(
        group_index(members),
        members,
        ['manifest_digest', 'topic', 'state', 'id'],
    )


def create_tables(engine: sa.Engine) -> None:
    """Create the tables with their default names, or what they lack.

    For a service without alembic. Processes that start at the same time may
    all call it.

    :raises sqlalchemy.exc.SQLAlchemyError: the database does not answer, or
        does not allow it
    :raises vobjects.exceptions.FleetError: no release has made the tables
    """
    tables = LedgerTables()
    metadata = tables.metadata
    # Another process may create a table between the check and the creation;
    # the next attempt finds it.
    for _ in metadata.tables:
        with contextlib.suppress(sa.exc.DBAPIError):
            metadata.create_all(engine)
            break
    else:
        metadata.create_all(engine)
    missing = _missing(engine, tables)
    steps = _steps(missing, tables)
    for step in steps:
        # Another process may add it at the same time.
        with (
            contextlib.suppress(sa.exc.DBAPIError),
            engine.begin() as connection,
        ):
            expand(_operations(connection), step)
    if steps:
        missing = _missing(engine, tables)
    if missing:
        raise exceptions.FleetError(
            f'the tables of the ledger lack {", ".join(missing)}: another'
            ' program, or a build from before the first release, has made'
            f' them; drop {MEMBERS} and {STATE}, and try again'
        )


def missing_steps(engine: sa.Engine, tables: LedgerTables) -> str:
    """Describe the steps that the revisions of a service have not run.

    :returns: for an error message; empty if there are none, or if the database
        does not answer
    """
    try:
        missing = _missing(engine, tables)
    except sa.exc.SQLAlchemyError:
        return ''
    steps = _steps(missing, tables)
    if not steps:
        return ''
    return (
        f'; the tables lack {", ".join(missing)}: add a revision that calls'
        f' expand of {__name__} with step {" and ".join(map(str, steps))}'
    )


def _operations(connection: sa.Connection) -> Any:
    # Imported here: alembic takes longer to import than this module needs.
    from alembic import migration, operations

    context = migration.MigrationContext.configure(connection)
    return operations.Operations(context)


def _missing(engine: sa.Engine, tables: LedgerTables) -> list[str]:
    """Return the tables, or ``TABLE.COLUMN``, that a database lacks."""
    inspector = sa.inspect(engine)
    missing = []
    for table in (tables.members, tables.state):
        if not inspector.has_table(table.name):
            missing.append(table.name)
            continue
        present = {each['name'] for each in inspector.get_columns(table.name)}
        missing += [
            f'{table.name}.{column.name}'
            for column in table.columns
            if column.name not in present
        ]
    return missing


def _steps(missing: Sequence[str], tables: LedgerTables) -> list[int]:
    """Return the steps that add all that they can add of what is missing."""
    state = tables.state.name
    if tables.members.name in missing and state in missing:
        return [1, *_ADDED_COLUMNS]
    return [
        step
        for step, columns in _ADDED_COLUMNS.items()
        if {f'{state}.{column}' for column in columns}.issubset(missing)
    ]
