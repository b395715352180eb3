# SPDX-License-Identifier: Apache-2.0
"""An engine dies at any moment; another one finishes what it began."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from oslo_config import cfg

from engine.db import database, models
from tests.unit.engine import conftest, engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering.requests import clusters, nodes
from vobjects_simulated import tables

#: Request -> expected numbers of nodes and servers afterwards.
Scenario = Callable[[Engine], None]


def create(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 2, run=False)


def shrink(engine: Engine) -> None:
    cluster = request_helpers.create_cluster(engine, 3)
    engine.call(clusters.ClusterScaleInRequest(identity=cluster))


def recover(engine: Engine) -> None:
    cluster = request_helpers.create_cluster(engine, 2)
    member = request_helpers.get_cluster(engine, cluster).nodes[0]
    engine.runtime.provider.servers.delete(
        request_helpers.get_node(engine, member).physical_id
    )
    engine.call(clusters.ClusterRecoverRequest(identity=cluster, check=True))


def update(engine: Engine) -> None:
    cluster = request_helpers.create_cluster(engine, 2)
    engine.call(
        clusters.ClusterUpdateRequest(
            identity=cluster,
            profile_id=request_helpers.create_profile(
                engine, 'newer', properties={'flavor': 'm1.large'}
            ),
        )
    )


def add_node(engine: Engine) -> None:
    cluster = request_helpers.create_cluster(engine, 1)
    engine.call(
        nodes.NodeCreateRequest(name='n', profile_id='p', cluster_id=cluster)
    )


@pytest.fixture(params=[create, shrink, recover, update, add_node])
def scenario(request: pytest.FixtureRequest) -> Scenario:
    """Each leads to a cluster of two nodes that are well."""
    steps: Scenario = request.param
    return steps


@pytest.fixture(scope='module')
def crashing_database(
    sqlite_database: database.Database,
) -> Iterator[engine_harness.CrashingDatabase]:
    """The database of the harness, for an engine that crashes."""
    url = conftest.url_of(sqlite_database)
    target = engine_harness.CrashingDatabase(conftest.configuration(url))
    yield target
    target.close()


@pytest.fixture
def crashing(
    crashing_database: engine_harness.CrashingDatabase, conf: cfg.ConfigOpts
) -> engine_harness.CrashingDatabase:
    """A database without rows that crashes its engine on demand."""
    crashing_database.transactions_left = None
    crashing_database.crashes_in_transaction = False
    return crashing_database


def assert_two_are_well(harness: Harness, engine: Engine) -> None:
    harness.assert_idle()
    (cluster,) = harness.rows(models.Cluster)
    shown = request_helpers.get_cluster(engine, cluster.id)
    assert (shown.status, len(shown.nodes)) == ('ACTIVE', 2)
    members = [request_helpers.get_node(engine, id_) for id_ in shown.nodes]
    assert [member.status for member in members] == ['ACTIVE', 'ACTIVE']
    servers = {row.id: row for row in harness.rows(tables.SimulatedServer)}
    assert {member.physical_id for member in members} == set(servers)
    assert {
        row.status for row in harness.rows(models.Action) if row.id == shown.id
    } <= {'SUCCEEDED'}


def test_crash_at_any_transaction_has_the_same_result(
    harness: Harness,
    crashing: engine_harness.CrashingDatabase,
    scenario: Scenario,
) -> None:
    scenario(harness.engine(name='first'))
    snapshot = conftest.snapshot_of(harness.database)
    for transactions in itertools.count():
        conftest.restore(harness.database, snapshot)
        victim = harness.engine(crashing, name='victim')
        crashing.transactions_left = transactions
        try:
            victim.run_actions()
        except engine_harness.CrashError:
            harness.detect_death(victim)
        survived = crashing.transactions_left >= 0
        crashing.transactions_left = None
        heir = harness.engine(name='heir')
        heir.run_actions()
        assert_two_are_well(harness, heir)
        if survived:
            break
    snapshot.close()
    assert transactions >= 3


def test_repeated_crashes_have_the_same_result(
    harness: Harness, crashing: engine_harness.CrashingDatabase
) -> None:
    harness.conf.set_override('max_attempts', 1000, 'engine')
    first = harness.engine(name='first')
    create(first)
    for deaths in itertools.count():
        victim = harness.engine(crashing, name='victim')
        # Enough transactions, now and then, to get one step further.
        crashing.transactions_left, crashing.crashes_in_transaction = (
            deaths % 4,
            deaths % 3 == 0,
        )
        try:
            victim.run_actions()
        except engine_harness.CrashError:
            harness.detect_death(victim)
        else:
            break
        finally:
            crashing.transactions_left = None
    assert deaths > 3
    assert_two_are_well(harness, first)


@pytest.mark.parametrize('operation', ['create', 'delete'])
@pytest.mark.parametrize('moment', ['before', 'after'])
def test_crash_around_cloud_operation_leaks_no_server(
    any_harness: Harness, operation: str, moment: str
) -> None:
    victim = any_harness.engine()
    cluster = request_helpers.create_cluster(
        victim, 2, run=operation == 'delete'
    )
    if operation == 'delete':
        victim.call(clusters.ClusterDeleteRequest(identity=cluster))
    options: dict[str, Any] = {moment: operation}
    victim.run_until_crash(**options)
    any_harness.detect_death(victim)
    heir = any_harness.engine(name='heir')
    heir.run_actions()
    any_harness.assert_idle()
    expected = 2 if operation == 'create' else 0
    assert any_harness.count(models.Node) == expected
    assert any_harness.count(tables.SimulatedServer) == expected


def test_action_that_crashes_engines_repeatedly_fails(
    harness: Harness,
) -> None:
    harness.conf.set_override('max_attempts', 3, 'engine')
    victim = harness.engine(name='a')
    node = request_helpers.create_node(victim, run=False)
    for name in 'bcd':
        victim.run_until_crash(before='create')
        harness.detect_death(victim)
        victim = harness.engine(name=name)
    assert victim.run_actions() == 0
    harness.assert_idle()
    (action,) = harness.rows(models.Action)
    assert action.status == 'FAILED'
    assert f'{victim.member.binary}' in action.status_reason
    assert 'host-c died' in action.status_reason
    shown = request_helpers.get_node(victim, node)
    assert shown.status == 'ERROR'
    assert 'died' in shown.status_reason


def test_expired_engine_stops_running_lost_actions(
    any_harness: Harness,
) -> None:
    slow = any_harness.engine(name='slow')
    request_helpers.create_node(slow, run=False)
    run = slow.scheduler.claim()
    assert run is not None
    any_harness.detect_death(slow)
    heir = any_harness.engine(name='heir')
    assert heir.run_actions() == 1
    before = any_harness.rows(models.Action)[0]
    run.perform()
    after = any_harness.rows(models.Action)[0]
    assert (after.status, after.owner) == ('SUCCEEDED', None)
    assert after.updated_at == before.updated_at
    assert any_harness.count(tables.SimulatedServer) == 1


def test_expired_engine_claims_nothing(harness: Harness) -> None:
    slow = harness.engine(name='slow')
    request_helpers.create_node(slow, run=False)
    harness.detect_death(slow)
    assert slow.run_actions() == 0
    slow.ledger.report(slow.member)
    assert slow.run_actions() == 1
