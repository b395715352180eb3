# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest
from alembic import autogenerate, script
from alembic.runtime import migration

from engine.db import database, migrations, models, schema_phase
from engine.db.ledger import open_ledger
from tests.unit.engine.conftest import configuration, copy_of
from tests.unit.engine.db import chains, schema_compat
from tests.unit.engine.engine_harness import Harness

SYNC = """
import sys
from oslo_config import cfg
from engine import conf as engine_conf
from engine.db import database, migrations, schema_phase
from vobjects_simulated import tables  # noqa: F401 - adds its tables
conf = cfg.ConfigOpts()
engine_conf.register(conf)
conf([], default_config_files=[])
conf.set_override('connection', sys.argv[1], 'database')
target = database.Database(conf)
migrations.expand(target)
print(migrations.current(target))
"""


def test_sync_creates_the_tables_of_the_models(
    any_database: database.Database,
) -> None:
    with any_database.engine.connect() as connection:
        context = migration.MigrationContext.configure(connection)
        difference = autogenerate.compare_metadata(
            context, models.Base.metadata
        )
    assert difference == [], (
        'add_...: write a revision in engine/db/migrations/versions;'
        ' remove_...: declare it in engine/db/models'
    )


def test_sync_when_repeated_changes_nothing(
    any_database: database.Database,
) -> None:
    ledger = open_ledger(any_database)
    ledger.finalize()
    migrations.expand(any_database)
    assert ledger.get().generation == 1


def test_sync_by_processes_that_start_together_succeeds_in_each(
    any_url: str,
) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, '-c', SYNC, any_url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        output, error = process.communicate(timeout=600)
        assert output.strip() == migrations.head(), error


def test_database_is_behind_until_it_is_migrated(any_url: str) -> None:
    target = database.Database(configuration(any_url))
    assert migrations.current(target) is None
    assert migrations.is_behind(target)
    migrations.expand(target)
    assert migrations.current(target) == migrations.head()
    assert not migrations.is_behind(target)
    with target.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE alembic_version SET version_num = 'e999'"
        )
    assert not migrations.is_behind(target)
    # The older of two releases has nothing to add.
    migrations.expand(target)
    assert migrations.current(target) == 'e999'
    target.close()


@pytest.mark.parametrize('revision', ['014', 'e001', 'e9', 'f003', '9' * 32])
def test_database_with_an_unknown_revision_is_rejected(
    harness: Harness, tmp_path: pathlib.Path, revision: str
) -> None:
    target = copy_of(harness, tmp_path / 'engine.sqlite').database
    with target.engine.begin() as connection:
        connection.exec_driver_sql(
            f"UPDATE alembic_version SET version_num = '{revision}'"
        )
    with pytest.raises(
        migrations.UnknownRevisionError, match='Restore a backup'
    ):
        migrations.expand(target)
    assert migrations.current(target) == revision
    target.close()


@pytest.mark.parametrize('damage', ['DROP TABLE', 'DELETE FROM'])
def test_database_with_tables_but_no_revision_is_rejected(
    harness: Harness, tmp_path: pathlib.Path, damage: str
) -> None:
    target = copy_of(harness, tmp_path / 'engine.sqlite').database
    with target.engine.begin() as connection:
        connection.exec_driver_sql(f'{damage} alembic_version')
        connection.exec_driver_sql('DROP TABLE locks')
    for command in (
        migrations.expand,
        migrations.is_behind,
        schema_phase.require_expanded,
    ):
        with pytest.raises(
            migrations.UnknownRevisionError, match=r'but no revision.*Restore'
        ):
            command(target)
    assert schema_phase.phase_of(target) is schema_phase.Phase.UNKNOWN
    target.close()


def test_database_with_tables_of_others_is_expanded(any_url: str) -> None:
    target = database.Database(configuration(any_url))
    with target.engine.begin() as connection:
        connection.exec_driver_sql('CREATE TABLE cluster (id INTEGER)')
    migrations.expand(target)
    assert migrations.current(target) == migrations.head()
    target.close()


def test_revisions_are_numbered_so_that_newer_ones_are_recognized() -> None:
    for letter, chain in (
        ('e', migrations.EXPAND),
        ('c', migrations.CONTRACT),
    ):
        numbers = [
            int(revision.removeprefix(letter)) for revision in chain.revisions
        ]
        assert numbers == sorted(numbers, reverse=True)
        assert chain.revisions == tuple(f'{letter}{n:03}' for n in numbers)
        newest = numbers[0] if numbers else 0
        assert chain.is_newer(f'{letter}{newest + 1:03}')


