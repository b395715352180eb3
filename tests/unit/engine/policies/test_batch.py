# SPDX-License-Identifier: Apache-2.0
"""Clusters that are updated in batches."""

from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from engine.policies import batch
from tests.unit.engine import asks, fleet
from tests.unit.engine.policies.attaching import attach, policy
from vobjects.clustering import errors
from vobjects.clustering.requests import actions, clusters


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
def test_batch_leaves_enough_in_service(
    present: int, stay: int, most: int, expected: int
) -> None:
    properties = {'max_batch_size': most, 'min_in_service': stay}
    assert batch.batch_size(present, properties) == expected


@pytest.mark.parametrize(
    'properties',
    [{'min_in_service': -1}, {'pause_time': -1}, {'max_batch_size': 0}],
)
def test_batch_of_nothing_is_refused(
    world: fleet.World, properties: dict[str, int]
) -> None:
    with pytest.raises(errors.InvalidSpec, match='must be'):
        policy(world.engine(), 'batch', **properties)


def begin_update(engine: fleet.Engine, **spec: Any) -> str:
    """Update cluster c of 5 to another profile; return the action's ID."""
    asks.cluster(engine, 5)
    policy(engine, 'batch', **spec)
    attach(engine)
    new = asks.profile(engine, 'new', properties={'flavor': 'm1.large'})
    asked = engine.ask(
        clusters.ClusterUpdateRequest(identity='c', profile_id=new)
    )
    engine.work()
    found: str = asked.action
    return found


def show(engine: fleet.Engine, action: str) -> Any:
    return engine.ask(actions.ActionGetRequest(identity=action))


def updated(world: fleet.World) -> int:
    return sum(
        server.properties['flavor'] == 'm1.large'
        for server in world.rows(models.SimulatedServer)
    )


def end_pause(world: fleet.World) -> None:
    def over(session: Any) -> None:
        for action in session.query(models.Action):
            action.not_before = None

    world.database.write(over)


def test_batches_follow_one_another_whoever_dies_in_between(
    any_world: fleet.World,
) -> None:
    engine = any_world.engine()
    action = begin_update(engine, max_batch_size=2, pause_time=3600)
    assert updated(any_world) == 2
    paused = show(engine, action)
    assert paused.status == 'READY'
    assert paused.status_reason == 'Pauses between batches; 2 to go'
    assert [len(some) for some in paused.data['update']['plan']] == [2, 2, 1]
    assert asks.show_cluster(engine, 'c').status == 'UPDATING'
    any_world.bury(engine)
    other = any_world.engine(name='other')
    assert other.work() == 0
    for done in (4, 5):
        end_pause(any_world)
        other.work()
        assert updated(any_world) == done
    assert show(other, action).status == 'SUCCEEDED'
    assert asks.show_cluster(other, 'c').status == 'ACTIVE'
    assert asks.show_cluster(other, 'c').profile_name == 'new'
    any_world.assert_at_rest()


def test_pauses_are_no_part_of_the_timeout(world: fleet.World) -> None:
    engine = world.engine()
    action = begin_update(engine, max_batch_size=1, pause_time=3600)
    row = world.row(models.Action, action)
    seconds = row.deadline.timestamp() - row.start_time
    assert seconds == pytest.approx(row.timeout + 4 * 3600, abs=1)
    engine.reaper.sweep()
    assert show(engine, action).status == 'READY'


def test_batch_that_fails_is_the_last(world: fleet.World) -> None:
    engine = world.engine()
    action = begin_update(engine, max_batch_size=2, pause_time=3600)
    world.conf.set_override('failure_rate', 1.0, 'simulated')
    end_pause(world)
    engine.work()
    ended = show(engine, action)
    assert ended.status == 'FAILED'
    assert 'Failed in updating nodes' in ended.status_reason
    assert updated(world) == 2
    assert asks.show_cluster(engine, 'c').profile_name == 'p'
    world.assert_at_rest()


def test_update_is_cancelled_in_a_pause(world: fleet.World) -> None:
    engine = world.engine()
    action = begin_update(engine, max_batch_size=2, pause_time=3600)
    engine.ask(
        actions.ActionUpdateRequest(identity=action, status='CANCELLED')
    )
    engine.work()
    assert show(engine, action).status == 'CANCELLED'
    assert updated(world) == 2
    world.assert_at_rest()


def test_nodes_out_of_order_go_first_and_pauses_may_be_none(
    world: fleet.World,
) -> None:
    engine = world.engine()
    asks.cluster(engine, 3)
    *_, last = asks.show_cluster(engine, 'c').nodes

    def sick(session: Any) -> None:
        session.get(models.Node, last).status = 'ERROR'

    world.database.write(sick)
    policy(engine, 'batch', max_batch_size=1, pause_time=0)
    attach(engine)
    new = asks.profile(engine, 'new', properties={'flavor': 'm1.large'})
    asked = engine.ask(
        clusters.ClusterUpdateRequest(identity='c', profile_id=new)
    )
    engine.work()
    ended = show(engine, asked.action)
    assert ended.status == 'SUCCEEDED'
    assert ended.data['update']['plan'][0] == [last]
    assert updated(world) == 3


def test_update_of_a_name_is_not_done_in_batches(world: fleet.World) -> None:
    engine = world.engine()
    asks.cluster(engine, 2)
    policy(engine, 'batch', max_batch_size=1)
    attach(engine)
    asked = engine.ask(clusters.ClusterUpdateRequest(identity='c', name='d'))
    engine.work()
    assert show(engine, asked.action).data == {}
    assert show(engine, asked.action).status == 'SUCCEEDED'
