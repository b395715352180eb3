# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects import exceptions
from vobjects.clustering import errors
from vobjects.clustering.requests import (
    clusters,
    nodes,
    policies,
    profiles,
    receivers,
)
from vobjects.objects.manifest import Manifest, local


def create(engine: Engine, **options: Any) -> Any:
    request = clusters.ClusterCreateRequest(
        **{'name': 'c', 'profile_id': 'p', **options}
    )
    return engine.call(request)


def test_create_returns_initial_cluster(engine: Engine) -> None:
    profile = request_helpers.create_profile(engine)
    accepted = create(engine, min_size=1, metadata={'k': 'v'}, timeout=60)
    cluster = accepted.cluster
    assert (cluster.status, cluster.nodes) == ('INIT', [])
    assert (cluster.profile_id, cluster.profile_name) == (profile, 'p')
    assert (cluster.desired_capacity, cluster.min_size) == (1, 1)
    assert (cluster.max_size, cluster.timeout) == (-1, 60)
    assert (cluster.user, cluster.project) == ('alice', 'ours')
    assert cluster.created_at is None
    assert engine.wake_count == 1


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'profile_id': 'none'}, "specified profile 'none' could not be"),
        ({'desired_capacity': 2, 'max_size': 1}, 'the specified max_size'),
        ({'desired_capacity': 1, 'min_size': 2}, 'the specified min_size'),
        ({'min_size': 3, 'max_size': 2}, 'specified max_size'),
        ({'desired_capacity': 1001}, r'per cluster \(1000\)'),
        ({'max_size': 1001}, r'per cluster \(1000\)'),
        ({'config': {'node.name.format': 'x' * 256}}, 'at most 255 char'),
    ],
)
def test_invalid_create_is_rejected(
    harness: Harness, engine: Engine, options: dict[str, Any], message: str
) -> None:
    request_helpers.create_profile(engine)
    with pytest.raises(errors.BadRequest, match=message):
        create(engine, **options)
    assert harness.count(models.Cluster) == 0
    assert harness.count(models.Action) == 0


def test_create_beyond_the_quota_of_the_project_is_rejected(
    harness: Harness, engine: Engine
) -> None:
    harness.conf.set_override('max_clusters_per_project', 1, 'engine')
    request_helpers.create_profile(engine)
    create(engine)
    with pytest.raises(errors.OverQuota, match='Quota exceeded'):
        create(engine)
    assert harness.count(models.Cluster) == 1
    assert harness.count(models.Action) == 1
    theirs = engine_harness.request_context('theirs')
    request_helpers.create_cluster(engine, 0, context=theirs, run=False)


@pytest.mark.parametrize(
    ('quota', 'request_'),
    [
        (
            'max_nodes_per_project',
            nodes.NodeCreateRequest(name='x', profile_id='p'),
        ),
        (
            'max_profiles_per_project',
            profiles.ProfileCreateRequest(name='x', spec=engine_harness.SPEC),
        ),
        (
            'max_policies_per_project',
            policies.PolicyCreateRequest(
                name='x',
                spec={
                    'type': 'senlin.policy.deletion',
                    'version': '1.0',
                    'properties': {},
                },
            ),
        ),
        (
            'max_receivers_per_project',
            receivers.ReceiverCreateRequest(
                name='x',
                type='webhook',
                cluster_id='c',
                action='CLUSTER_SCALE_OUT',
                endpoint='http://here',
            ),
        ),
    ],
)
def test_create_beyond_quota_of_other_types_is_rejected(
    harness: Harness, engine: Engine, quota: str, request_: Any
) -> None:
    request_helpers.create_cluster(engine, 0)
    present = harness.count(models.Profile) if 'profiles' in quota else 0
    harness.conf.set_override(quota, present + 1, 'engine')
    engine.call(request_)
    with pytest.raises(errors.OverQuota, match=f'may have {present + 1}'):
        engine.call(request_)


