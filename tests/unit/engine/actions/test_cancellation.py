# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import datetime
import random
import time
from typing import Any

import pytest
from sqlalchemy import orm

from engine.actions import cancellation
from engine.db import models
from tests.unit.engine import asks, fleet
from tests.unit.engine.test_scheduler import at_rest, wait_until
from vobjects.clustering import errors
from vobjects.clustering.requests import actions, clusters, nodes


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
        lambda session: cancellation.end(
            engine.run, session, action.id, 'CANCEL'
        )
    )
    assert world.statuses('NODE_CREATE') == ['SUCCEEDED']


def test_cancelled_before_it_began_leaves_its_target_alone(
    world: fleet.World,
) -> None:
    engine = world.engine()
    node = asks.node(engine)
    action = engine.ask(nodes.NodeCheckRequest(identity=node)).action
    world.database.write(
        lambda session: cancellation.end(engine.run, session, action, 'CANCEL')
    )
    assert asks.show_node(engine, node).status == 'ACTIVE'
    row = world.row(models.Action, action)
    assert (row.status, row.status_reason) == (
        'CANCELLED',
        'cancelled by request',
    )


def cancel(engine: fleet.Engine, action: str) -> None:
    request = actions.ActionUpdateRequest(identity=action, status='CANCELLED')
    engine.ask(request)


def assert_sizes_agree(world: fleet.World) -> None:
    """Every cluster is meant to have the nodes that it has."""
    for cluster in world.rows(models.Cluster):
        members = [
            node
            for node in world.rows(models.Node)
            if node.cluster_id == cluster.id
        ]
        assert cluster.desired_capacity == len(members), cluster.status


@pytest.mark.parametrize('deleted', [0, 1])
def test_cancelled_shrinking_leaves_the_nodes_wanted_that_stay(
    any_world: fleet.World, deleted: int
) -> None:
    engine = any_world.engine()
    asks.cluster(engine, 3)
    scaling = engine.ask(clusters.ClusterScaleInRequest(identity='c', count=3))
    engine.work(1 + deleted)
    cancel(engine, scaling.action)
    shown = asks.show_cluster(engine, 'c')
    assert (shown.status, len(shown.nodes)) == ('ERROR', 3 - deleted)
    assert_sizes_agree(any_world)
    any_world.assert_at_rest()


@pytest.mark.parametrize('deleted', [0, 1, 3])
@pytest.mark.parametrize('status', ['ACTIVE', 'ERROR'])
def test_cancelled_deletion_leaves_the_nodes_wanted_that_stay(
    any_world: fleet.World, deleted: int, status: str
) -> None:
    engine = any_world.engine()
    id_ = asks.cluster(engine, 3)

    def mark(session: orm.Session) -> None:
        cluster = session.get(models.Cluster, id_)
        assert cluster is not None
        cluster.status = status

    def delay(session: orm.Session) -> None:
        for row in session.query(models.Action).filter_by(status='READY'):
            row.not_before = datetime.datetime(9999, 1, 1, tzinfo=datetime.UTC)

    any_world.database.write(mark)
    engine.ask(clusters.ClusterScaleInRequest(identity='c', count=3))
    engine.work(1)
    any_world.database.write(delay)  # the deletion overtakes the children
    request = clusters.ClusterDeleteRequest(identity='c', force=True)
    deletion = engine.ask(request).action
    engine.work(1 + deleted)
    assert any_world.statuses('CLUSTER_SCALE_IN') == ['CANCELLED']
    cancel(engine, deletion)
    shown = asks.show_cluster(engine, 'c')
    assert (shown.status, len(shown.nodes)) == ('ERROR', 3 - deleted)
    assert_sizes_agree(any_world)
    engine.ask(clusters.ClusterCheckRequest(identity='c'))
    engine.work()
    shown = asks.show_cluster(engine, 'c')
    assert shown.status == 'ACTIVE'
    assert shown.desired_capacity == 3 - deleted
    any_world.assert_at_rest()


def test_failed_deletion_leaves_the_nodes_wanted_that_stay(
    world: fleet.World,
) -> None:
    engine = world.engine()
    asks.cluster(engine, 3)
    engine.ask(clusters.ClusterDeleteRequest(identity='c'))
    engine.work(2)  # the first node is gone
    world.conf.set_override('failure_rate', 1.0, 'simulated')
    engine.work()
    assert world.statuses('CLUSTER_DELETE') == ['FAILED']
    assert len(asks.show_cluster(engine, 'c').nodes) == 2
    assert_sizes_agree(world)


def test_deletions_cancelled_at_any_moment_leave_sizes_that_agree(
    any_world: fleet.World,
) -> None:
    dice = random.Random(7)
    any_world.conf.set_override('latency', 0.005, 'simulated')
    engines = [any_world.engine(name=name) for name in ('one', 'two')]
    for engine in engines:
        engine.scheduler.start()
    profile = asks.profile(engines[0])
    for turn in range(12):
        engine, other = engines[turn % 2], engines[1 - turn % 2]
        cluster = asks.cluster(
            engine, 3, run=False, name=f'c{turn}', profile_id=profile
        )
        wait_until(lambda: at_rest(any_world))
        request = clusters.ClusterScaleInRequest(identity=cluster, count=3)
        begun = [engine.ask(request).action]
        time.sleep(dice.uniform(0, 0.03))
        with contextlib.suppress(errors.ResourceNotFound):
            forced = clusters.ClusterDeleteRequest(
                identity=cluster, force=True
            )
            begun.append(other.ask(forced).action)
        time.sleep(dice.uniform(0, 0.05))
        for action in reversed(begun):
            with contextlib.suppress(errors.ActionImmutable):
                cancel(other, action)
        wait_until(lambda: at_rest(any_world))
        assert_sizes_agree(any_world)
    for engine in engines:
        engine.scheduler.stop(60)
    any_world.assert_at_rest()
