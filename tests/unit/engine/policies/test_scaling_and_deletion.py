# SPDX-License-Identifier: Apache-2.0
"""Effects of attached policies on actions."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.policies.policy_helpers import (
    attach,
    create_policy,
    scale,
)
from vobjects.clustering import consts, errors
from vobjects.clustering.requests import clusters, nodes, policies
from vobjects_simulated import tables


def scaling(engine: Engine, event: str, **adjustment: Any) -> None:
    """Create cluster c of 4 with a scaling policy."""
    request_helpers.create_cluster(engine, 4, max_size=8, min_size=1)
    create_policy(engine, 'scaling', event=event, adjustment=adjustment)
    assert attach(engine).status == 'SUCCEEDED'


def size(engine: Engine) -> int:
    return len(request_helpers.get_cluster(engine, 'c').nodes)


def bindings(engine: Engine, **more: Any) -> list[Any]:
    request = policies.ClusterPolicyListRequest(identity='c', **more)
    rows: list[Any] = engine.call(request)
    return rows


def test_attached_policy_is_listed_changed_and_detached(
    any_harness: Harness,
) -> None:
    engine = any_harness.engine()
    request_helpers.create_cluster(engine, 1)
    id_ = create_policy(engine, 'deletion')
    assert attach(engine, enabled=False).status_reason == 'Policy attached.'
    assert attach(engine).status_reason == 'Policy already attached.'
    assert request_helpers.get_cluster(engine, 'c').policies == [id_]
    (bound,) = bindings(engine)
    assert (bound.policy_id, bound.policy_name) == (id_, 'pol')
    assert (bound.cluster_name, bound.enabled) == ('c', False)
    assert bound.policy_type == 'senlin.policy.deletion-1.0'
    assert bound.priority == 400
    engine.run(
        policies.ClusterUpdatePolicyRequest(
            identity='c', policy_id='pol', enabled=True
        )
    )
    request = policies.ClusterPolicyGetRequest(identity='c', policy_id='pol')
    assert engine.call(request).enabled
    assert bindings(engine, enabled=False) == []
    with pytest.raises(errors.ResourceInUse, match='still attached'):
        engine.call(policies.PolicyDeleteRequest(identity='pol'))
    engine.run(
        policies.ClusterDetachPolicyRequest(identity='c', policy_id='pol')
    )
    assert bindings(engine) == []
    with pytest.raises(errors.ResourceNotFound, match='not found attached'):
        engine.call(request)
    engine.call(policies.PolicyDeleteRequest(identity='pol'))
    any_harness.assert_idle()


def test_cluster_is_deleted_with_its_policies_attached(
    any_harness: Harness,
) -> None:
    engine = any_harness.engine()
    request_helpers.create_cluster(engine, 1)
    create_policy(engine, 'deletion')
    attach(engine)
    engine.run(clusters.ClusterDeleteRequest(identity='c'))
    assert any_harness.count(models.Cluster) == 0
    assert any_harness.count(models.ClusterPolicy) == 0
    assert any_harness.count(models.Policy) == 1


def test_only_scaling_allows_two_policies_of_a_type(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 0)
    for name in ('one', 'two'):
        create_policy(engine, 'deletion', name)
        create_policy(engine, 'scaling', f's-{name}', event='CLUSTER_SCALE_IN')
    assert attach(engine, 'one').status == 'SUCCEEDED'
    refused = attach(engine, 'two')
    assert refused.status == 'FAILED'
    assert 'Only one instance of policy type' in refused.status_reason
    assert attach(engine, 's-one').status == 'SUCCEEDED'
    assert attach(engine, 's-two').status == 'SUCCEEDED'
    assert [b.policy_name for b in bindings(engine, sort='policy_name')] == [
        'one',
        's-one',
        's-two',
    ]
    assert request_helpers.get_cluster(engine, 'c').status == 'ACTIVE'


def test_unattached_or_unknown_policy_is_rejected(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 0)
    create_policy(engine, 'deletion')
    for kind in (
        policies.ClusterDetachPolicyRequest,
        policies.ClusterUpdatePolicyRequest,
    ):
        with pytest.raises(errors.BadRequest, match='not attached'):
            engine.call(kind(identity='c', policy_id='pol'))
        with pytest.raises(errors.BadRequest, match='specified policy'):
            engine.call(kind(identity='c', policy_id='none'))
    with pytest.raises(errors.BadRequest, match='specified policy'):
        attach(engine, 'none')


@pytest.mark.parametrize(
    ('adjustment', 'count', 'expected'),
    [
        ({'number': 2}, None, 6),
        ({'number': 2}, 1, 5),
        ({'type': 'CHANGE_IN_PERCENTAGE', 'number': 50}, None, 6),
        (
            {'type': 'CHANGE_IN_PERCENTAGE', 'number': 1, 'min_step': 3},
            None,
            7,
        ),
        ({'type': 'EXACT_CAPACITY', 'number': 8}, None, 8),
        ({'number': 9, 'best_effort': True}, None, 8),
        ({'best_effort': True}, 5, 8),
        ({'number': '9', 'best_effort': 'yes', 'cooldown': '0'}, None, 8),
        (
            {
                'type': 'CHANGE_IN_PERCENTAGE',
                'number': 1e308,
                'best_effort': True,
            },
            None,
            8,
        ),
    ],
)
def test_scaling_policy_determines_scale_out_count(
    harness: Harness,
    engine: Engine,
    adjustment: dict[str, Any],
    count: int | None,
    expected: int,
) -> None:
    scaling(engine, 'CLUSTER_SCALE_OUT', **adjustment)
    action = scale(engine, clusters.ClusterScaleOutRequest, count=count)
    assert action.status == 'SUCCEEDED'
    assert size(engine) == expected
    harness.assert_idle()


def test_node_quota_when_a_policy_reduces_the_count_is_not_exceeded(
    harness: Harness, engine: Engine
) -> None:
    scaling(engine, 'CLUSTER_SCALE_OUT', best_effort=True)
    harness.conf.set_override('max_nodes_per_project', 8, 'engine')
    action = scale(engine, clusters.ClusterScaleOutRequest, count=5)
    assert action.status == 'SUCCEEDED'
    assert size(engine) == 8


def test_node_quota_when_a_policy_decides_the_count_fails_the_action(
    harness: Harness, engine: Engine
) -> None:
    scaling(engine, 'CLUSTER_SCALE_OUT', number=4)
    harness.conf.set_override('max_nodes_per_project', 7, 'engine')
    action = scale(engine, clusters.ClusterScaleOutRequest)
    assert action.status == 'FAILED'
    assert 'needs 4 more; it may have 7' in action.status_reason
    assert size(engine) == 4


def test_best_effort_scales_to_the_size_limits(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 4, max_size=5, min_size=3)
    for event in consts.SCALING_ACTIONS:
        adjustment = {'best_effort': True}
        create_policy(
            engine, 'scaling', event, event=event, adjustment=adjustment
        )
        attach(engine, event)
    for request_type, expected in (
        (clusters.ClusterScaleOutRequest, 5),
        (clusters.ClusterScaleOutRequest, 5),
        (clusters.ClusterScaleInRequest, 3),
        (clusters.ClusterScaleInRequest, 3),
    ):
        action = scale(engine, request_type, count=2)
        assert action.status == 'SUCCEEDED'
        shown = request_helpers.get_cluster(engine, 'c')
        assert (len(shown.nodes), shown.desired_capacity) == (
            expected,
            expected,
        )
    harness.assert_idle()


def test_scaling_policy_determines_scale_in_count(engine: Engine) -> None:
    scaling(engine, 'CLUSTER_SCALE_IN', number=3)
    assert scale(engine, clusters.ClusterScaleOutRequest).status == 'SUCCEEDED'
    assert size(engine) == 5
    scale(engine, clusters.ClusterScaleInRequest)
    assert size(engine) == 2


def test_scaling_beyond_limits_fails_without_change(
    harness: Harness, engine: Engine
) -> None:
    scaling(engine, 'CLUSTER_SCALE_OUT', number=9)
    action = scale(engine, clusters.ClusterScaleOutRequest)
    assert action.status == 'FAILED'
    assert "Policy check failure: Failed policy 'pol'" in action.status_reason
    assert 'max_size' in action.status_reason
    shown = request_helpers.get_cluster(engine, 'c')
    assert (shown.status, len(shown.nodes)) == ('ACTIVE', 4)
    harness.assert_idle()


def test_scaling_during_cooldown_is_rejected(
    harness: Harness, engine: Engine
) -> None:
    scaling(engine, 'CLUSTER_SCALE_OUT', cooldown=3600)
    assert scale(engine, clusters.ClusterScaleOutRequest).status == 'SUCCEEDED'
    for options in ({}, {'refuse_conflict': True}):
        with pytest.raises(errors.ActionCooldown, match='still in progress'):
            scale(engine, clusters.ClusterScaleOutRequest, **options)

    def older(session: Any) -> None:
        (binding,) = session.query(models.ClusterPolicy)
        binding.last_op -= datetime.timedelta(seconds=3601)

    harness.database.write(older)
    assert scale(engine, clusters.ClusterScaleOutRequest).status == 'SUCCEEDED'
    assert size(engine) == 6


def test_locked_cluster_is_reported_before_its_cooldown(
    engine: Engine,
) -> None:
    scaling(engine, 'CLUSTER_SCALE_OUT', cooldown=3600)
    scale(engine, clusters.ClusterScaleOutRequest)
    engine.call(clusters.ClusterCheckRequest(identity='c'))
    request = clusters.ClusterScaleOutRequest(identity='c')
    with pytest.raises(errors.ActionConflict, match='CLUSTER_CHECK'):
        engine.call(request)
    run = engine.scheduler.claim()
    with pytest.raises(errors.ResourceIsLocked):
        engine.call(request)
    assert run is not None
    run.perform()
    engine.scheduler.finish(run)


def test_disabled_policy_is_not_checked(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 1)
    create_policy(
        engine,
        'scaling',
        event='CLUSTER_SCALE_OUT',
        adjustment={'number': 3},
    )
    attach(engine, enabled=False)
    scale(engine, clusters.ClusterScaleOutRequest)
    assert size(engine) == 2


@pytest.mark.parametrize(
    ('criteria', 'left'),
    [('OLDEST_FIRST', [3, 4]), ('YOUNGEST_FIRST', [1, 2])],
)
def test_deletion_policy_chooses_nodes_by_criteria(
    harness: Harness, engine: Engine, criteria: str, left: list[int]
) -> None:
    request_helpers.create_cluster(engine, 4)

    def set_creation_times(session: Any) -> None:
        for node in session.query(models.Node):
            node.created_at = datetime.datetime(
                2026, 1, node.index, tzinfo=datetime.UTC
            )

    harness.database.write(set_creation_times)
    create_policy(engine, 'deletion', criteria=criteria)
    attach(engine)
    scale(engine, clusters.ClusterScaleInRequest, count=1)
    scale(
        engine,
        clusters.ClusterResizeRequest,
        adjustment_type='EXACT_CAPACITY',
        number=2,
    )
    members = request_helpers.get_cluster(engine, 'c').nodes
    assert [
        request_helpers.get_node(engine, id_).index for id_ in members
    ] == left


def test_deletion_policy_without_destroy_keeps_nodes(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 3)
    create_policy(
        engine,
        'deletion',
        destroy_after_deletion=False,
        reduce_desired_capacity=False,
    )
    attach(engine)
    scale(engine, clusters.ClusterScaleInRequest, count=2)
    shown = request_helpers.get_cluster(engine, 'c')
    assert (len(shown.nodes), shown.desired_capacity) == (1, 3)
    assert shown.status == 'WARNING'
    assert harness.count(models.Node) == 3
    assert harness.count(tables.SimulatedServer) == 3
    harness.assert_idle()


def test_grace_period_delays_removal(harness: Harness, engine: Engine) -> None:
    request_helpers.create_cluster(engine, 2)
    create_policy(engine, 'deletion', grace_period=3600)
    attach(engine)
    engine.run(clusters.ClusterScaleInRequest(identity='c'))
    assert size(engine) == 2
    assert harness.statuses('NODE_DELETE') == ['READY']
    harness.change(models.Action, not_before=None)
    engine.run_actions()
    assert size(engine) == 1
    harness.assert_idle()


def test_scaling_and_deletion_policies_combine(
    harness: Harness, engine: Engine
) -> None:
    scaling(engine, 'CLUSTER_SCALE_IN', number=2)
    create_policy(engine, 'deletion', 'del', destroy_after_deletion=False)
    attach(engine, 'del')
    scale(engine, clusters.ClusterScaleInRequest)
    assert size(engine) == 2
    assert harness.count(models.Node) == 4


@pytest.mark.parametrize('destroy', [True, False])
def test_node_deletion_in_cluster_is_checked_by_policies(
    harness: Harness, engine: Engine, destroy: bool
) -> None:
    request_helpers.create_cluster(engine, 2)
    create_policy(engine, 'deletion', destroy_after_deletion=destroy)
    attach(engine)
    first, _ = request_helpers.get_cluster(engine, 'c').nodes
    response = engine.run(nodes.NodeDeleteRequest(identity=first))
    assert size(engine) == 1
    row = harness.row(models.Action, response.action)
    assert row.status == 'SUCCEEDED'
    assert row.data['policies']['deletion']['candidates'] == [first]
    assert (harness.row(models.Node, first) is None) == destroy
    harness.assert_idle()
