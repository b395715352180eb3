# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.metadata
from typing import Any
from unittest import mock

import pytest

from engine.db import models
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering import errors
from vobjects.clustering.requests import actions, clusters, nodes
from vobjects.clustering.requests import services as service_requests
from vobjects.lock import installed_locks
from vobjects.objects import manifest


def listed(engine: Engine, **options: Any) -> list[Any]:
    rows: list[Any] = engine.call(actions.ActionListRequest(**options))
    return rows


def test_action_has_inputs_and_dependencies(engine: Engine) -> None:
    cluster = request_helpers.create_cluster(engine, 1)
    response = engine.run(
        clusters.ClusterScaleOutRequest(identity='c', count=2)
    )
    action = engine.call(actions.ActionGetRequest(identity=response.action))
    assert (action.action, action.target) == ('CLUSTER_SCALE_OUT', cluster)
    assert action.inputs == {'count': 2}
    assert (action.cause, action.status) == ('RPC Request', 'SUCCEEDED')
    assert action.name == f'cluster_scale_out_{cluster[:8]}'
    assert action.cluster_id == cluster
    assert action.start_time <= action.end_time
    assert len(action.depends_on) == 2
    child = engine.call(
        actions.ActionGetRequest(identity=action.depends_on[0])
    )
    assert child.cause == 'Derived Action'
    assert child.depended_by == [action.id]
    assert (child.user, child.project) == ('alice', 'ours')


def test_actions_outlive_their_target(engine: Engine) -> None:
    cluster = request_helpers.create_cluster(engine, 1)
    engine.run(clusters.ClusterDeleteRequest(identity=cluster))
    rows = listed(engine, cluster_id=[cluster])
    assert sorted(row.action for row in rows) == [
        'CLUSTER_CREATE',
        'CLUSTER_DELETE',
        'NODE_CREATE',
        'NODE_DELETE',
    ]


def test_list_is_filtered(engine: Engine) -> None:
    cluster = request_helpers.create_cluster(engine, 2)
    other = request_helpers.create_cluster(
        engine, 0, name='other', profile_id='p', run=False
    )
    assert len(listed(engine)) == 4
    assert len(listed(engine, action=['NODE_CREATE'])) == 2
    assert len(listed(engine, status=['READY'])) == 1
    assert len(listed(engine, target=[cluster, other])) == 2
    assert len(listed(engine, cluster_id=['c'])) == 3
    assert listed(engine, cluster_id=['none']) == []
    assert len(listed(engine, name=[f'cluster_create_{other[:8]}'])) == 1


def test_action_of_another_project_is_not_found(engine: Engine) -> None:
    request_helpers.create_cluster(
        engine, 0, context=engine_harness.request_context('theirs')
    )
    assert listed(engine) == []
    (action,) = engine.call(
        actions.ActionListRequest(global_project=True),
        engine_harness.request_context(admin=True),
    )
    with pytest.raises(errors.ResourceNotFound):
        engine.call(actions.ActionGetRequest(identity=action.id))


def test_services_are_the_live_engines(
    harness: Harness, engine: Engine
) -> None:
    harness.engine(name='two')
    services = engine.call(service_requests.ServiceListRequest())
    assert {service.host for service in services} == {'host-one', 'host-two'}
    assert {(service.state, service.status) for service in services} == {
        ('up', 'enabled')
    }


def test_build_info_names_the_release(engine: Engine) -> None:
    build_info = engine.call(service_requests.BuildInfoRequest())
    assert build_info.engine['revision']


def test_summary_counts_the_resources_of_the_project_by_status(
    engine: Engine,
) -> None:
    cluster = request_helpers.create_cluster(engine, 2)
    summary = engine.call(service_requests.SummaryRequest())
    assert summary.clusters == {'ACTIVE': 1}
    assert summary.nodes == {'ACTIVE': 2}
    assert summary.actions == {'SUCCEEDED': 3}
    assert summary.queue_age is None
    engine.call(clusters.ClusterCheckRequest(identity=cluster))
    summary = engine.call(service_requests.SummaryRequest())
    assert summary.actions == {'SUCCEEDED': 3, 'READY': 1}
    assert summary.queue_age >= 0
    other = engine_harness.request_context('theirs')
    summary = engine.call(service_requests.SummaryRequest(), other)
    assert (summary.clusters, summary.nodes, summary.actions) == ({}, {}, {})


@pytest.mark.parametrize(
    ('release', 'previous', 'supported', 'reason'),
    [
        ('1.1.0', '1.0.0', {}, 'no ClusterCheckRequest in the release'),
        ('1.2.0.dev3', '1.1.0', manifest.local(), None),
        ('1.0.0', None, {}, None),
    ],
)
def test_rollback_verdict_names_rows_that_the_previous_release_cannot_read(
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    release: str,
    previous: str | None,
    supported: dict[str, str],
    reason: str | None,
) -> None:
    lock = mock.Mock(releases=['1.0.0', '1.1.0'])
    lock.at.return_value.manifest.return_value = supported
    monkeypatch.setattr(installed_locks, 'of_service', lambda name: lock)
    monkeypatch.setattr(importlib.metadata, 'version', lambda name: release)
    cluster = request_helpers.create_cluster(engine, 1)
    engine.call(clusters.ClusterCheckRequest(identity=cluster))
    answer = engine.call(service_requests.RollbackVerdictRequest())
    assert answer.release == previous
    if previous is None:
        assert (answer.can_roll_back, answer.reasons) == (None, [])
    else:
        assert answer.can_roll_back == (reason is None)
        assert (reason or '') in ''.join(answer.reasons)