@pytest.mark.parametrize(
    'chain',
    [migrations.EXPAND, migrations.CONTRACT],
    ids=['expand', 'contract'],
)
def test_revisions_follow_one_another(chain: migrations.Chain) -> None:
    directory = script.ScriptDirectory(
        str(pathlib.Path(migrations.__file__).parent),
        version_locations=[str(chain.directory)],
    )
    revisions = list(directory.walk_revisions())
    # The names of the modules have them in the order of alembic.
    assert chain.revisions == tuple(each.revision for each in revisions)
    for revision in revisions:
        assert not revision.is_merge_point
        assert not revision.is_branch_point
    assert len(directory.get_bases()) <= 1


def test_expanding_revisions_keep_older_programs_working(
    any_url: str, tmp_path: pathlib.Path
) -> None:
    """Also with one more revision, so that there is always an older one."""
    chain = chains.next_release(tmp_path).expand
    target = database.Database(configuration(any_url))
    schemas = []
    for revision in reversed(chain.revisions):
        with target.engine.connect() as connection:
            schemas.append(schema_compat.reflect(connection))
        with migrations.locked(target) as connection:
            migrations.upgrade(connection, chain, revision)
        with target.engine.connect() as connection:
            restrictions = schema_compat.restrictions(connection, schemas[-1])
            assert restrictions == [], f'{revision} does not only add'
    assert 'nodes' in schemas[-1].tables
    with target.engine.begin() as connection:
        for schema in schemas:
            schema_compat.write(connection, schema)
    target.close()


@pytest.mark.parametrize(
    ('body', 'finding'),
    [
        ("op.drop_column('nodes', 'role')", 'role'),
        ("op.drop_table('events')", 'events'),
        ("op.rename_table('locks', 'holds')", 'locks'),
        ("op.drop_index('ix_events_timestamp', 'events')", 'timestamp'),
        (
            "op.create_index('one', 'nodes', ['name'], unique=True)",
            'one is new and limits nodes',
        ),
        (
            "op.add_column('nodes', sa.Column('duty', sa.Text(),"
            ' nullable=False))',
            'nodes.duty is new',
        ),
        (
            "with op.batch_alter_table('nodes') as nodes:\n"
            "    nodes.alter_column('role', existing_type=sa.String(255),"
            ' nullable=False)',
            'modify_nullable of nodes.role',
        ),
        (
            "with op.batch_alter_table('nodes') as nodes:\n"
            "    nodes.alter_column('role', existing_type=sa.String(255),"
            ' type_=sa.String(10))',
            'modify_type of nodes.role',
        ),
    ],
)
def test_expanding_revision_that_restricts_is_found(
    harness: Harness, tmp_path: pathlib.Path, body: str, finding: str
) -> None:
    restrictions = _restrictions(harness, tmp_path, body)
    assert any(finding in restriction for restriction in restrictions)


@pytest.mark.parametrize(
    'body',
    [
        "op.create_table('teams', sa.Column('id', sa.Integer(),"
        ' primary_key=True))\n'
        "op.create_index('one', 'teams', ['id'], unique=True)",
        "op.create_index('some', 'nodes', ['role'])",
        "op.add_column('nodes', sa.Column('n', sa.Integer(), nullable=False,"
        " server_default='1'))",
        "with op.batch_alter_table('nodes') as nodes:\n"
        "    nodes.alter_column('name', existing_type=sa.String(255),"
        ' type_=sa.String(300), nullable=True)',
    ],
)
def test_expanding_revision_that_only_adds_passes(
    harness: Harness, tmp_path: pathlib.Path, body: str
) -> None:
    assert _restrictions(harness, tmp_path, body) == []


def _restrictions(
    harness: Harness, directory: pathlib.Path, body: str
) -> list[str]:
    """Return what a revision after the newest one restricts."""
    chain = chains.copied(migrations.EXPAND, directory / 'chain')
    chains.add(chain, 'e900', body)
    target = copy_of(harness, directory / 'engine.sqlite').database
    with target.engine.connect() as connection:
        before = schema_compat.reflect(connection)
    with migrations.locked(target) as connection:
        migrations.upgrade(connection, chain)
    with target.engine.connect() as connection:
        restrictions = schema_compat.restrictions(connection, before)
    target.close()
    return restrictions


def test_engine_is_loaded_without_alembic() -> None:
    code = 'import sys, engine.service; sys.exit("alembic" in sys.modules)'
    subprocess.run([sys.executable, '-W', 'ignore', '-c', code], check=True)
