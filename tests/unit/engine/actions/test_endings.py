# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import datetime
from typing import Any

import pytest

from engine.actions import endings
from engine.db import models
from tests.unit.engine import asks, fleet
from vobjects.clustering.requests import clusters, nodes


def be_late(world: fleet.World, kind: str) -> None:
    """Put the deadline of all actions of a kind into the past."""

    def body(session: Any) -> None:
        for row in session.query(models.Action).filter_by(action=kind):
            row.deadline = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)

    world.database.write(body)


def test_action_that_takes_too_long_is_failed_with_the_reason(
    any_world: fleet.World,
) -> None:
    engine = any_world.engine()
    node = asks.node(engine, run=False)
    job = engine.scheduler.claim()
    assert job is not None
    be_late(any_world, 'NODE_CREATE')
    engine.reaper.sweep()
    any_world.assert_at_rest()
    (action,) = any_world.rows(models.Action)
    assert (action.status, action.status_reason) == (
        'FAILED',
        'not done within 3600 seconds',
    )
    shown = asks.show_node(engine, node)
    assert shown.status == 'ERROR'
    job.perform()
    assert asks.show_node(engine, node).status == 'ERROR'


def test_timeout_of_a_parent_ends_its_children_with_it(
    any_world: fleet.World,
) -> None:
    engine = any_world.engine()
    cluster = asks.cluster(engine, 2, run=False, timeout=7)
    assert engine.work(1) == 1
    running = engine.scheduler.claim()
    assert running is not None
    be_late(any_world, 'CLUSTER_CREATE')
    engine.reaper.sweep()
    any_world.assert_at_rest()
    assert any_world.statuses('NODE_CREATE') == ['FAILED', 'FAILED']
    assert any_world.statuses('CLUSTER_CREATE') == ['FAILED']
    assert engine.work() == 0
    shown = asks.show_cluster(engine, cluster)
    assert shown.status == 'ERROR'
    assert 'not done within 7 seconds' in shown.status_reason


def test_children_must_be_done_when_their_parent_must(
    world: fleet.World,
) -> None:
    engine = world.engine()
    asks.cluster(engine, 2, run=False)
    engine.work(1)
    deadlines = {row.deadline for row in world.rows(models.Action)}
    assert len(deadlines) == 1


@pytest.mark.parametrize('steps', [0, 1, 2, 3])
def test_forced_deletion_of_a_cluster_ends_what_is_in_its_way(
    any_world: fleet.World, steps: int
) -> None:
    engine = any_world.engine()
    cluster = asks.cluster(engine, 2, run=False)
    engine.work(steps)
    stuck = engine.scheduler.claim()
    assert stuck is not None
    engine.ask(clusters.ClusterDeleteRequest(identity=cluster, force=True))
    engine.work()
    any_world.assert_at_rest()
    assert any_world.statuses('CLUSTER_DELETE') == ['SUCCEEDED']
    assert any_world.count(models.Cluster) == 0
    stuck.perform()
    any_world.assert_at_rest()
    assert any_world.count(models.SimulatedServer) == 0


def test_forced_deletion_of_a_node_ends_what_is_in_its_way(
    world: fleet.World,
) -> None:
    engine = world.engine()
    node = asks.node(engine, run=False)
    stuck = engine.scheduler.claim()
    assert stuck is not None
    engine.ask(nodes.NodeDeleteRequest(identity=node, force=True))
    engine.work()
    assert world.statuses('NODE_DELETE') == ['SUCCEEDED']
    assert world.statuses('NODE_CREATE') == ['CANCELLED']
    stuck.perform()
    world.assert_at_rest()
    assert world.count(models.SimulatedServer) == 0


def test_forced_deletion_of_a_member_does_not_wait_for_its_cluster(
    world: fleet.World,
) -> None:
    engine = world.engine()
    cluster = asks.cluster(engine, 2, run=False)
    engine.work(1)
    stuck = engine.scheduler.claim()
    assert stuck is not None
    member = stuck.action.target
    engine.ask(nodes.NodeDeleteRequest(identity=member, force=True))
    engine.work()
    world.assert_at_rest()
    shown = asks.show_cluster(engine, cluster)
    assert len(shown.nodes) == 1
    assert world.statuses('CLUSTER_CREATE') == ['FAILED']
    assert world.statuses('NODE_CREATE') == ['CANCELLED', 'SUCCEEDED']


def test_end_of_what_has_ended_changes_nothing(world: fleet.World) -> None:
    engine = world.engine()
    asks.node(engine)
    (action,) = world.rows(models.Action)
    assert not world.database.write(
        lambda session: endings.end(engine.run, session, action.id, 'CANCEL')
    )
    assert world.statuses('NODE_CREATE') == ['SUCCEEDED']


def test_cancelled_before_it_began_leaves_its_target_alone(
    world: fleet.World,
) -> None:
    engine = world.engine()
    node = asks.node(engine)
    action = engine.ask(nodes.NodeCheckRequest(identity=node)).action
    world.database.write(
        lambda session: endings.end(engine.run, session, action, 'CANCEL')
    )
    assert asks.show_node(engine, node).status == 'ACTIVE'
    row = world.row(models.Action, action)
    assert (row.status, row.status_reason) == (
        'CANCELLED',
        'cancelled by request',
    )
