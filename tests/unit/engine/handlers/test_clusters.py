# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from concurrent import futures
from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import asks, fleet
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


@pytest.fixture
def engine(world: fleet.World) -> fleet.Engine:
    return world.engine()


def create(engine: fleet.Engine, **options: Any) -> Any:
    request = clusters.ClusterCreateRequest(
        **{'name': 'c', 'profile_id': 'p', **options}
    )
    return engine.ask(request)


def test_create_is_accepted_with_the_cluster_as_it_is_before(
    engine: fleet.Engine,
) -> None:
    profile = asks.profile(engine)
    accepted = create(engine, min_size=1, metadata={'k': 'v'}, timeout=60)
    cluster = accepted.cluster
    assert (cluster.status, cluster.nodes) == ('INIT', [])
    assert (cluster.profile_id, cluster.profile_name) == (profile, 'p')
    assert (cluster.desired_capacity, cluster.min_size) == (1, 1)
    assert (cluster.max_size, cluster.timeout) == (-1, 60)
    assert (cluster.user, cluster.project) == ('alice', 'ours')
    assert cluster.created_at is None
    assert engine.woken == 1


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
def test_create_that_cannot_be_is_refused(
    world: fleet.World,
    engine: fleet.Engine,
    options: dict[str, Any],
    message: str,
) -> None:
    asks.profile(engine)
    with pytest.raises(errors.BadRequest, match=message):
        create(engine, **options)
    assert world.count(models.Cluster) == 0
    assert world.count(models.Action) == 0


def test_create_beyond_the_quota_of_the_project_is_refused(
    world: fleet.World, engine: fleet.Engine
) -> None:
    world.conf.set_override('max_clusters_per_project', 1, 'engine')
    asks.profile(engine)
    create(engine)
    with pytest.raises(errors.OverQuota, match='Quota exceeded'):
        create(engine)
    assert world.count(models.Cluster) == 1
    assert world.count(models.Action) == 1
    theirs = fleet.caller('theirs')
    asks.cluster(engine, 0, context=theirs, run=False)


