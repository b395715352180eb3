# SPDX-License-Identifier: Apache-2.0
"""Deletion of nodes after a grace period or a lifecycle hook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.db import models
from tests import webhook_server
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering import consts, errors
from vobjects.clustering.requests import actions, clusters, nodes, policies

WAITING = consts.WAITING_LIFECYCLE


@pytest.fixture
def hook() -> Iterator[webhook_server.WebhookServer]:
    with webhook_server.running() as server:
        yield server


@pytest.fixture
def engine(harness: Harness, hook: webhook_server.WebhookServer) -> Engine:
    """An engine with cluster c, whose deletion policy has the webhook."""
    engine = harness.engine()
    create_cluster(engine, hooks=webhook(hook))
    return engine


def webhook(
    called: webhook_server.WebhookServer, timeout: int = 3600
) -> dict[str, Any]:
    params = {'url': called.url}
    return {'type': 'webhook', 'params': params, 'timeout': timeout}


def create_cluster(
    engine: Engine, size: int = 2, *, version: str = '1.1', **properties: Any
) -> None:
    """Create cluster c with a deletion policy."""
    request_helpers.create_cluster(engine, size)
    spec = {
        'type': 'senlin.policy.deletion',
        'version': version,
        'properties': properties,
    }
    engine.call(policies.PolicyCreateRequest(name='p', spec=spec))
    engine.run(
        policies.ClusterAttachPolicyRequest(identity='c', policy_id='p')
    )


def scale_in(engine: Engine, count: int = 1) -> str:
    request = clusters.ClusterScaleInRequest(identity='c', count=count)
    action: str = engine.run(request).action
    return action


def complete(engine: Engine, token: str, **more: Any) -> None:
    identity = more.pop('identity', 'c')
    request = clusters.ClusterCompleteLifecycleRequest(
        identity=identity, lifecycle_action_token=token
    )
    assert engine.call(request, **more).action == token


def end_waits(harness: Harness) -> None:
    """Make all actions due that wait for a time."""
    harness.change(models.Action, not_before=None)


def removals(harness: Harness, kind: str = 'NODE_DELETE') -> list[Any]:
    return [row for row in harness.rows(models.Action) if row.action == kind]


def size(harness: Harness) -> int:
    return sum(row.cluster_id is not None for row in harness.rows(models.Node))


def test_node_waits_until_lifecycle_is_completed(
    any_harness: Harness, hook: webhook_server.WebhookServer
) -> None:
    engine = any_harness.engine()
    create_cluster(engine, hooks=webhook(hook))
    parent = scale_in(engine)
    (removal,) = removals(any_harness)
    assert removal.status == WAITING
    assert removal.cause == consts.CAUSE_DERIVED_HOOK
    assert removal.owner is None
    node = any_harness.row(models.Node, removal.target)
    assert node.status == 'ACTIVE'
    assert hook.bodies == [
        {
            'lifecycle_action_token': removal.id,
            'lifecycle_transition_type': 'termination',
            'node_id': node.id,
            'resource_id': node.physical_id,
            'cluster_id': removal.cluster_id,
        }
    ]
    assert engine.run_actions() == 0
    complete(engine, removal.id)
    engine.run_actions()
    assert any_harness.row(models.Action, parent).status == 'SUCCEEDED'
    assert any_harness.row(models.Node, node.id) is None
    any_harness.assert_idle()
    complete(engine, removal.id)  # it may come twice


def test_node_is_removed_after_hook_timeout(
    any_harness: Harness, hook: webhook_server.WebhookServer
) -> None:
    engine = any_harness.engine()
    create_cluster(engine, 3, hooks=webhook(hook))
    scale_in(engine, 2)
    assert [action.status for action in removals(any_harness)] == [WAITING] * 2
    end_waits(any_harness)
    engine.run_actions()
    assert size(any_harness) == 1
    assert len(hook.bodies) == 2
    any_harness.assert_idle()


def test_hook_without_timeout_does_not_wait(
    harness: Harness, hook: webhook_server.WebhookServer
) -> None:
    engine = harness.engine()
    create_cluster(engine, hooks=webhook(hook, timeout=0))
    scale_in(engine)
    assert len(hook.bodies) == 1
    assert size(harness) == 1
    harness.assert_idle()


@pytest.mark.parametrize('destroy', [True, False])
def test_removed_members_wait_for_hook(
    harness: Harness, hook: webhook_server.WebhookServer, destroy: bool
) -> None:
    engine = harness.engine()
    create_cluster(engine, destroy_after_deletion=destroy, hooks=webhook(hook))
    first, _ = request_helpers.get_cluster(engine, 'c').nodes
    engine.run(clusters.ClusterDelNodesRequest(identity='c', nodes=[first]))
    kind = 'NODE_DELETE' if destroy else 'NODE_LEAVE'
    (removal,) = removals(harness, kind)
    assert (removal.target, removal.status) == (first, WAITING)
    complete(engine, removal.id)
    engine.run_actions()
    assert size(harness) == 1
    assert (harness.row(models.Node, first) is None) == destroy
    harness.assert_idle()


def test_node_deletion_by_user_waits_for_hook(
    harness: Harness, hook: webhook_server.WebhookServer
) -> None:
    engine = harness.engine()
    create_cluster(engine, grace_period=3600, hooks=webhook(hook))
    first, _ = request_helpers.get_cluster(engine, 'c').nodes
    token = engine.run(nodes.NodeDeleteRequest(identity=first)).action
    assert harness.row(models.Action, token).status == 'READY'
    assert hook.bodies == []
    end_waits(harness)
    engine.run_actions()
    assert harness.row(models.Action, token).status == WAITING
    complete(engine, token)
    engine.run_actions()
    assert harness.row(models.Action, token).status == 'SUCCEEDED'
    assert request_helpers.get_cluster(engine, 'c').desired_capacity == 1
    harness.assert_idle()


def test_hook_is_not_notified_when_minimum_size_forbids_removal(
    harness: Harness, hook: webhook_server.WebhookServer, engine: Engine
) -> None:
    first, _ = request_helpers.get_cluster(engine, 'c').nodes
    token = engine.call(nodes.NodeDeleteRequest(identity=first)).action
    harness.change(models.Cluster, min_size=2)
    engine.run_actions()
    assert harness.row(models.Action, token).status == 'FAILED'
    assert hook.bodies == []
    assert request_helpers.get_node(engine, first).status == 'ACTIVE'
    harness.assert_idle()


@pytest.mark.parametrize('version', ['1.0', '1.1'])
def test_hook_message_is_posted_to_queue(
    harness: Harness, version: str
) -> None:
    engine = harness.engine()
    hooks = {'params': {'queue': 'q'}, 'timeout': '60'}
    create_cluster(engine, version=version, hooks=hooks)
    scale_in(engine)
    (removal,) = removals(harness)
    assert removal.status == WAITING
    claim = engine.runtime.queues.claim('ours', 'q')
    (message,) = claim.messages
    assert message.body['lifecycle_action_token'] == removal.id
    assert engine.runtime.queues.claim('theirs', 'q').messages == []


def test_failing_hook_is_notified_again_then_times_out(
    harness: Harness, hook: webhook_server.WebhookServer, engine: Engine
) -> None:
    hook.statuses = [500, 302, 404]
    scale_in(engine)
    for attempt in (1, 2):
        (removal,) = removals(harness)
        assert removal.status == 'READY'
        assert 'answered' in removal.status_reason
        assert len(hook.bodies) == attempt
        end_waits(harness)
        engine.run_actions()
    (removal,) = removals(harness)
    assert removal.status == WAITING
    assert 'the webhook answered 404' in removal.status_reason
    complete(engine, removal.id)
    engine.run_actions()
    assert size(harness) == 1
    harness.assert_idle()


def test_lifecycle_completed_during_notification_is_kept(
    harness: Harness, hook: webhook_server.WebhookServer, engine: Engine
) -> None:
    other = harness.engine(name='two')
    hook.on_request = lambda request: complete(
        other, request['lifecycle_action_token']
    )
    scale_in(engine)
    assert size(harness) == 1
    harness.assert_idle()


def test_notification_is_repeated_when_engine_dies(
    harness: Harness, hook: webhook_server.WebhookServer, engine: Engine
) -> None:

    def die(request: Any) -> None:
        harness.expire_heartbeat(engine)

    hook.on_request = die
    request = clusters.ClusterScaleInRequest(identity='c')
    engine.call(request)
    for _ in range(2):  # the parent; then a claim without a worker
        job = engine.scheduler.claim()
        assert job is not None
        if job.action.action == 'CLUSTER_SCALE_IN':
            job.perform()
            engine.scheduler.finish(job)
    hook.on_request = lambda request: None
    harness.detect_death(engine)
    other = harness.engine(name='two')
    other.run_actions()
    (removal,) = removals(harness)
    assert removal.status == WAITING
    complete(other, removal.id)
    other.run_actions()
    assert size(harness) == 1
    harness.assert_idle()


def test_hook_is_not_notified_of_inactive_node(
    harness: Harness, hook: webhook_server.WebhookServer, engine: Engine
) -> None:

    def break_one(session: Any) -> None:
        session.query(models.Node).first().status = 'ERROR'

    harness.database.write(break_one)
    scale_in(engine)
    assert hook.bodies == []
    assert size(harness) == 1
    harness.assert_idle()


@pytest.mark.parametrize('waits_for', ['grace', 'hook'])
def test_cancelled_removal_leaves_node_unchanged(
    harness: Harness, hook: webhook_server.WebhookServer, waits_for: str
) -> None:
    engine = harness.engine()
    waits: dict[str, Any] = {'grace_period': 3600}
    if waits_for == 'hook':
        waits = {'hooks': webhook(hook)}
    create_cluster(engine, **waits)
    parent = scale_in(engine)
    engine.call(
        actions.ActionUpdateRequest(identity=parent, status='CANCELLED')
    )
    harness.assert_idle()
    assert [action.status for action in removals(harness)] == ['CANCELLED']
    assert {row.status for row in harness.rows(models.Node)} == {'ACTIVE'}
    assert size(harness) == 2


def test_forced_deletion_does_not_wait(
    harness: Harness, engine: Engine
) -> None:
    parent = scale_in(engine)
    engine.run(clusters.ClusterDeleteRequest(identity='c', force=True))
    assert harness.row(models.Action, parent).status == 'CANCELLED'
    assert harness.count(models.Cluster) == 0
    harness.assert_idle()


@pytest.mark.parametrize('wait', ['hooks', 'grace_period'])
@pytest.mark.parametrize(
    ('request_type', 'identity'),
    [(clusters.ClusterDeleteRequest, 'c'), (nodes.NodeDeleteRequest, '')],
)
@pytest.mark.parametrize('is_waiting', [False, True])
def test_forced_deletion_waits_for_nothing(
    harness: Harness,
    hook: webhook_server.WebhookServer,
    wait: str,
    request_type: Any,
    identity: str,
    is_waiting: bool,
) -> None:
    engine = harness.engine()
    properties: dict[str, Any] = {'hooks': webhook(hook), 'grace_period': 600}
    create_cluster(engine, **{wait: properties[wait]})
    node = harness.rows(models.Node)[0].id
    if is_waiting:
        engine.run(nodes.NodeDeleteRequest(identity=node))
    posts = len(hook.bodies)
    engine.run(request_type(identity=identity or node, force=True))
    assert node not in [row.id for row in harness.rows(models.Node)]
    assert len(hook.bodies) == posts
    harness.assert_idle()


def test_hook_wait_extends_action_timeout(
    harness: Harness, hook: webhook_server.WebhookServer
) -> None:
    engine = harness.engine()
    week = 7 * 24 * 3600
    create_cluster(
        engine, grace_period=week, hooks=webhook(hook, timeout=week)
    )
    parent = scale_in(engine)
    for row in (harness.row(models.Action, parent), *removals(harness)):
        started = harness.row(models.Action, parent).start_time
        assert row.deadline.timestamp() == pytest.approx(
            started + row.timeout + 2 * week, abs=1
        )


def test_complete_lifecycle_rejects_token_of_another_cluster(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 0, name='other')
    request_helpers.create_foreign_cluster(engine)
    scale_in(engine)
    (removal,) = removals(harness)
    for token, more in (
        ('none', {}),
        (removal.id[:8], {}),
        (removal.id, {'identity': 'other'}),
        (
            removal.id,
            {
                'identity': 'theirs',
                'context': engine_harness.request_context('theirs'),
            },
        ),
    ):
        with pytest.raises(errors.ResourceNotFound, match='The action'):
            complete(engine, token, **more)
    assert removals(harness)[0].status == WAITING


def test_complete_lifecycle_of_action_without_hook_changes_nothing(
    harness: Harness, engine: Engine
) -> None:
    parent = scale_in(engine)
    before = harness.row(models.Action, parent).status
    complete(engine, parent)
    assert harness.row(models.Action, parent).status == before
    assert removals(harness)[0].status == WAITING
