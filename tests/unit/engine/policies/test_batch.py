# SPDX-License-Identifier: Apache-2.0
"""Clusters that are updated in batches."""

from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from engine.policies import batch
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.policies.policy_helpers import attach, create_policy
from vobjects.clustering.requests import actions, clusters
from vobjects_simulated import tables


@pytest.mark.parametrize(
    ('present', 'stay', 'most', 'expected'),
    [
        (5, 1, -1, 4),
        (5, 1, 2, 2),
        (5, 0, -1, 5),
        (5, 5, -1, 3),
        (5, 9, 2, 2),
        (1, 1, -1, 1),
        (1, 0, 9, 1),
    ],
)
def test_batch_size_keeps_minimum_in_service(
    present: int, stay: int, most: int, expected: int
) -> None:
    properties = {'max_batch_size': most, 'min_in_service': stay}
    assert batch.batch_size(present, properties) == expected


def begin_update(engine: Engine, **spec: Any) -> str:
    """Update cluster c of 5 to another profile; return the action's ID."""
    request_helpers.create_cluster(engine, 5)
    create_policy(engine, 'batch', **spec)
    attach(engine)
    new = request_helpers.create_profile(
        engine, 'new', properties={'flavor': 'm1.large'}
    )
    response = engine.run(
        clusters.ClusterUpdateRequest(identity='c', profile_id=new)
    )
    action: str = response.action
    return action


def show(engine: Engine, action: str) -> Any:
    return engine.call(actions.ActionGetRequest(identity=action))


def updated(harness: Harness) -> int:
    return sum(
        server.properties['flavor'] == 'm1.large'
        for server in harness.rows(tables.SimulatedServer)
    )


def end_pause(harness: Harness) -> None:
    harness.change(models.Action, not_before=None)


def test_batches_run_in_order_when_engines_die(any_harness: Harness) -> None:
    engine = any_harness.engine()
    action = begin_update(engine, max_batch_size=2, pause_time=3600)
    assert updated(any_harness) == 2
    paused = show(engine, action)
    assert paused.status == 'READY'
    assert paused.status_reason == 'Pauses between batches; 2 to go'
    assert [len(batch) for batch in paused.data['update']['plan']] == [2, 2, 1]
    assert request_helpers.get_cluster(engine, 'c').status == 'UPDATING'
    any_harness.detect_death(engine)
    survivor = any_harness.engine(name='other')
    assert survivor.run_actions() == 0
    for expected in (4, 5):
        end_pause(any_harness)
        survivor.run_actions()
        assert updated(any_harness) == expected
    assert show(survivor, action).status == 'SUCCEEDED'
    assert request_helpers.get_cluster(survivor, 'c').status == 'ACTIVE'
    assert request_helpers.get_cluster(survivor, 'c').profile_name == 'new'
    any_harness.assert_idle()


def test_pauses_extend_the_timeout(harness: Harness, engine: Engine) -> None:
    action = begin_update(engine, max_batch_size=1, pause_time=3600)
    row = harness.row(models.Action, action)
    seconds = row.deadline.timestamp() - row.start_time
    assert seconds == pytest.approx(row.timeout + 4 * 3600, abs=1)
    engine.reaper.sweep()
    assert show(engine, action).status == 'READY'


def test_failed_batch_ends_the_update(harness: Harness) -> None:
    engine = harness.engine()
    action = begin_update(engine, max_batch_size=2, pause_time=3600)
    harness.conf.set_override('failure_rate', 1.0, 'simulated')
    end_pause(harness)
    engine.run_actions()
    ended = show(engine, action)
    assert ended.status == 'FAILED'
    assert 'Failed in updating nodes' in ended.status_reason
    assert updated(harness) == 2
    assert request_helpers.get_cluster(engine, 'c').profile_name == 'p'
    harness.assert_idle()


def test_update_can_be_cancelled_during_pause(
    harness: Harness, engine: Engine
) -> None:
    action = begin_update(engine, max_batch_size=2, pause_time=3600)
    engine.run(
        actions.ActionUpdateRequest(identity=action, status='CANCELLED')
    )
    assert show(engine, action).status == 'CANCELLED'
    assert updated(harness) == 2
    harness.assert_idle()


def test_inactive_nodes_are_updated_first_without_pauses(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 3)
    *_, last = request_helpers.get_cluster(engine, 'c').nodes
    harness.change(models.Node, last, status='ERROR')
    create_policy(engine, 'batch', max_batch_size=1, pause_time=0)
    attach(engine)
    new = request_helpers.create_profile(
        engine, 'new', properties={'flavor': 'm1.large'}
    )
    response = engine.run(
        clusters.ClusterUpdateRequest(identity='c', profile_id=new)
    )
    ended = show(engine, response.action)
    assert ended.status == 'SUCCEEDED'
    assert ended.data['update']['plan'][0] == [last]
    assert updated(harness) == 3


def test_name_update_is_not_batched(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 2)
    create_policy(engine, 'batch', max_batch_size=1)
    attach(engine)
    response = engine.run(
        clusters.ClusterUpdateRequest(identity='c', name='d')
    )
    assert show(engine, response.action).data == {}
    assert show(engine, response.action).status == 'SUCCEEDED'
