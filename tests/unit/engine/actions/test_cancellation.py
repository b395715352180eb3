# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import datetime
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import orm

from engine.actions import cancellation, node_policies, node_steps
from engine.db import models
from engine.providers import base
from tests import waiting
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.test_scheduler import at_rest
from vobjects.clustering import errors
from vobjects.clustering.requests import actions, clusters, nodes
from vobjects_simulated import servers, tables


def be_late(harness: Harness, action_type: str) -> None:
    """Put the deadline of all actions of a action_type into the past."""

    def body(session: Any) -> None:
        for row in session.query(models.Action).filter_by(action=action_type):
            row.deadline = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)

    harness.database.write(body)


def test_overdue_action_fails_with_timeout(any_harness: Harness) -> None:
    engine = any_harness.engine()
    node = request_helpers.create_node(engine, run=False)
    run = engine.scheduler.claim()
    assert run is not None
    be_late(any_harness, 'NODE_CREATE')
    engine.reaper.sweep()
    any_harness.assert_idle()
    (action,) = any_harness.rows(models.Action)
    assert (action.status, action.status_reason) == (
        'FAILED',
        'not done within 3600 seconds',
    )
    shown = request_helpers.get_node(engine, node)
    assert shown.status == 'ERROR'
    run.perform()
    assert request_helpers.get_node(engine, node).status == 'ERROR'


def test_timeout_of_a_parent_ends_its_children_with_it(
    any_harness: Harness,
) -> None:
    engine = any_harness.engine()
    cluster = request_helpers.create_cluster(engine, 2, run=False, timeout=7)
    assert engine.run_actions(1) == 1
    running = engine.scheduler.claim()
    assert running is not None
    be_late(any_harness, 'CLUSTER_CREATE')
    engine.reaper.sweep()
    any_harness.assert_idle()
    assert any_harness.statuses('NODE_CREATE') == ['FAILED', 'FAILED']
    assert any_harness.statuses('CLUSTER_CREATE') == ['FAILED']
    assert engine.run_actions() == 0
    shown = request_helpers.get_cluster(engine, cluster)
    assert shown.status == 'ERROR'
    assert 'not done within 7 seconds' in shown.status_reason


def test_children_have_the_deadline_of_their_parent(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 2, run=False)
    engine.run_actions(1)
    deadlines = {row.deadline for row in harness.rows(models.Action)}
    assert len(deadlines) == 1


@pytest.mark.parametrize('steps', [0, 1, 2, 3])
def test_forced_cluster_deletion_cancels_blocking_actions(
    any_harness: Harness, steps: int
) -> None:
    engine = any_harness.engine()
    cluster = request_helpers.create_cluster(engine, 2, run=False)
    engine.run_actions(steps)
    blocked_run = engine.scheduler.claim()
    assert blocked_run is not None
    engine.run(clusters.ClusterDeleteRequest(identity=cluster, force=True))
    any_harness.assert_idle()
    assert any_harness.statuses('CLUSTER_DELETE') == ['SUCCEEDED']
    assert any_harness.count(models.Cluster) == 0
    blocked_run.perform()
    any_harness.assert_idle()
    assert any_harness.count(tables.SimulatedServer) == 0


def test_forced_node_deletion_cancels_blocking_actions(
    harness: Harness, engine: Engine
) -> None:
    node = request_helpers.create_node(engine, run=False)
    blocked_run = engine.scheduler.claim()
    assert blocked_run is not None
    engine.run(nodes.NodeDeleteRequest(identity=node, force=True))
    assert harness.statuses('NODE_DELETE') == ['SUCCEEDED']
    assert harness.statuses('NODE_CREATE') == ['CANCELLED']
    blocked_run.perform()
    harness.assert_idle()
    assert harness.count(tables.SimulatedServer) == 0


