# SPDX-License-Identifier: Apache-2.0
"""An engine dies at any moment; another one finishes what it began."""

from __future__ import annotations

import itertools
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import asks, conftest, fleet
from vobjects.clustering.requests import clusters, nodes

#: Something asked for -> what is there when it is done: nodes, servers.
Scenario = Callable[[fleet.Engine], None]


def create(engine: fleet.Engine) -> None:
    asks.cluster(engine, 2, run=False)


def shrink(engine: fleet.Engine) -> None:
    cluster = asks.cluster(engine, 3)
    engine.ask(clusters.ClusterScaleInRequest(identity=cluster))


def recover(engine: fleet.Engine) -> None:
    cluster = asks.cluster(engine, 2)
    member = asks.show_cluster(engine, cluster).nodes[0]
    engine.run.provider.servers.delete(
        asks.show_node(engine, member).physical_id
    )
    engine.ask(clusters.ClusterRecoverRequest(identity=cluster, check=True))


def update(engine: fleet.Engine) -> None:
    cluster = asks.cluster(engine, 2)
    engine.ask(
        clusters.ClusterUpdateRequest(
            identity=cluster,
            profile_id=asks.profile(
                engine, 'newer', properties={'flavor': 'm1.large'}
            ),
        )
    )


def add_node(engine: fleet.Engine) -> None:
    cluster = asks.cluster(engine, 1)
    engine.ask(
        nodes.NodeCreateRequest(name='n', profile_id='p', cluster_id=cluster)
    )


@pytest.fixture(params=[create, shrink, recover, update, add_node])
def scenario(request: pytest.FixtureRequest) -> Scenario:
    """Each leads to a cluster of two nodes that are well."""
    found: Scenario = request.param
    return found


def assert_two_are_well(world: fleet.World, engine: fleet.Engine) -> None:
    world.assert_at_rest()
    (cluster,) = world.rows(models.Cluster)
    shown = asks.show_cluster(engine, cluster.id)
    assert (shown.status, len(shown.nodes)) == ('ACTIVE', 2)
    members = [asks.show_node(engine, id_) for id_ in shown.nodes]
    assert [member.status for member in members] == ['ACTIVE', 'ACTIVE']
    servers = {row.id: row for row in world.rows(models.SimulatedServer)}
    assert {member.physical_id for member in members} == set(servers)
    assert {
        row.status for row in world.rows(models.Action) if row.id == shown.id
    } <= {'SUCCEEDED'}


def test_death_at_any_transaction_changes_nothing_in_the_end(
    world: fleet.World, scenario: Scenario, tmp_path: pathlib.Path
) -> None:
    scenario(world.engine(name='first'))
    for lives in itertools.count():
        again = conftest.copy_of(world, tmp_path / f'{lives}.sqlite')
        mortal = fleet.MortalDatabase(again.conf)
        victim = again.engine(mortal, name='victim')
        mortal.lives = lives
        try:
            victim.work()
        except fleet.CrashError:
            again.bury(victim)
        survived = mortal.lives >= 0
        heir = again.engine(name='heir')
        heir.work()
        assert_two_are_well(again, heir)
        mortal.close()
        again.database.close()
        if survived:
            break
    assert lives >= 3


def test_death_of_one_engine_after_the_other_changes_nothing_in_the_end(
    world: fleet.World,
) -> None:
    world.conf.set_override('max_attempts', 1000, 'engine')
    mortal = fleet.MortalDatabase(world.conf)
    first = world.engine(name='first')
    create(first)
    for deaths in itertools.count():
        victim = world.engine(mortal, name='victim')
        # Enough lives, now and then, to get one step further.
        mortal.lives, mortal.dies_within = deaths % 4, deaths % 3 == 0
        try:
            victim.work()
        except fleet.CrashError:
            world.bury(victim)
        else:
            break
        finally:
            mortal.lives = None
    mortal.close()
    assert deaths > 3
    assert_two_are_well(world, first)


@pytest.mark.parametrize('operation', ['create', 'delete'])
@pytest.mark.parametrize('moment', ['before', 'after'])
def test_death_around_an_operation_of_the_cloud_leaves_no_server_behind(
    any_world: fleet.World, operation: str, moment: str
) -> None:
    victim = any_world.engine()
    cluster = asks.cluster(victim, 2, run=operation == 'delete')
    if operation == 'delete':
        victim.ask(clusters.ClusterDeleteRequest(identity=cluster))
    options: dict[str, Any] = {moment: operation}
    victim.die_in(**options)
    any_world.bury(victim)
    heir = any_world.engine(name='heir')
    heir.work()
    any_world.assert_at_rest()
    expected = 2 if operation == 'create' else 0
    assert any_world.count(models.Node) == expected
    assert any_world.count(models.SimulatedServer) == expected


def test_action_that_kills_its_engines_is_failed_with_the_reason(
    world: fleet.World,
) -> None:
    world.conf.set_override('max_attempts', 3, 'engine')
    victim = world.engine(name='a')
    node = asks.node(victim, run=False)
    for name in 'bcd':
        victim.die_in(before='create')
        world.bury(victim)
        victim = world.engine(name=name)
    assert victim.work() == 0
    world.assert_at_rest()
    (action,) = world.rows(models.Action)
    assert action.status == 'FAILED'
    assert f'{victim.member.binary}' in action.status_reason
    assert 'host-c died' in action.status_reason
    shown = asks.show_node(victim, node)
    assert shown.status == 'ERROR'
    assert 'died' in shown.status_reason


def test_engine_taken_for_dead_stops_working_on_what_it_lost(
    any_world: fleet.World,
) -> None:
    slow = any_world.engine(name='slow')
    asks.node(slow, run=False)
    job = slow.scheduler.claim()
    assert job is not None
    any_world.bury(slow)
    heir = any_world.engine(name='heir')
    assert heir.work() == 1
    before = any_world.rows(models.Action)[0]
    job.perform()
    after = any_world.rows(models.Action)[0]
    assert (after.status, after.owner) == ('SUCCEEDED', None)
    assert after.updated_at == before.updated_at
    assert any_world.count(models.SimulatedServer) == 1


def test_engine_taken_for_dead_claims_nothing(world: fleet.World) -> None:
    slow = world.engine(name='slow')
    asks.node(slow, run=False)
    world.bury(slow)
    assert slow.work() == 0
    slow.ledger.report(slow.member)
    assert slow.work() == 1