GROWING = [
    clusters.ClusterScaleOutRequest(identity='c', count=2),
    clusters.ClusterResizeRequest(
        identity='c', adjustment_type='EXACT_CAPACITY', number=4
    ),
    clusters.ClusterCreateRequest(
        name='d', profile_id='p', desired_capacity=2
    ),
]


@pytest.mark.parametrize('request_', GROWING, ids=lambda r: r.obj_name())
def test_growth_beyond_the_node_quota_is_rejected(
    any_harness: Harness, request_: Any
) -> None:
    engine = any_harness.engine()
    request_helpers.create_cluster(engine, 2)
    before = any_harness.count(models.Action)
    any_harness.conf.set_override('max_nodes_per_project', 3, 'engine')
    with pytest.raises(
        errors.OverQuota, match='has 2 nodes, and needs 2 more; it may have 3'
    ):
        engine.call(request_.obj_clone())
    assert any_harness.count(models.Action) == before
    assert any_harness.count(models.Cluster) == 1
    any_harness.conf.set_override('max_nodes_per_project', 4, 'engine')
    engine.call(request_.obj_clone())


def test_scale_out_without_count_beyond_the_node_quota_is_rejected(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 2)
    harness.conf.set_override('max_nodes_per_project', 2, 'engine')
    with pytest.raises(errors.OverQuota, match='needs 1 more'):
        engine.call(clusters.ClusterScaleOutRequest(identity='c'))


@pytest.mark.parametrize(
    'request_',
    [
        clusters.ClusterScaleInRequest(identity='c', count=1),
        clusters.ClusterResizeRequest(identity='c', max_size=5),
        clusters.ClusterResizeRequest(
            identity='c', adjustment_type='CHANGE_IN_CAPACITY', number=-1
        ),
    ],
)
def test_request_that_adds_no_node_when_over_quota_is_accepted(
    harness: Harness, engine: Engine, request_: Any
) -> None:
    request_helpers.create_cluster(engine, 2)
    harness.conf.set_override('max_nodes_per_project', 1, 'engine')
    engine.call(request_.obj_clone())


@pytest.mark.parametrize('request_', GROWING[:2], ids=lambda r: r.obj_name())
def test_growth_beyond_the_node_quota_during_an_action_conflicts(
    harness: Harness, engine: Engine, request_: Any
) -> None:
    request_helpers.create_cluster(engine, 2)
    engine.call(clusters.ClusterCheckRequest(identity='c'))
    harness.conf.set_override('max_nodes_per_project', 3, 'engine')
    with pytest.raises(errors.ActionConflict, match='CLUSTER_CHECK'):
        engine.call(request_.obj_clone())


@pytest.mark.parametrize('existing', [0, 1])
def test_concurrent_creates_respect_quota(
    any_harness: Harness, existing: int
) -> None:
    any_harness.conf.set_override('max_clusters_per_project', 3, 'engine')
    engine = any_harness.engine()
    request_helpers.create_profile(engine)
    for _ in range(existing):
        create(engine)
    created = request_helpers.accepted_together(
        engine,
        [
            clusters.ClusterCreateRequest(name='c', profile_id='p')
            for _ in range(8)
        ],
        errors.OverQuota,
    )
    assert created == 3 - existing
    assert any_harness.count(models.Cluster) == 3


