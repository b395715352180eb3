# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys

from alembic import autogenerate
from alembic.runtime import migration

from engine.db import database, migrations, models, services
from tests.unit.engine.conftest import configuration

SYNC = """
import sys
from oslo_config import cfg
from engine import conf as engine_conf
from engine.db import database, migrations
conf = cfg.ConfigOpts()
engine_conf.register(conf)
conf([], default_config_files=[])
conf.set_override('connection', sys.argv[1], 'database')
target = database.Database(conf)
migrations.sync(target)
print(migrations.current(target))
"""


def test_sync_leads_to_the_tables_of_the_models(
    any_database: database.Database,
) -> None:
    with any_database.engine.connect() as connection:
        context = migration.MigrationContext.configure(connection)
        difference = autogenerate.compare_metadata(
            context, models.Base.metadata
        )
    assert difference == []


def test_sync_when_repeated_changes_nothing(
    any_database: database.Database,
) -> None:
    ledger = services.DatabaseLedger(any_database)
    ledger.finalize()
    migrations.sync(any_database)
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
        output, error = process.communicate(timeout=60)
        assert output.strip() == migrations.head(), error


def test_database_is_behind_until_it_is_migrated(any_url: str) -> None:
    target = database.Database(configuration(any_url))
    assert migrations.current(target) is None
    assert migrations.is_behind(target)
    migrations.sync(target)
    assert migrations.current(target) == migrations.head()
    assert not migrations.is_behind(target)
    with target.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE alembic_version SET version_num = 'of a newer release'"
        )
    assert not migrations.is_behind(target)
    target.close()
