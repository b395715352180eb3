# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import datetime
import importlib.metadata
import pathlib
from collections.abc import Iterator

import pytest
import sqlalchemy
from oslo_config import cfg

from engine import service
from engine.db import database, migrations, models, schema_phase
from engine.db.ledger import OutdatedError, open_ledger
from tests.unit.engine.conftest import configuration, url_of
from tests.unit.engine.db import chains
from vobjects.clustering import topics
from vobjects.objects.manifest import Manifest
from vobjects.rpc import conf as rpc_conf
from vobjects.rpc import fleet

OURS = importlib.metadata.version('vobjects')

ENGINE = fleet.Member(
    id=models.new_id(),
    binary='vobjects-engine',
    host='one',
    topic=topics.ENGINE,
    release='0.0.0a1',
    manifest=Manifest({'Thing': '1.0'}),
)


@pytest.fixture
def target(any_url: str) -> Iterator[database.Database]:
    """A database of this release, on each backend in turn."""
    target = database.Database(configuration(any_url))
    migrations.expand(target)
    yield target
    target.close()


@pytest.fixture
def conf(target: database.Database) -> cfg.ConfigOpts:
    """Its configuration."""
    conf = configuration(url_of(target))
    rpc_conf.register(conf)
    # However slow the machine is, a heartbeat is no old one.
    conf.set_override('heartbeat_interval', 600.0, 'fleet')
    return conf


@pytest.fixture
def newer(tmp_path: pathlib.Path) -> schema_phase.Chains:
    """The revisions of the next release."""
    return chains.next_release(tmp_path)


def columns(target: database.Database) -> set[str]:
    """Return the columns of nodes."""
    with target.engine.connect() as connection:
        columns = sqlalchemy.inspect(connection).get_columns('nodes')
    return {column['name'] for column in columns}


def test_upgrade_passes_all_phases(
    target: database.Database, conf: cfg.ConfigOpts, newer: schema_phase.Chains
) -> None:
    assert schema_phase.phase_of(target) is schema_phase.Phase.UP_TO_DATE
    assert schema_phase.phase_of(target, newer) is schema_phase.Phase.EXPAND
    with migrations.locked(target) as connection:
        migrations.upgrade(connection, newer.expand)
    assert schema_phase.phase_of(target, newer) is schema_phase.Phase.CONTRACT
    assert schema_phase.phase_of(target) is schema_phase.Phase.UP_TO_DATE
    assert {'role', 'duty'} <= columns(target)
    schema_phase.contract(target, conf, newer)
    assert (
        schema_phase.phase_of(target, newer) is schema_phase.Phase.UP_TO_DATE
    )
    assert columns(target) & {'role', 'duty'} == {'duty'}
    schema_phase.contract(target, conf, newer)
    assert schema_phase.phase_of(target) is schema_phase.Phase.TOO_NEW
    with pytest.raises(service.SchemaError, match='newer release'):
        service.check_schema(target)


def test_contract_before_expand_is_rejected(
    target: database.Database, conf: cfg.ConfigOpts, newer: schema_phase.Chains
) -> None:
    with pytest.raises(schema_phase.NotExpandedError):
        schema_phase.contract(target, conf, newer)


def test_contract_of_an_empty_database_is_rejected(any_url: str) -> None:
    target = database.Database(configuration(any_url))
    assert schema_phase.phase_of(target) is schema_phase.Phase.EXPAND
    with pytest.raises(schema_phase.NotExpandedError):
        schema_phase.contract(target, configuration(any_url))
    target.close()


@pytest.mark.parametrize('release', ['0.0.0a1', 'home-made', '0.0.0.dev5'])
def test_contract_waits_for_older_engines(
    target: database.Database,
    conf: cfg.ConfigOpts,
    newer: schema_phase.Chains,
    release: str,
) -> None:
    with migrations.locked(target) as connection:
        migrations.upgrade(connection, newer.expand)
    ledger = open_ledger(target)
    ledger.report(dataclasses.replace(ENGINE, release=release))
    with pytest.raises(schema_phase.OlderEnginesError, match=release):
        schema_phase.contract(target, conf, newer)
    assert schema_phase.phase_of(target, newer) is schema_phase.Phase.CONTRACT
    ledger.leave(ENGINE.id)
    schema_phase.contract(target, conf, newer)
    assert 'role' not in columns(target)


@pytest.mark.parametrize(
    'change',
    [{'release': OURS}, {'release': '99.0'}, {'topic': topics.API}],
    ids=['as new', 'newer', 'no engine'],
)
def test_contract_does_not_wait_for_current_engines_or_apis(
    target: database.Database,
    conf: cfg.ConfigOpts,
    newer: schema_phase.Chains,
    change: dict[str, str],
) -> None:
    with migrations.locked(target) as connection:
        migrations.upgrade(connection, newer.expand)
    open_ledger(target).report(dataclasses.replace(ENGINE, **change))
    schema_phase.contract(target, conf, newer)
    assert (
        schema_phase.phase_of(target, newer) is schema_phase.Phase.UP_TO_DATE
    )


def test_contract_does_not_wait_for_dead_engines(
    target: database.Database, conf: cfg.ConfigOpts, newer: schema_phase.Chains
) -> None:
    with migrations.locked(target) as connection:
        migrations.upgrade(connection, newer.expand)
    open_ledger(target).report(ENGINE)
    with target.engine.begin() as connection:
        connection.execute(
            sqlalchemy.update(models.LEDGER.members).values(
                heartbeat=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
            )
        )
    schema_phase.contract(target, conf, newer)
    # It was only asleep: its heartbeat does not make it one of the fleet.
    with pytest.raises(OutdatedError):
        open_ledger(target).report(ENGINE)


def test_older_engine_is_not_admitted_after_a_contraction(
    target: database.Database, conf: cfg.ConfigOpts, newer: schema_phase.Chains
) -> None:
    with migrations.locked(target) as connection:
        migrations.upgrade(connection, newer.expand)
    schema_phase.contract(target, conf, newer)
    older = open_ledger(target)
    with pytest.raises(OutdatedError, match='c900'):
        older.report(ENGINE)
    assert older.members(9) == []
    ledger = open_ledger(target, newer.contract)
    ledger.report(ENGINE)
    assert [member.id for member in ledger.members(9)] == [ENGINE.id]
