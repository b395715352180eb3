# SPDX-License-Identifier: Apache-2.0
"""Nodes that go after a grace period, or after somebody was told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.db import models
from tests import sink
from tests.unit.engine import asks, fleet
from vobjects.clustering import consts, errors
from vobjects.clustering.requests import actions, clusters, nodes, policies

WAITING = consts.WAITING_LIFECYCLE


@pytest.fixture
def hook() -> Iterator[sink.Sink]:
    with sink.served() as found:
        yield found


def webhook(called: sink.Sink, timeout: int = 3600) -> dict[str, Any]:
    params = {'url': called.url}
    return {'type': 'webhook', 'params': params, 'timeout': timeout}


def cluster(
    engine: fleet.Engine,
    size: int = 2,
    *,
    version: str = '1.1',
    **properties: Any,
) -> None:
    """Create cluster c with a deletion policy."""
    asks.cluster(engine, size)
    spec = {
        'type': 'senlin.policy.deletion',
        'version': version,
        'properties': properties,
    }
    engine.ask(policies.PolicyCreateRequest(name='p', spec=spec))
    engine.ask(
        policies.ClusterAttachPolicyRequest(identity='c', policy_id='p')
    )
    engine.work()


def scale_in(engine: fleet.Engine, count: int = 1) -> str:
    request = clusters.ClusterScaleInRequest(identity='c', count=count)
    found: str = engine.ask(request).action
    engine.work()
    return found


def complete(engine: fleet.Engine, token: str, **more: Any) -> None:
    identity = more.pop('identity', 'c')
    request = clusters.ClusterCompleteLifecycleRequest(
        identity=identity, lifecycle_action_token=token
    )
    assert engine.ask(request, **more).action == token


def time_passes(world: fleet.World) -> None:
    """Let everything be due that waits for a time."""

    def body(session: Any) -> None:
        for action in session.query(models.Action):
            action.not_before = None

    world.database.write(body)


def removals(world: fleet.World, kind: str = 'NODE_DELETE') -> list[Any]:
    return [row for row in world.rows(models.Action) if row.action == kind]


def size(world: fleet.World) -> int:
    return sum(row.cluster_id is not None for row in world.rows(models.Node))


def test_node_waits_until_it_is_let_go(
    any_world: fleet.World, hook: sink.Sink
) -> None:
    engine = any_world.engine()
    cluster(engine, hooks=webhook(hook))
    parent = scale_in(engine)
    (removal,) = removals(any_world)
    assert removal.status == WAITING
    assert removal.cause == consts.CAUSE_DERIVED_HOOK
    assert removal.owner is None
    node = any_world.row(models.Node, removal.target)
    assert node.status == 'ACTIVE'
    assert hook.posted == [
        {
            'lifecycle_action_token': removal.id,
            'lifecycle_transition_type': 'termination',
            'node_id': node.id,
            'resource_id': node.physical_id,
            'cluster_id': removal.cluster_id,
        }
    ]
    assert engine.work() == 0
    complete(engine, removal.id)
    engine.work()
    assert any_world.row(models.Action, parent).status == 'SUCCEEDED'
    assert any_world.row(models.Node, node.id) is None
    any_world.assert_at_rest()
    complete(engine, removal.id)  # it may come twice


def test_node_goes_when_its_time_is_over(
    any_world: fleet.World, hook: sink.Sink
) -> None:
    engine = any_world.engine()
    cluster(engine, 3, hooks=webhook(hook))
    scale_in(engine, 2)
    assert [one.status for one in removals(any_world)] == [WAITING] * 2
    time_passes(any_world)
    engine.work()
    assert size(any_world) == 1
    assert len(hook.posted) == 2
    any_world.assert_at_rest()


def test_no_time_to_wait_is_no_wait(
    world: fleet.World, hook: sink.Sink
) -> None:
    engine = world.engine()
    cluster(engine, hooks=webhook(hook, timeout=0))
    scale_in(engine)
    assert len(hook.posted) == 1
    assert size(world) == 1
    world.assert_at_rest()


@pytest.mark.parametrize('destroy', [True, False])
def test_members_that_are_removed_wait_as_well(
    world: fleet.World, hook: sink.Sink, destroy: bool
) -> None:
    engine = world.engine()
    cluster(engine, destroy_after_deletion=destroy, hooks=webhook(hook))
    first, _ = asks.show_cluster(engine, 'c').nodes
    engine.ask(clusters.ClusterDelNodesRequest(identity='c', nodes=[first]))
    engine.work()
    kind = 'NODE_DELETE' if destroy else 'NODE_LEAVE'
    (removal,) = removals(world, kind)
    assert (removal.target, removal.status) == (first, WAITING)
    complete(engine, removal.id)
    engine.work()
    assert size(world) == 1
    assert (world.row(models.Node, first) is None) == destroy
    world.assert_at_rest()


def test_node_that_a_user_deletes_waits_as_well(
    world: fleet.World, hook: sink.Sink
) -> None:
    engine = world.engine()
    cluster(engine, grace_period=3600, hooks=webhook(hook))
    first, _ = asks.show_cluster(engine, 'c').nodes
    token = engine.ask(nodes.NodeDeleteRequest(identity=first)).action
    engine.work()
    assert world.row(models.Action, token).status == 'READY'
    assert hook.posted == []
    time_passes(world)
    engine.work()
    assert world.row(models.Action, token).status == WAITING
    complete(engine, token)
    engine.work()
    assert world.row(models.Action, token).status == 'SUCCEEDED'
    assert asks.show_cluster(engine, 'c').desired_capacity == 1
    world.assert_at_rest()


def test_node_that_may_not_go_is_not_told_of(
    world: fleet.World, hook: sink.Sink
) -> None:
    engine = world.engine()
    cluster(engine, hooks=webhook(hook))
    first, _ = asks.show_cluster(engine, 'c').nodes
    token = engine.ask(nodes.NodeDeleteRequest(identity=first)).action

    def need_all(session: Any) -> None:
        session.query(models.Cluster).one().min_size = 2

    world.database.write(need_all)
    engine.work()
    assert world.row(models.Action, token).status == 'FAILED'
    assert hook.posted == []
    assert asks.show_node(engine, first).status == 'ACTIVE'
    world.assert_at_rest()


@pytest.mark.parametrize('version', ['1.0', '1.1'])
def test_queue_is_told(world: fleet.World, version: str) -> None:
    engine = world.engine()
    hooks = {'params': {'queue': 'q'}, 'timeout': '60'}
    cluster(engine, version=version, hooks=hooks)
    scale_in(engine)
    (removal,) = removals(world)
    assert removal.status == WAITING
    claim = engine.run.queues.claim('ours', 'q')
    (message,) = claim.messages
    assert message.body['lifecycle_action_token'] == removal.id
    assert engine.run.queues.claim('theirs', 'q').messages == []


def test_hook_that_fails_is_told_again_and_then_waited_for(
    world: fleet.World, hook: sink.Sink
) -> None:
    engine = world.engine()
    cluster(engine, hooks=webhook(hook))
    hook.statuses = [500, 302, 404]
    scale_in(engine)
    for attempt in (1, 2):
        (removal,) = removals(world)
        assert removal.status == 'READY'
        assert 'answered' in removal.status_reason
        assert len(hook.posted) == attempt
        time_passes(world)
        engine.work()
    (removal,) = removals(world)
    assert removal.status == WAITING
    assert 'the webhook answered 404' in removal.status_reason
    complete(engine, removal.id)
    engine.work()
    assert size(world) == 1
    world.assert_at_rest()


def test_who_is_told_may_answer_before_the_call_is_over(
    world: fleet.World, hook: sink.Sink
) -> None:
    engine = world.engine()
    other = world.engine(name='two')
    cluster(engine, hooks=webhook(hook))
    hook.on_call = lambda told: complete(other, told['lifecycle_action_token'])
    scale_in(engine)
    assert size(world) == 1
    world.assert_at_rest()


def test_engine_that_dies_while_it_tells_has_another_tell(
    world: fleet.World, hook: sink.Sink
) -> None:
    engine = world.engine()
    cluster(engine, hooks=webhook(hook))

    def die(told: Any) -> None:
        world.silence(engine)

    hook.on_call = die
    request = clusters.ClusterScaleInRequest(identity='c')
    engine.ask(request)
    for _ in range(2):  # the parent; then a claim that nobody works on
        job = engine.scheduler.claim()
        assert job is not None
        if job.action.action == 'CLUSTER_SCALE_IN':
            job.perform()
            engine.scheduler.finish(job)
    hook.on_call = lambda told: None
    world.bury(engine)
    other = world.engine(name='two')
    other.work()
    (removal,) = removals(world)
    assert removal.status == WAITING
    complete(other, removal.id)
    other.work()
    assert size(world) == 1
    world.assert_at_rest()


def test_node_that_does_not_work_is_not_told_of(
    world: fleet.World, hook: sink.Sink
) -> None:
    engine = world.engine()
    cluster(engine, hooks=webhook(hook))

    def break_one(session: Any) -> None:
        session.query(models.Node).first().status = 'ERROR'

    world.database.write(break_one)
    scale_in(engine)
    assert hook.posted == []
    assert size(world) == 1
    world.assert_at_rest()


@pytest.mark.parametrize('waits_for', ['grace', 'hook'])
def test_cancelled_removal_leaves_the_node_as_it_is(
    world: fleet.World, hook: sink.Sink, waits_for: str
) -> None:
    engine = world.engine()
    waits: dict[str, Any] = {'grace_period': 3600}
    if waits_for == 'hook':
        waits = {'hooks': webhook(hook)}
    cluster(engine, **waits)
    parent = scale_in(engine)
    engine.ask(
        actions.ActionUpdateRequest(identity=parent, status='CANCELLED')
    )
    world.assert_at_rest()
    assert [one.status for one in removals(world)] == ['CANCELLED']
    assert {row.status for row in world.rows(models.Node)} == {'ACTIVE'}
    assert size(world) == 2


def test_forced_deletion_does_not_wait(
    world: fleet.World, hook: sink.Sink
) -> None:
    engine = world.engine()
    cluster(engine, hooks=webhook(hook))
    parent = scale_in(engine)
    engine.ask(clusters.ClusterDeleteRequest(identity='c', force=True))
    engine.work()
    assert world.row(models.Action, parent).status == 'CANCELLED'
    assert world.count(models.Cluster) == 0
    world.assert_at_rest()


def test_waiting_is_not_counted_against_the_time_of_the_action(
    world: fleet.World, hook: sink.Sink
) -> None:
    engine = world.engine()
    week = 7 * 24 * 3600
    cluster(engine, grace_period=week, hooks=webhook(hook, timeout=week))
    parent = scale_in(engine)
    for row in (world.row(models.Action, parent), *removals(world)):
        started = world.row(models.Action, parent).start_time
        assert row.deadline.timestamp() == pytest.approx(
            started + row.timeout + 2 * week, abs=1
        )


def test_only_the_clusters_own_waiting_nodes_are_let_go(
    world: fleet.World, hook: sink.Sink
) -> None:
    engine = world.engine()
    cluster(engine, hooks=webhook(hook))
    asks.cluster(engine, 0, name='other')
    asks.cluster(engine, 0, name='theirs', context=fleet.caller('theirs'))
    scale_in(engine)
    (removal,) = removals(world)
    for token, more in (
        ('none', {}),
        (removal.id[:8], {}),
        (removal.id, {'identity': 'other'}),
        (
            removal.id,
            {'identity': 'theirs', 'context': fleet.caller('theirs')},
        ),
    ):
        with pytest.raises(errors.ResourceNotFound, match='The action'):
            complete(engine, token, **more)
    assert removals(world)[0].status == WAITING


def test_action_that_waits_for_nobody_is_left_as_it_is(
    world: fleet.World, hook: sink.Sink
) -> None:
    engine = world.engine()
    cluster(engine, hooks=webhook(hook))
    parent = scale_in(engine)
    before = world.row(models.Action, parent).status
    complete(engine, parent)
    assert world.row(models.Action, parent).status == before
    assert removals(world)[0].status == WAITING