def test_create_unsupported_by_older_engine_is_rejected(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_profile(engine)
    cap = Manifest({**local(), 'ClusterCreateRequest': '1.0'})
    careful = harness.engine(cap=lambda: cap)
    with pytest.raises(exceptions.LossyDowngrade, match='config'):
        create(careful, config={'a': 1})
    assert harness.count(models.Cluster) == 0
    create(careful)


ACTIONS = [
    clusters.ClusterUpdateRequest(identity='c', name='new'),
    clusters.ClusterDeleteRequest(identity='c'),
    clusters.ClusterResizeRequest(identity='c', min_size=0),
    clusters.ClusterScaleInRequest(identity='c', refuse_conflict=True),
    clusters.ClusterScaleOutRequest(identity='c', refuse_conflict=True),
    clusters.ClusterCheckRequest(identity='c'),
    clusters.ClusterRecoverRequest(identity='c'),
]


@pytest.mark.parametrize('request_', ACTIONS, ids=lambda r: r.obj_name())
def test_action_on_unknown_or_foreign_cluster_is_not_found(
    engine: Engine, request_: Any
) -> None:
    theirs = engine_harness.request_context('theirs')
    id_ = request_helpers.create_cluster(engine, 1, context=theirs)
    for identity in ('c', id_):
        foreign_request = request_.obj_clone()
        foreign_request.identity = identity
        with pytest.raises(errors.ResourceNotFound):
            engine.call(foreign_request)


@pytest.mark.parametrize(
    'request_',
    [action for action in ACTIONS if 'Delete' not in action.obj_name()],
    ids=lambda r: r.obj_name(),
)
def test_action_during_unfinished_action_conflicts(
    engine: Engine, request_: Any
) -> None:
    request_helpers.create_cluster(engine, 1, run=False)
    with pytest.raises(errors.ActionConflict, match='CLUSTER_CREATE'):
        engine.call(request_.obj_clone())


def test_action_while_another_runs_finds_the_cluster_locked(
    engine: Engine,
) -> None:
    request_helpers.create_cluster(engine, 1, run=False)
    assert engine.scheduler.claim()
    with pytest.raises(
        errors.ResourceIsLocked, match='There are these action'
    ) as caught:
        engine.call(clusters.ClusterCheckRequest(identity='c'))
    assert caught.value.compat_message.endswith(
        'because it is already locked.'
    )


@pytest.mark.parametrize(
    ('request_', 'message'),
    [
        (clusters.ClusterUpdateRequest(identity='c'), 'No property needs'),
        (
            clusters.ClusterUpdateRequest(identity='c', name='c'),
            'No property needs',
        ),
        (
            clusters.ClusterUpdateRequest(identity='c', profile_id='none'),
            'specified profile',
        ),
        (clusters.ClusterResizeRequest(identity='c'), 'Not enough'),
        (
            clusters.ClusterResizeRequest(identity='c', number=1),
            'adjustment_type',
        ),
        (
            clusters.ClusterResizeRequest(
                identity='c', adjustment_type='EXACT_CAPACITY', number=9
            ),
            "the cluster's max_size",
        ),
        (clusters.ClusterScaleInRequest(identity='c', count=0), 'cannot be 0'),
        (
            clusters.ClusterScaleOutRequest(identity='c', count=0),
            'cannot be 0',
        ),
        (
            clusters.ClusterScaleOutRequest(identity='c', count=999),
            'number of nodes allowed per cluster',
        ),
    ],
)
def test_impossible_action_is_rejected(
    harness: Harness, engine: Engine, request_: Any, message: str
) -> None:
    request_helpers.create_cluster(engine, 2, min_size=1, max_size=5)
    before = harness.count(models.Action)
    with pytest.raises(errors.BadRequest, match=message):
        engine.call(request_.obj_clone())
    assert harness.count(models.Action) == before


@pytest.mark.parametrize(
    ('request_', 'message'),
    [
        (
            clusters.ClusterScaleInRequest(identity='c', count=2),
            "The target capacity (0) is less than the cluster's min_size (1).",
        ),
        (
            clusters.ClusterScaleOutRequest(identity='c', count=4),
            "The target capacity (6) is greater than the cluster's max_size"
            ' (5).',
        ),
    ],
)
def test_scaling_beyond_limits_fails_without_change(
    harness: Harness, engine: Engine, request_: Any, message: str
) -> None:
    request_helpers.create_cluster(engine, 2, min_size=1, max_size=5)
    before = request_helpers.get_cluster(engine, 'c')
    action = engine.run(request_.obj_clone()).action
    row = harness.row(models.Action, action)
    assert (row.status, row.status_reason) == ('FAILED', message)
    after = request_helpers.get_cluster(engine, 'c')
    assert after.obj_to_primitive() == before.obj_to_primitive()
    harness.assert_idle()


def test_update_to_a_profile_of_another_type_is_rejected(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 1)
    other = request_helpers.create_profile(engine, 'other')
    harness.change(models.Profile, other, type='os.heat.stack-1.0')
    with pytest.raises(errors.BadRequest, match=r'os\.heat\.stack-1\.0'):
        engine.call(
            clusters.ClusterUpdateRequest(identity='c', profile_id='other')
        )


def test_delete_of_busy_resource_requires_force(engine: Engine) -> None:
    cluster = request_helpers.create_cluster(engine, 1, run=False)
    engine.run_actions(1)
    with pytest.raises(errors.ActionConflict, match=r'CREATING.*force'):
        engine.call(clusters.ClusterDeleteRequest(identity=cluster))
    engine.call(clusters.ClusterDeleteRequest(identity=cluster, force=True))
    with pytest.raises(errors.ActionConflict, match='DELETING'):
        engine.call(clusters.ClusterDeleteRequest(identity=cluster))


def test_list_shows_the_own_project_only(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 0, name='ours')
    request_helpers.create_foreign_cluster(engine)
    request = clusters.ClusterListRequest(global_project=False)
    assert [cluster.name for cluster in engine.call(request)] == ['ours']


def test_list_of_all_projects_is_for_administrators(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 0, name='ours')
    request_helpers.create_foreign_cluster(engine)
    request = clusters.ClusterListRequest(global_project=True)
    with pytest.raises(errors.Forbidden, match='administrator'):
        engine.call(request)
    rows = engine.call(request, engine_harness.request_context(admin=True))
    assert sorted(row.name for row in rows) == ['ours', 'theirs']


def test_list_is_filtered_sorted_and_paged(engine: Engine) -> None:
    request_helpers.create_profile(engine)
    ids = {
        name: request_helpers.create_cluster(
            engine, 0, name=name, profile_id='p'
        )
        for name in ('b', 'a', 'd', 'c')
    }
    request_helpers.create_cluster(
        engine, 0, name='e', profile_id='p', run=False
    )

    def names(**options: Any) -> list[str]:
        request = clusters.ClusterListRequest(**options)
        return [cluster.name for cluster in engine.call(request)]

    assert names(name=['a', 'd'], sort='name') == ['a', 'd']
    assert names(status=['INIT']) == ['e']
    assert names(sort='name:desc', limit=2) == ['e', 'd']
    assert names(sort='name:desc', limit=2, marker=ids['d']) == ['c', 'b']
    assert names(name=['a\0b', '\ud800']) == []


def test_show_of_another_project_is_for_administrators_by_full_id(
    engine: Engine,
) -> None:
    cluster = request_helpers.create_cluster(
        engine, 0, context=engine_harness.request_context('theirs')
    )
    admin = engine_harness.request_context(admin=True)
    request = clusters.ClusterGetRequest(identity=cluster)
    assert engine.call(request, admin).id == cluster
    with pytest.raises(errors.ResourceNotFound):
        engine.call(clusters.ClusterGetRequest(identity='c'), admin)
    with pytest.raises(errors.ResourceNotFound):
        engine.call(request)


def test_create_in_full_cluster_is_rejected(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 1, max_size=2)

    def add() -> None:
        engine.call(
            nodes.NodeCreateRequest(name='n', profile_id='p', cluster_id='c')
        )

    add()
    with pytest.raises(errors.BadRequest, match="the cluster's max_size"):
        add()


def test_node_does_not_join_a_cluster_that_is_being_deleted(
    engine: Engine,
) -> None:
    request_helpers.create_cluster(engine, 1)
    engine.call(clusters.ClusterDeleteRequest(identity='c'))
    with pytest.raises(errors.ActionConflict, match='being deleted'):
        engine.call(
            nodes.NodeCreateRequest(name='n', profile_id='p', cluster_id='c')
        )
