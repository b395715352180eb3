# SPDX-License-Identifier: Apache-2.0
"""A policy's change ends at any moment; no resource is left or missing."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from engine.actions import cancellation
from engine.db import models
from engine.providers import load_balancing
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.policies import policy_helpers
from vobjects.clustering import errors
from vobjects.clustering.requests import actions, clusters, policies
from vobjects_simulated import tables

POOL: dict[str, Any] = {'subnet': 'private-subnet'}
VIP: dict[str, Any] = {'subnet': 'public-subnet'}

#: Operations of the cloud that create or delete resources of policies.
OPERATIONS = ('create', 'delete', 'add_member', 'remove_member')

#: Ends an action from outside, given its ID.
End = Callable[[Engine, str], None]


class Cloud:
    """Interrupts the changes of the simulated cloud at a step.

    Each change has two steps: before and after it.
    """

    def __init__(self, harness: Harness) -> None:
        self.steps_left = -1
        self.interrupt: Callable[[], None] = lambda: None
        cloud: Any = harness.cloud
        for name in ('load_balancers', 'server_groups'):
            setattr(cloud, name, _Watched(getattr(cloud, name), self._notify))

    def interrupt_at(self, step: int, interrupt: Callable[[], None]) -> None:
        """Call a function once, at a step from now on."""
        self.steps_left, self.interrupt = step, interrupt

    def was_interrupted(self) -> bool:
        """Tell whether that step was reached."""
        return self.steps_left < 0

    def _notify(self) -> None:
        self.steps_left -= 1
        if self.steps_left == -1:
            self.interrupt()


class _Watched:
    def __init__(self, inner: Any, notify: Callable[[], None]) -> None:
        self._inner = inner
        self._notify = notify

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._inner, name)
        if name not in OPERATIONS:
            return attribute

        def operation(*arguments: Any, **options: Any) -> Any:
            self._notify()
            result = attribute(*arguments, **options)
            self._notify()
            return result

        return operation


def cancel(engine: Engine, action: str) -> None:
    request = actions.ActionUpdateRequest(identity=action, status='CANCELLED')
    with contextlib.suppress(errors.ActionImmutable):
        engine.call(request)


def time_out(engine: Engine, action: str) -> None:
    engine.runtime.database.write(
        lambda session: cancellation.end_tree(
            engine.runtime, session, action, 'TIMEOUT'
        )
    )


def create_balancing(engine: Engine) -> None:
    policy_helpers.create_policy(engine, 'loadbalance', pool=POOL, vip=VIP)


def create_balancing_of_existing_pool(engine: Engine) -> None:
    balancers = engine.runtime.provider.load_balancers
    assert balancers is not None
    spec = load_balancing.Spec('mine', VIP, POOL)
    pool_id = balancers.create('key', spec, timeout=60).pool_id
    policy_helpers.create_policy(
        engine,
        'loadbalance',
        version='1.1',
        pool={**POOL, 'id': pool_id},
        loadbalancer='mine',
    )


def create_affinity(engine: Engine) -> None:
    policy_helpers.create_policy(engine, 'affinity')


CREATORS = (
    create_balancing,
    create_balancing_of_existing_pool,
    create_affinity,
)

ATTACH = policies.ClusterAttachPolicyRequest(identity='c', policy_id='pol')
DETACH = policies.ClusterDetachPolicyRequest(identity='c', policy_id='pol')
ENABLE = policies.ClusterUpdatePolicyRequest(
    identity='c', policy_id='pol', enabled=True
)


def parts(harness: Harness, kind: str) -> list[Any]:
    return [
        part
        for part in harness.rows(tables.SimulatedPart)
        if part.kind == kind
    ]


def assert_resources_match_attachment(harness: Harness) -> None:
    """Assert that resources exist if and only if the policy is attached."""
    harness.assert_idle()
    groups = {part.id for part in parts(harness, 'server_group')}
    balancers = {
        part.id
        for part in parts(harness, 'load_balancer')
        if part.data['name'] != 'mine'
    }
    servers = {part.name for part in parts(harness, 'member')}
    members = {
        node.physical_id
        for node in harness.rows(models.Node)
        if 'lb_member' in node.data
    }
    assert servers == members
    bindings = harness.rows(models.ClusterPolicy)
    if not bindings:
        assert (groups, balancers, servers) == (set(), set(), set())
        return
    (binding,) = bindings
    ((_, wrapped),) = binding.data.items()
    data = wrapped['data']
    if 'servergroup_id' in data:
        assert groups == {data['servergroup_id']}
        return
    if not data['preexisting']:
        assert balancers == {data['loadbalancer']}
    assert len(servers) == (2 if binding.enabled else 0)


@pytest.fixture(params=CREATORS)
def engine(request: pytest.FixtureRequest, harness: Harness) -> Engine:
    """An engine with a cluster of two nodes, and a policy."""
    engine = harness.engine(name='one')
    request_helpers.create_cluster(engine, 2, min_size=0)
    request.param(engine)
    return engine


def prepare(engine: Engine, change: Any) -> None:
    """Do what must precede a change of the policy."""
    if change is DETACH:
        assert policy_helpers.attach(engine).status == 'SUCCEEDED'
    elif change is ENABLE:
        action = policy_helpers.attach(engine, enabled=False)
        assert action.status == 'SUCCEEDED'


def detach_if_attached(engine: Engine) -> None:
    """Detach the policy, unless it is not attached."""
    with contextlib.suppress(errors.BadRequest):
        assert policy_helpers.detach(engine).status == 'SUCCEEDED'


def call(engine: Engine, request: Any) -> str:
    """Send a request, and return the ID of the new action."""
    action: str = engine.call(request.obj_clone()).action
    return action


@pytest.mark.parametrize(
    ('end', 'change'),
    [
        (cancel, ATTACH),
        (cancel, DETACH),
        (cancel, ENABLE),
        (time_out, ATTACH),
    ],
)
def test_change_ended_at_any_step_leaves_working_policy_or_nothing(
    harness: Harness, engine: Engine, end: End, change: Any
) -> None:
    other, cloud = harness.engine(name='two'), Cloud(harness)
    action = ''

    def interrupt() -> None:
        end(other, action)
        # The user tries again before the worker goes on.
        with contextlib.suppress(errors.ClusteringError):
            call(other, change)
        other.run_actions()

    for step in itertools.count():
        prepare(engine, change)
        action = call(engine, change)
        cloud.interrupt_at(step, interrupt)
        engine.run_actions()
        assert_resources_match_attachment(harness)
        detach_if_attached(engine)
        assert_resources_match_attachment(harness)
        if not cloud.was_interrupted():
            break


def test_attachment_cancelled_after_crash_deletes_resources(
    harness: Harness, engine: Engine
) -> None:
    cloud = Cloud(harness)

    def crash() -> None:
        raise engine_harness.CrashError

    for step in itertools.count():
        victim = harness.engine(name=f'victim-{step}')
        action = call(victim, ATTACH)
        cloud.interrupt_at(step, crash)
        with contextlib.suppress(engine_harness.CrashError):
            victim.run_actions()
        if not cloud.was_interrupted():
            break
        harness.detect_death(victim)
        cancel(engine, action)
        engine.run_actions()
        assert harness.row(models.Action, action).status == 'CANCELLED'
        assert harness.rows(models.ClusterPolicy) == []
        assert_resources_match_attachment(harness)


@pytest.mark.parametrize('change', [ATTACH, DETACH])
def test_forced_cluster_deletion_during_change_leaves_no_resource(
    harness: Harness, engine: Engine, change: Any
) -> None:
    other, cloud = harness.engine(name='two'), Cloud(harness)
    profile = request_helpers.get_cluster(engine, 'c').profile_id

    def interrupt() -> None:
        call(other, clusters.ClusterDeleteRequest(identity='c', force=True))
        other.run_actions(5)

    for step in itertools.count():
        prepare(engine, change)
        call(engine, change)
        cloud.interrupt_at(step, interrupt)
        engine.run_actions()
        other.run_actions()
        if not cloud.was_interrupted():
            break
        assert harness.rows(models.Cluster) == []
        assert_resources_match_attachment(harness)
        request_helpers.create_cluster(
            engine, 2, profile_id=profile, min_size=0
        )


def test_cancelled_attachment_reports_reversal_until_resources_are_gone(
    harness: Harness,
) -> None:
    engine = harness.engine()
    request_helpers.create_cluster(engine, 1)
    create_affinity(engine)
    action = call(engine, ATTACH)
    statuses = []

    def interrupt() -> None:
        cancel(engine, action)
        row = harness.row(models.Action, action)
        statuses.append((row.status, row.status_reason))

    Cloud(harness).interrupt_at(1, interrupt)
    engine.run_actions()
    assert statuses == [
        (
            'RUNNING',
            'cancelled by request; its changes are being reverted',
        )
    ]
    row = harness.row(models.Action, action)
    assert (row.status, row.status_reason) == (
        'CANCELLED',
        'cancelled by request',
    )
    assert_resources_match_attachment(harness)


def test_undo_that_fails_names_left_resources(harness: Harness) -> None:
    engine = harness.engine()
    request_helpers.create_cluster(engine, 1)
    create_affinity(engine)
    action = call(engine, ATTACH)

    def interrupt() -> None:
        cancel(engine, action)
        harness.conf.set_override('failure_rate', 1.0, 'simulated')

    Cloud(harness).interrupt_at(1, interrupt)
    engine.run_actions()
    row = harness.row(models.Action, action)
    assert row.status == 'CANCELLED'
    assert 'some cloud resources may be left' in row.status_reason
    harness.assert_idle()


def test_cancel_of_begun_detachment_is_rejected(harness: Harness) -> None:
    engine = harness.engine()
    request_helpers.create_cluster(engine, 1)
    create_affinity(engine)
    policy_helpers.attach(engine)
    action = call(engine, DETACH)
    assert engine.scheduler.claim() is not None
    request = actions.ActionUpdateRequest(identity=action, status='CANCELLED')
    with pytest.raises(errors.ActionImmutable, match='no longer be cancelled'):
        engine.call(request)


def test_queued_detachment_can_be_cancelled(harness: Harness) -> None:
    engine = harness.engine()
    request_helpers.create_cluster(engine, 1)
    create_affinity(engine)
    policy_helpers.attach(engine)
    action = call(engine, DETACH)
    cancel(engine, action)
    engine.run_actions()
    assert harness.row(models.Action, action).status == 'CANCELLED'
    assert harness.count(models.ClusterPolicy) == 1


def test_policy_is_kept_while_an_action_attaches_it(harness: Harness) -> None:
    engine = harness.engine()
    request_helpers.create_cluster(engine, 1)
    create_affinity(engine)
    action = call(engine, ATTACH)
    request = policies.PolicyDeleteRequest(identity='pol')
    with pytest.raises(errors.ResourceInUse, match=action):
        engine.call(request)
    cancel(engine, action)
    engine.call(request)
    assert harness.rows(models.Policy) == []


def test_failed_attachment_to_existing_pool_removes_its_members(
    harness: Harness,
) -> None:
    engine = harness.engine()
    request_helpers.create_cluster(engine, 2)
    create_balancing_of_existing_pool(engine)
    balancers: Any = harness.cloud.load_balancers
    add_member = balancers.add_member
    calls = itertools.count()

    def fail_second(*arguments: Any, **options: Any) -> Any:
        if next(calls):
            harness.conf.set_override('failure_rate', 1.0, 'simulated')
        try:
            return add_member(*arguments, **options)
        finally:
            harness.conf.set_override('failure_rate', 0.0, 'simulated')

    balancers.add_member = fail_second
    assert policy_helpers.attach(engine).status == 'FAILED'
    assert parts(harness, 'member') == []