@pytest.mark.parametrize(
    ('quota', 'request_'),
    [
        (
            'max_nodes_per_project',
            nodes.NodeCreateRequest(name='x', profile_id='p'),
        ),
        (
            'max_profiles_per_project',
            profiles.ProfileCreateRequest(name='x', spec=fleet.SPEC),
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
def test_create_of_others_beyond_their_quota_is_refused(
    world: fleet.World, engine: fleet.Engine, quota: str, request_: Any
) -> None:
    asks.cluster(engine, 0)
    present = world.count(models.Profile) if 'profiles' in quota else 0
    world.conf.set_override(quota, present + 1, 'engine')
    engine.ask(request_)
    with pytest.raises(errors.OverQuota, match=f'may have {present + 1}'):
        engine.ask(request_)


@pytest.mark.parametrize('existing', [0, 1])
def test_create_by_many_at_once_keeps_the_quota(
    any_world: fleet.World, existing: int
) -> None:
    any_world.conf.set_override('max_clusters_per_project', 3, 'engine')
    engine = any_world.engine()
    asks.profile(engine)
    for _ in range(existing):
        create(engine)
    together = threading.Barrier(8)

    def attempt(_: int) -> bool:
        together.wait(60)
        try:
            create(engine)
        except errors.OverQuota:
            return False
        return True

    with futures.ThreadPoolExecutor(8) as threads:
        made = sum(threads.map(attempt, range(8)))
    assert made == 3 - existing
    assert any_world.count(models.Cluster) == 3


def test_create_that_an_older_engine_could_not_be_told_is_refused(
    world: fleet.World, engine: fleet.Engine
) -> None:
    asks.profile(engine)
    cap = Manifest({**local(), 'ClusterCreateRequest': '1.0'})
    careful = world.engine(cap=lambda: cap)
    with pytest.raises(exceptions.LossyDowngrade, match='config'):
        create(careful, config={'a': 1})
    assert world.count(models.Cluster) == 0
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
def test_action_on_a_cluster_that_is_not_there_or_anothers_is_not_found(
    engine: fleet.Engine, request_: Any
) -> None:
    theirs = fleet.caller('theirs')
    id_ = asks.cluster(engine, 1, context=theirs)
    for identity in ('c', id_):
        asked = request_.obj_clone()
        asked.identity = identity
        with pytest.raises(errors.ResourceNotFound):
            engine.ask(asked)


@pytest.mark.parametrize(
    'request_',
    [one for one in ACTIONS if 'Delete' not in one.obj_name()],
    ids=lambda r: r.obj_name(),
)
def test_action_while_another_is_under_way_conflicts(
    engine: fleet.Engine, request_: Any
) -> None:
    asks.cluster(engine, 1, run=False)
    with pytest.raises(errors.ActionConflict, match='CLUSTER_CREATE'):
        engine.ask(request_.obj_clone())


def test_action_while_another_runs_finds_the_cluster_locked(
    engine: fleet.Engine,
) -> None:
    asks.cluster(engine, 1, run=False)
    assert engine.scheduler.claim()
    with pytest.raises(
        errors.ResourceIsLocked, match='There are these action'
    ) as caught:
        engine.ask(clusters.ClusterCheckRequest(identity='c'))
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
            clusters.ClusterUpdateRequest(identity='c', profile_only=True),
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
def test_action_that_cannot_be_done_is_refused(
    world: fleet.World, engine: fleet.Engine, request_: Any, message: str
) -> None:
    asks.cluster(engine, 2, min_size=1, max_size=5)
    before = world.count(models.Action)
    with pytest.raises(errors.BadRequest, match=message):
        engine.ask(request_.obj_clone())
    assert world.count(models.Action) == before


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
def test_scaling_beyond_the_bounds_fails_and_leaves_the_cluster_alone(
    world: fleet.World, engine: fleet.Engine, request_: Any, message: str
) -> None:
    asks.cluster(engine, 2, min_size=1, max_size=5)
    before = asks.show_cluster(engine, 'c')
    action = engine.ask(request_.obj_clone()).action
    engine.work()
    row = world.row(models.Action, action)
    assert (row.status, row.status_reason) == ('FAILED', message)
    after = asks.show_cluster(engine, 'c')
    assert after.obj_to_primitive() == before.obj_to_primitive()
    world.assert_at_rest()


def test_update_to_a_profile_of_another_type_is_refused(
    world: fleet.World, engine: fleet.Engine
) -> None:
    asks.cluster(engine, 1)
    other = asks.profile(engine, 'other')

    def change(session: Any) -> None:
        session.get(models.Profile, other).type = 'os.heat.stack-1.0'

    world.database.write(change)
    with pytest.raises(errors.BadRequest, match=r'os\.heat\.stack-1\.0'):
        engine.ask(
            clusters.ClusterUpdateRequest(identity='c', profile_id='other')
        )


def test_delete_of_what_is_worked_on_must_be_forced(
    engine: fleet.Engine,
) -> None:
    cluster = asks.cluster(engine, 1, run=False)
    engine.work(1)
    with pytest.raises(errors.ActionConflict, match=r'CREATING.*force'):
        engine.ask(clusters.ClusterDeleteRequest(identity=cluster))
    engine.ask(clusters.ClusterDeleteRequest(identity=cluster, force=True))
    with pytest.raises(errors.ActionConflict, match='DELETING'):
        engine.ask(clusters.ClusterDeleteRequest(identity=cluster))


def test_list_shows_the_own_project_only(engine: fleet.Engine) -> None:
    asks.cluster(engine, 0, name='ours')
    asks.cluster(engine, 0, name='theirs', context=fleet.caller('theirs'))
    request = clusters.ClusterListRequest(global_project=False)
    assert [one.name for one in engine.ask(request)] == ['ours']


def test_list_of_all_projects_is_for_administrators(
    engine: fleet.Engine,
) -> None:
    asks.cluster(engine, 0, name='ours')
    asks.cluster(engine, 0, name='theirs', context=fleet.caller('theirs'))
    request = clusters.ClusterListRequest(global_project=True)
    with pytest.raises(errors.Forbidden, match='administrator'):
        engine.ask(request)
    found = engine.ask(request, fleet.caller(admin=True))
    assert sorted(one.name for one in found) == ['ours', 'theirs']


def test_list_is_filtered_sorted_and_paged(engine: fleet.Engine) -> None:
    asks.profile(engine)
    ids = {
        name: asks.cluster(engine, 0, name=name, profile_id='p')
        for name in ('b', 'a', 'd', 'c')
    }
    asks.cluster(engine, 0, name='e', profile_id='p', run=False)

    def names(**options: Any) -> list[str]:
        request = clusters.ClusterListRequest(**options)
        return [one.name for one in engine.ask(request)]

    assert names(name=['a', 'd'], sort='name') == ['a', 'd']
    assert names(status=['INIT']) == ['e']
    assert names(sort='name:desc', limit=2) == ['e', 'd']
    assert names(sort='name:desc', limit=2, marker=ids['d']) == ['c', 'b']
    assert names(name=['a\0b', '\ud800']) == []


def test_show_of_another_project_is_for_administrators_by_full_id(
    engine: fleet.Engine,
) -> None:
    cluster = asks.cluster(engine, 0, context=fleet.caller('theirs'))
    admin = fleet.caller(admin=True)
    request = clusters.ClusterGetRequest(identity=cluster)
    assert engine.ask(request, admin).id == cluster
    with pytest.raises(errors.ResourceNotFound):
        engine.ask(clusters.ClusterGetRequest(identity='c'), admin)
    with pytest.raises(errors.ResourceNotFound):
        engine.ask(request)


def test_requests_at_once_queue_one_action(
    any_world: fleet.World,
) -> None:
    engine = any_world.engine()
    cluster = asks.cluster(engine, 1)
    outcomes: list[str] = []

    def ask() -> None:
        try:
            engine.ask(clusters.ClusterCheckRequest(identity=cluster))
            outcomes.append('accepted')
        except errors.ActionConflict:
            outcomes.append('conflict')

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ['accepted', *['conflict'] * 3]


def test_node_joins_only_where_there_is_room(engine: fleet.Engine) -> None:
    asks.cluster(engine, 1, max_size=2)

    def add() -> None:
        engine.ask(
            nodes.NodeCreateRequest(name='n', profile_id='p', cluster_id='c')
        )

    add()
    with pytest.raises(errors.BadRequest, match="the cluster's max_size"):
        add()


def test_node_does_not_join_a_cluster_that_is_being_deleted(
    engine: fleet.Engine,
) -> None:
    asks.cluster(engine, 1)
    engine.ask(clusters.ClusterDeleteRequest(identity='c'))
    with pytest.raises(errors.ActionConflict, match='being deleted'):
        engine.ask(
            nodes.NodeCreateRequest(name='n', profile_id='p', cluster_id='c')
        )