def cancel(engine: Engine, identity: str, **more: Any) -> Any:
    request = actions.ActionUpdateRequest(
        identity=identity, status='CANCELLED', **more
    )
    return engine.call(request)


@pytest.mark.parametrize('force', [True, False])
def test_cancel_ends_action_and_its_children(
    any_harness: Harness, force: bool
) -> None:
    engine = any_harness.engine()
    request_helpers.create_cluster(engine, 3, run=False)
    engine.run_actions(2)
    (creation,) = (
        row
        for row in any_harness.rows(models.Action)
        if row.action == 'CLUSTER_CREATE'
    )
    assert cancel(engine, creation.id, force=force).action == creation.id
    assert engine.run_actions() == 0
    assert any_harness.statuses('CLUSTER_CREATE') == ['CANCELLED']
    assert any_harness.statuses('NODE_CREATE') == [
        'CANCELLED',
        'CANCELLED',
        'SUCCEEDED',
    ]
    any_harness.assert_idle()


def test_cancel_of_ended_action_conflicts(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 0)
    (creation,) = harness.rows(models.Action)
    with pytest.raises(errors.ActionConflict, match=r'is in status \(SUCC'):
        cancel(engine, creation.id)


def test_only_the_own_projects_actions_are_cancelled(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(
        engine, 0, run=False, context=engine_harness.request_context('theirs')
    )
    (creation,) = harness.rows(models.Action)
    with pytest.raises(errors.ResourceNotFound):
        cancel(engine, creation.id)
    assert harness.statuses('CLUSTER_CREATE') == ['READY']


def test_status_other_than_cancelled_is_rejected(harness: Harness) -> None:
    request = actions.ActionUpdateRequest(identity='x', status='FAILED')
    with pytest.raises(errors.BadRequest, match='Unknown status'):
        harness.engine().call(request)


@pytest.mark.parametrize('options', [{}, {'refuse_conflict': True}])
def test_scaling_during_another_action_conflicts_at_any_version(
    harness: Harness, engine: Engine, options: dict[str, bool]
) -> None:
    request_helpers.create_cluster(engine, 1)
    check = engine.call(clusters.ClusterCheckRequest(identity='c')).action
    with pytest.raises(
        errors.ActionConflict, match=f'following action.*CLUSTER_CHECK {check}'
    ):
        engine.call(clusters.ClusterScaleOutRequest(identity='c', **options))
    engine.run_actions()
    assert harness.count(models.Node) == 1
    harness.assert_idle()


@pytest.mark.parametrize(
    'request_type',
    [clusters.ClusterScaleOutRequest, clusters.ClusterCheckRequest],
)
def test_cluster_whose_action_waits_for_its_nodes_is_locked(
    harness: Harness, engine: Engine, request_type: Any
) -> None:
    cluster = request_helpers.create_cluster(engine, 1)
    scaling = engine.call(clusters.ClusterScaleOutRequest(identity='c')).action
    engine.run_actions(limit=1)
    assert harness.row(models.Action, scaling).status == 'WAITING'
    with pytest.raises(errors.ResourceIsLocked, match=scaling) as caught:
        engine.call(request_type(identity='c'))
    assert caught.value.compat_message.endswith(
        f"for cluster '{cluster}' cannot be completed because it is already"
        ' locked.'
    )
    engine.run_actions()
    assert harness.count(models.Node) == 2
    harness.assert_idle()


def test_cluster_is_locked_while_an_action_works_on_a_member(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 1)
    (node,) = harness.rows(models.Node)
    check = engine.call(nodes.NodeCheckRequest(identity=node.id)).action
    scheduled = engine.scheduler.claim()
    assert scheduled is not None
    for identity, ask in (
        ('c', clusters.ClusterScaleOutRequest),
        (node.id, nodes.NodeRecoverRequest),
    ):
        with pytest.raises(errors.ResourceIsLocked, match=check):
            engine.call(ask(identity=identity))
    scheduled.perform()
    engine.scheduler.finish(scheduled)
    harness.assert_idle()


def test_concurrent_scaling_is_accepted_once(any_harness: Harness) -> None:
    engine = any_harness.engine()
    request_helpers.create_cluster(engine, 1)
    requests = [
        clusters.ClusterScaleOutRequest(identity='c') for _ in range(6)
    ]
    accepted = request_helpers.accepted_together(
        engine, requests, errors.ActionConflict
    )
    assert accepted == 1
    engine.run_actions()
    assert any_harness.count(models.Node) == 2
    any_harness.assert_idle()