@pytest.mark.parametrize('fails', [False, True])
def test_creation_after_the_search_of_a_forced_deletion_leaves_no_server(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    engine, other = harness.engine(), harness.engine(name='two')
    node = request_helpers.create_node(engine, run=False)
    creation = engine.scheduler.claim()
    assert creation is not None
    has_searched, may_end = threading.Event(), threading.Event()
    create, find = (
        servers.SimulatedServers.create,
        servers.SimulatedServers.find,
    )

    def delete_and_create(*arguments: Any) -> Any:
        other.call(nodes.NodeDeleteRequest(identity=node, force=True))
        deletion.start()
        assert has_searched.wait(60)
        server = create(*arguments)
        if fails:
            raise base.ProviderError('no response')
        return server

    def find_and_wait(*arguments: Any) -> Any:
        server = find(*arguments)
        if threading.current_thread() is deletion:
            has_searched.set()
            assert may_end.wait(60)
        return server

    deletion = threading.Thread(target=other.run_actions)
    monkeypatch.setattr(servers.SimulatedServers, 'create', delete_and_create)
    monkeypatch.setattr(servers.SimulatedServers, 'find', find_and_wait)
    creation.perform()
    may_end.set()
    deletion.join()
    harness.assert_idle()
    assert harness.statuses('NODE_DELETE') == ['SUCCEEDED']
    assert harness.count(models.Node) == 0
    assert harness.count(tables.SimulatedServer) == 0


def test_forced_deletion_of_a_member_does_not_wait_for_its_cluster(
    harness: Harness, engine: Engine
) -> None:
    cluster = request_helpers.create_cluster(engine, 2, run=False)
    engine.run_actions(1)
    blocked_run = engine.scheduler.claim()
    assert blocked_run is not None
    member = blocked_run.action.target
    engine.run(nodes.NodeDeleteRequest(identity=member, force=True))
    harness.assert_idle()
    shown = request_helpers.get_cluster(engine, cluster)
    assert len(shown.nodes) == 1
    assert harness.statuses('CLUSTER_CREATE') == ['FAILED']
    assert harness.statuses('NODE_CREATE') == ['CANCELLED', 'SUCCEEDED']


def test_end_tree_of_ended_action_changes_nothing(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_node(engine)
    (action,) = harness.rows(models.Action)
    assert not harness.database.write(
        lambda session: cancellation.end_tree(
            engine.runtime, session, action.id, 'CANCEL'
        )
    )
    assert harness.statuses('NODE_CREATE') == ['SUCCEEDED']


def test_cancel_before_start_leaves_target_unchanged(
    harness: Harness, engine: Engine
) -> None:
    node = request_helpers.create_node(engine)
    action = engine.call(nodes.NodeCheckRequest(identity=node)).action
    harness.database.write(
        lambda session: cancellation.end_tree(
            engine.runtime, session, action, 'CANCEL'
        )
    )
    assert request_helpers.get_node(engine, node).status == 'ACTIVE'
    row = harness.row(models.Action, action)
    assert (row.status, row.status_reason) == (
        'CANCELLED',
        'cancelled by request',
    )


def cancel(engine: Engine, action: str) -> None:
    request = actions.ActionUpdateRequest(identity=action, status='CANCELLED')
    engine.call(request)


def assert_sizes_agree(harness: Harness) -> None:
    """Assert that each cluster's desired capacity is its size."""
    for cluster in harness.rows(models.Cluster):
        members = [
            node
            for node in harness.rows(models.Node)
            if node.cluster_id == cluster.id
        ]
        assert cluster.desired_capacity == len(members), cluster.status


#: Requests that create cloud objects, on a cluster or a node.
CREATIONS: dict[str, Callable[[str, str], Any]] = {
    'node create': lambda cluster, node: nodes.NodeCreateRequest(
        name='new', profile_id='p', cluster_id=cluster
    ),
    'cluster create': lambda cluster, node: clusters.ClusterCreateRequest(
        name='new', profile_id='p', desired_capacity=2
    ),
    'scale out': lambda cluster, node: clusters.ClusterScaleOutRequest(
        identity=cluster, count=2
    ),
    'resize': lambda cluster, node: clusters.ClusterResizeRequest(
        identity=cluster, adjustment_type='EXACT_CAPACITY', number=3
    ),
    'node recover': lambda cluster, node: nodes.NodeRecoverRequest(
        identity=node, operation='RECREATE'
    ),
    'cluster recover': lambda cluster, node: clusters.ClusterRecoverRequest(
        identity=cluster, operation='RECREATE'
    ),
}

#: Functions before or after whose call the action ends.
MOMENTS = {
    'begun': (node_steps, 'begin', 'after'),
    'asked': (servers.SimulatedServers, 'create', 'before'),
    'created': (servers.SimulatedServers, 'create', 'after'),
    'announced': (node_policies, 'add_node', 'after'),
}


@pytest.mark.parametrize('cause', ['CANCEL', 'TIMEOUT'])
@pytest.mark.parametrize('moment', MOMENTS)
@pytest.mark.parametrize('creation', CREATIONS)
def test_nodes_have_the_objects_of_creations_that_end_meanwhile(
    harness: Harness,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    creation: str,
    moment: str,
    cause: str,
) -> None:
    request_helpers.create_profile(engine)
    cluster = request_helpers.create_cluster(engine, 1, profile_id='p')
    (member,) = request_helpers.get_cluster(engine, cluster).nodes
    harness.database.write(
        lambda session: session.execute(
            sqlalchemy.update(models.Node).values(status='ERROR')
        )
    )
    accepted = engine.call(CREATIONS[creation](cluster, member))
    owner, name, when = MOMENTS[moment]
    original = getattr(owner, name)

    def end() -> None:
        monkeypatch.setattr(owner, name, original)
        harness.database.write(
            lambda session: cancellation.end_tree(
                engine.runtime, session, accepted.action, cause
            )
        )

    def call(*arguments: Any, **options: Any) -> Any:
        if when == 'before':
            end()
        result = original(*arguments, **options)
        if when == 'after':
            end()
        return result

    monkeypatch.setattr(owner, name, call)
    engine.run_actions()
    harness.assert_idle()
    assert getattr(owner, name) is original
    row = harness.row(models.Action, accepted.action)
    assert row.status == ('CANCELLED' if cause == 'CANCEL' else 'FAILED')
    servers_of_nodes = {row.physical_id for row in harness.rows(models.Node)}
    running = {row.id for row in harness.rows(tables.SimulatedServer)}
    assert running <= servers_of_nodes
    for row in harness.rows(models.Cluster):
        engine.call(clusters.ClusterDeleteRequest(identity=row.id))
    engine.run_actions()
    assert harness.count(models.Node) == 0
    assert harness.count(tables.SimulatedServer) == 0


@pytest.mark.parametrize('deleted', [0, 1])
def test_cancelled_scale_in_sets_desired_capacity_to_remaining_nodes(
    any_harness: Harness, deleted: int
) -> None:
    engine = any_harness.engine()
    request_helpers.create_cluster(engine, 3)
    scaling = engine.call(
        clusters.ClusterScaleInRequest(identity='c', count=3)
    )
    engine.run_actions(1 + deleted)
    cancel(engine, scaling.action)
    shown = request_helpers.get_cluster(engine, 'c')
    assert (shown.status, len(shown.nodes)) == ('ERROR', 3 - deleted)
    assert_sizes_agree(any_harness)
    any_harness.assert_idle()


@pytest.mark.parametrize('deleted', [0, 1, 3])
@pytest.mark.parametrize('status', ['ACTIVE', 'ERROR'])
def test_cancelled_deletion_sets_desired_capacity_to_remaining_nodes(
    any_harness: Harness, deleted: int, status: str
) -> None:
    engine = any_harness.engine()
    id_ = request_helpers.create_cluster(engine, 3)

    def mark(session: orm.Session) -> None:
        cluster = session.get(models.Cluster, id_)
        assert cluster is not None
        cluster.status = status

    def delay(session: orm.Session) -> None:
        for row in session.query(models.Action).filter_by(status='READY'):
            row.not_before = datetime.datetime(9999, 1, 1, tzinfo=datetime.UTC)

    any_harness.database.write(mark)
    engine.call(clusters.ClusterScaleInRequest(identity='c', count=3))
    engine.run_actions(1)
    any_harness.database.write(delay)  # the deletion overtakes the children
    request = clusters.ClusterDeleteRequest(identity='c', force=True)
    deletion = engine.call(request).action
    engine.run_actions(1 + deleted)
    assert any_harness.statuses('CLUSTER_SCALE_IN') == ['CANCELLED']
    cancel(engine, deletion)
    shown = request_helpers.get_cluster(engine, 'c')
    assert (shown.status, len(shown.nodes)) == ('ERROR', 3 - deleted)
    assert_sizes_agree(any_harness)
    engine.run(clusters.ClusterCheckRequest(identity='c'))
    shown = request_helpers.get_cluster(engine, 'c')
    assert shown.status == 'ACTIVE'
    assert shown.desired_capacity == 3 - deleted
    any_harness.assert_idle()


def test_failed_deletion_sets_desired_capacity_to_remaining_nodes(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 3)
    engine.call(clusters.ClusterDeleteRequest(identity='c'))
    engine.run_actions(2)  # the first node is gone
    harness.conf.set_override('failure_rate', 1.0, 'simulated')
    engine.run_actions()
    assert harness.statuses('CLUSTER_DELETE') == ['FAILED']
    assert len(request_helpers.get_cluster(engine, 'c').nodes) == 2
    assert_sizes_agree(harness)


def test_deletion_cancelled_at_any_moment_keeps_sizes_consistent(
    any_harness: Harness,
) -> None:
    dice = random.Random(7)
    any_harness.conf.set_override('latency', 0.005, 'simulated')
    calls = any_harness.cloud.servers.calls

    def wait_for_calls(count: int) -> None:
        """Wait until the cloud got some more calls, or all is done."""
        end = len(calls) + count
        waiting.eventually(lambda: len(calls) >= end or at_rest(any_harness))

    engines = [any_harness.engine(name=name) for name in ('one', 'two')]
    for engine in engines:
        engine.scheduler.start()
    profile = request_helpers.create_profile(engines[0])
    for turn in range(12):
        engine, other = engines[turn % 2], engines[1 - turn % 2]
        cluster = request_helpers.create_cluster(
            engine, 3, run=False, name=f'c{turn}', profile_id=profile
        )
        waiting.eventually(lambda: at_rest(any_harness))
        request = clusters.ClusterScaleInRequest(identity=cluster, count=3)
        begun = [engine.call(request).action]
        wait_for_calls(dice.randrange(4))
        with contextlib.suppress(errors.ResourceNotFound):
            forced = clusters.ClusterDeleteRequest(
                identity=cluster, force=True
            )
            begun.append(other.call(forced).action)
        wait_for_calls(dice.randrange(4))
        for action in reversed(begun):
            with contextlib.suppress(errors.ActionImmutable):
                cancel(other, action)
        waiting.eventually(lambda: at_rest(any_harness))
        assert_sizes_agree(any_harness)
    for engine in engines:
        engine.scheduler.stop(60)
    any_harness.assert_idle()
