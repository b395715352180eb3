# SPDX-License-Identifier: Apache-2.0
"""The ledger's tables in the schema and the alembic history of a service."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy
from alembic import autogenerate, command, config
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext

from tests import databases
from tests.unit.vobjects_sql.ledger.test_sql_ledger import MEMBER
from vobjects import exceptions
from vobjects_sql.ledger import (
    LedgerStatements,
    LedgerTables,
    SqlLedger,
    create_tables,
    migrations,
)
from vobjects_sql.ledger.tables import MEMBERS, STATE

ENV = """
from alembic import context
context.configure(connection=context.config.attributes['connection'])
with context.begin_transaction():
    context.run_migrations()
"""

REVISION = """
import sqlalchemy as sa
from alembic import op
from vobjects_sql.ledger import migrations

revision = '1'
down_revision = None

def upgrade():
    op.create_table('keys', sa.Column('id', sa.Integer, primary_key=True))
    migrations.expand(op, 1, members='processes', state='fleet')
    migrations.expand(op, 2, members='processes', state='fleet')
"""

CREATE = """
import sys, sqlalchemy
from vobjects_sql.ledger import create_tables
create_tables(sqlalchemy.create_engine(sys.argv[1]))
"""


@pytest.fixture(params=databases.BACKENDS)
def engine(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path
) -> Iterator[sqlalchemy.Engine]:
    """An empty database of each kind in turn."""
    with databases.temporary(request.param, tmp_path) as url:
        target = sqlalchemy.create_engine(url)
        yield target
        target.dispose()


def differences(
    engine: sqlalchemy.Engine, metadata: sqlalchemy.MetaData
) -> list[Any]:
    """Return what alembic would change, except its own table."""
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={'compare_type': True}
        )
        return list(autogenerate.compare_metadata(context, metadata))


def test_service_with_own_alembic_history_includes_the_ledger(
    engine: sqlalchemy.Engine, tmp_path: pathlib.Path
) -> None:
    scripts = tmp_path / 'migrations'
    (scripts / 'versions').mkdir(parents=True)
    (scripts / 'env.py').write_text(ENV)
    (scripts / 'versions' / 'r1.py').write_text(REVISION)
    options = config.Config()
    options.set_main_option('script_location', str(scripts))
    with engine.begin() as connection:
        options.attributes['connection'] = connection
        command.upgrade(options, 'head')
    metadata = sqlalchemy.MetaData()
    sqlalchemy.Table(
        'keys',
        metadata,
        sqlalchemy.Column('id', sqlalchemy.Integer, primary_key=True),
    )
    tables = LedgerTables(metadata, members='processes', state='fleet')
    assert differences(engine, metadata) == []
    ledger = SqlLedger(engine, LedgerStatements(tables))
    assert ledger.report(MEMBER).has_changed


def test_create_tables_creates_those_of_the_ledger(
    engine: sqlalchemy.Engine,
) -> None:
    create_tables(engine)
    create_tables(engine)
    assert differences(engine, LedgerTables().metadata) == []


def test_create_tables_by_processes_that_start_together_succeeds_in_each(
    engine: sqlalchemy.Engine,
) -> None:
    url = engine.url.render_as_string(hide_password=False)
    processes = [
        subprocess.Popen(
            [sys.executable, '-c', CREATE, url],
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    assert SqlLedger(engine).report(MEMBER).has_changed


@pytest.mark.parametrize(
    'column',
    [
        'vobjects_members.seen_generation',
        'vobjects_ledger.swept_at',  # builds before the first release lack it
    ],
)
def test_create_tables_rejects_tables_that_no_release_made(
    engine: sqlalchemy.Engine, column: str
) -> None:
    create_tables(engine)
    with engine.begin() as connection:
        operations = Operations(MigrationContext.configure(connection))
        operations.drop_column(*column.split('.'))
    with pytest.raises(exceptions.FleetError, match=f'lack {column}: .*drop'):
        create_tables(engine)


def test_create_tables_adds_what_the_first_release_lacked(
    engine: sqlalchemy.Engine,
) -> None:
    with engine.begin() as connection:
        operations = Operations(MigrationContext.configure(connection))
        migrations.expand(operations, 1, members=MEMBERS, state=STATE)
    create_tables(engine)
    assert differences(engine, LedgerTables().metadata) == []
    hold = SqlLedger(engine).hold('engine', 'alice')
    assert hold.hold_origin is not None


@pytest.mark.parametrize(
    ('done', 'lacking', 'steps'),
    [
        ([], 'members, ledger', '1 and 2'),
        ([1], 'ledger.hold_origin, ledger.clock_token', '2'),
    ],
)
def test_report_when_a_step_is_missing_then_error_names_it(
    engine: sqlalchemy.Engine, done: list[int], lacking: str, steps: str
) -> None:
    tables = LedgerTables(members='members', state='ledger')
    with engine.begin() as connection:
        operations = Operations(MigrationContext.configure(connection))
        for step in done:
            migrations.expand(
                operations, step, members='members', state='ledger'
            )
    ledger = SqlLedger(engine, LedgerStatements(tables))
    with pytest.raises(
        exceptions.NoLivePeer, match=f'lack {lacking}: .* with step {steps}$'
    ):
        ledger.report(MEMBER)


def test_report_when_the_database_fails_then_no_step_is_named(
    tmp_path: pathlib.Path,
) -> None:
    engine = sqlalchemy.create_engine(f'sqlite:///{tmp_path}/none/db.sqlite')
    with pytest.raises(exceptions.NoLivePeer, match=r'fails: [^;]*$'):
        SqlLedger(engine).report(MEMBER)


def test_step_that_does_not_exist_is_rejected() -> None:
    engine = sqlalchemy.create_engine('sqlite://')
    with engine.connect() as connection:
        operations = Operations(MigrationContext.configure(connection))
        with pytest.raises(ValueError, match='the newest is 2'):
            migrations.expand(operations, 3)
    engine.dispose()
