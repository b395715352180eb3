# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from engine.events import recorder
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering import errors
from vobjects.clustering.requests import actions, clusters, events, nodes


def listed(engine: Engine, context: Any = None, **more: Any) -> Any:
    return engine.call(events.EventListRequest(**more), context)


def phases(engine: Engine, **more: Any) -> list[tuple[str, str]]:
    return [
        (event.action, event.status)
        for event in listed(engine, sort='timestamp', **more)
    ]


def test_action_has_an_event_at_its_start_and_at_its_end(
    any_harness: Harness,
) -> None:
    engine = any_harness.engine()
    cluster = request_helpers.create_cluster(engine, 1, name='web')
    assert phases(engine) == [
        ('CLUSTER_CREATE', 'start'),
        ('CLUSTER_CREATE', 'end'),
    ]
    ended = listed(engine)[-1]
    assert (ended.otype, ended.oid, ended.oname) == ('CLUSTER', cluster, 'web')
    assert ended.cluster_id == cluster
    assert ended.level == 'INFO'
    assert ended.status_reason == 'Cluster creation succeeded.'
    (creation,) = (
        row
        for row in any_harness.rows(models.Action)
        if row.action == 'CLUSTER_CREATE'
    )
    assert ended.meta_data['action_id'] == creation.id
    assert ended.meta_data['request_id'] == creation.request_id
    shown = engine.call(events.EventGetRequest(identity=ended.id[:8]))
    assert shown.id == ended.id


def test_events_of_deleted_target_keep_its_name(engine: Engine) -> None:
    cluster = request_helpers.create_cluster(engine, 1, name='web')
    engine.run(clusters.ClusterDeleteRequest(identity='web'))
    last = listed(engine, cluster_id=[cluster])[-1]
    assert (last.oname, last.status) == ('web', 'end')
    assert last.action == 'CLUSTER_DELETE'


def test_failed_and_cancelled_actions_have_events_of_their_levels(
    harness: Harness, engine: Engine
) -> None:
    cluster = request_helpers.create_cluster(engine, 0)
    cancelled = engine.call(
        clusters.ClusterCheckRequest(identity=cluster)
    ).action
    engine.call(
        actions.ActionUpdateRequest(identity=cancelled, status='CANCELLED')
    )
    harness.conf.set_override('failure_rate', 1.0, 'simulated')
    engine.run(clusters.ClusterScaleOutRequest(identity=cluster))
    assert phases(engine, level=['WARN']) == [('CLUSTER_CHECK', 'error')]
    assert phases(engine, level=['40']) == [('CLUSTER_SCALE_OUT', 'error')]
    assert [event.level for event in listed(engine, level=['40'])] == ['ERROR']


def test_event_of_a_member_names_its_cluster(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 1, name='web')
    (member,) = harness.rows(models.Node)
    alone = request_helpers.create_node(engine, name='alone', profile_id='p')
    for node in (member.id, alone):
        engine.call(nodes.NodeCheckRequest(identity=node))
    engine.run_actions()
    names = {
        event.oid: event.meta_data.get('cluster_name')
        for event in listed(engine, action=['NODE_CHECK'])
    }
    assert names == {member.id: 'web', alone: None}


def test_derived_actions_and_low_levels_are_left_out_as_configured(
    harness: Harness,
) -> None:
    harness.conf.set_override('exclude_derived_actions', False, 'events')
    request_helpers.create_cluster(harness.engine(), 1)
    assert len(harness.rows(models.Event)) == 4
    harness.conf.set_override('priority', 'error', 'events')
    engine = harness.engine()
    engine.run(clusters.ClusterCheckRequest(identity='c'))
    assert len(harness.rows(models.Event)) == 4


def test_unknown_dispatcher_is_rejected(harness: Harness) -> None:
    harness.conf.set_override('dispatchers', ['carrier-pigeon'], 'events')
    with pytest.raises(RuntimeError, match='there is no carrier-pigeon'):
        recorder.load(harness.conf)


def test_events_are_filtered_and_sorted(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 1, name='web')
    node = request_helpers.create_node(engine, name='alone', profile_id='p')
    engine.run(nodes.NodeCheckRequest(identity=node))
    assert phases(engine, otype=['NODE'], action=['NODE_CHECK']) == [
        ('NODE_CHECK', 'start'),
        ('NODE_CHECK', 'end'),
    ]
    names = [event.oname for event in listed(engine, sort='oname:desc')]
    assert names == ['web', 'web', *['alone'] * 4]
    assert {event.oid for event in listed(engine, oname=['alone'])} == {node}
    assert listed(engine, cluster_id=['no-such-cluster']) == []


def test_events_of_another_project_are_not_listed(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 0)
    theirs = engine_harness.request_context('theirs')
    assert listed(engine, theirs) == []
    (event, _) = listed(engine)
    with pytest.raises(errors.ResourceNotFound, match='The event'):
        engine.call(events.EventGetRequest(identity=event.id), theirs)
    with pytest.raises(errors.Forbidden):
        listed(engine, theirs, global_project=True)
    admin = engine_harness.request_context('theirs', admin=True)
    assert len(listed(engine, admin, global_project=True)) == 2
