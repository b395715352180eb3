# SPDX-License-Identifier: Apache-2.0
"""Receivers whose messages start actions."""

from __future__ import annotations

import datetime
import threading
from typing import Any

import pytest

from engine.db import clock, models
from engine.queues import base as queues
from tests.unit.engine import asks, fleet
from vobjects.clustering import errors
from vobjects.clustering.context import RequestContext
from vobjects.clustering.requests import clusters, receivers

OUT = {'cluster': 'c', 'action': 'CLUSTER_SCALE_OUT', 'params': {'count': 2}}


def create(engine: fleet.Engine, **more: Any) -> Any:
    request = receivers.ReceiverCreateRequest(
        name='r', type='message', endpoint='http://api:8777', **more
    )
    return engine.ask(request)


def post(engine: fleet.Engine, receiver: Any, *bodies: Any) -> None:
    for body in bodies:
        engine.run.queues.post('ours', receiver.channel['queue_name'], body)


def notify(engine: fleet.Engine, **more: Any) -> None:
    request = receivers.ReceiverNotifyRequest(identity='r')
    assert engine.ask(request, **more) is None


def left(engine: fleet.Engine, receiver: Any) -> list[Any]:
    claim = engine.run.queues.claim('ours', receiver.channel['queue_name'])
    return [one.body for one in claim.messages]


def made(world: fleet.World, kind: str = 'CLUSTER_SCALE_OUT') -> list[Any]:
    return [row for row in world.rows(models.Action) if row.action == kind]


def test_messages_start_actions_of_the_owner(any_world: fleet.World) -> None:
    engine = any_world.engine()
    asks.cluster(engine, 0)
    receiver = create(engine)
    queue = f'senlin-receiver-{receiver.id}'
    assert receiver.channel == {'queue_name': queue}
    assert (receiver.cluster_id, receiver.action) == (None, None)
    post(engine, receiver, OUT, {**OUT, 'params': {'count': 1}})
    notify(engine)
    engine.work()
    assert [row.status for row in made(any_world)] == ['SUCCEEDED'] * 2
    assert {row.user for row in made(any_world)} == {'alice'}
    assert len(asks.show_cluster(engine, 'c').nodes) == 3
    assert left(engine, receiver) == []
    assert any_world.count(models.ReceivedMessage) == 0
    notify(engine)
    assert len(made(any_world)) == 2
    any_world.assert_at_rest()


@pytest.mark.parametrize(
    'body',
    [
        {},
        {'cluster': 'c'},
        {'action': 'CLUSTER_CHECK'},
        {**OUT, 'cluster': 'none'},
        {**OUT, 'cluster': 'theirs'},
        {**OUT, 'cluster': 'bobs'},
        {**OUT, 'action': 'CLUSTER_CREATE'},
        {**OUT, 'action': 'NODE_DELETE'},
        {**OUT, 'params': {'colour': 1}},
        {**OUT, 'params': {'count': 'x'}},
        {**OUT, 'params': [1]},
        {**OUT, 'cluster': ['c']},
        {**OUT, 'cluster': '\0'},
    ],
)
def test_message_that_asks_for_nothing_is_dropped(
    world: fleet.World, body: Any
) -> None:
    engine = world.engine()
    asks.cluster(engine, 0)
    asks.cluster(engine, 0, name='theirs', context=fleet.caller('theirs'))
    bob = RequestContext(user_id='bob', project_id='ours')
    asks.cluster(engine, 0, name='bobs', context=bob)
    receiver = create(engine)
    post(engine, receiver, body, OUT)
    before = world.count(models.Action)
    notify(engine)
    assert world.count(models.Action) == before + 1
    assert left(engine, receiver) == []


def test_administrator_may_have_others_clusters_changed(
    world: fleet.World,
) -> None:
    engine = world.engine()
    bob = RequestContext(user_id='bob', project_id='ours')
    asks.cluster(engine, 0, name='bobs', context=bob)
    receiver = create(engine)
    post(engine, receiver, {**OUT, 'cluster': 'bobs'})
    notify(engine, context=fleet.caller(admin=True))
    assert len(made(world)) == 1


def test_message_that_comes_again_makes_no_second_action(
    any_world: fleet.World,
) -> None:
    engine = any_world.engine()
    asks.cluster(engine, 0)
    receiver = create(engine)
    post(engine, receiver, OUT)

    class Dying:
        """Queues of an engine that dies after it made the action."""

        def __init__(self, inner: queues.Queues) -> None:
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

        def remove(self, *arguments: Any) -> None:
            raise fleet.CrashError

    inner = engine.run.queues
    object.__setattr__(engine.run, 'queues', Dying(inner))
    with pytest.raises(fleet.CrashError):
        notify(engine)
    object.__setattr__(engine.run, 'queues', inner)
    assert len(made(any_world)) == 1

    def claim_ends(session: Any) -> None:
        for row in session.query(models.SimulatedMessage):
            row.claimed_until = None

    any_world.database.write(claim_ends)
    notify(any_world.engine(name='two'))
    assert len(made(any_world)) == 1
    assert left(engine, receiver) == []
    assert any_world.count(models.ReceivedMessage) == 0


def test_engines_that_are_notified_at_once_make_each_action_once(
    any_world: fleet.World,
) -> None:
    engines = [any_world.engine(name=str(number)) for number in range(4)]
    asks.cluster(engines[0], 0)
    receiver = create(engines[0])
    post(engines[0], receiver, *[OUT] * 30)
    threads = [
        threading.Thread(target=notify, args=(engine,)) for engine in engines
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    notify(engines[0])
    assert len(made(any_world)) == 30
    assert any_world.count(models.SimulatedMessage) == 0
    assert any_world.count(models.ReceivedMessage) == 0


def test_message_whose_cluster_is_busy_is_left_for_later(
    world: fleet.World,
) -> None:
    engine = world.engine()
    asks.cluster(engine, 1)
    receiver = create(engine)
    engine.ask(clusters.ClusterCheckRequest(identity='c'))
    resize = {'adjustment_type': 'EXACT_CAPACITY', 'number': 3}
    post(
        engine,
        receiver,
        {'cluster': 'c', 'action': 'CLUSTER_RESIZE', 'params': resize},
    )
    notify(engine)
    assert made(world, 'CLUSTER_RESIZE') == []
    engine.work()
    notify(engine)
    engine.work()
    assert len(asks.show_cluster(engine, 'c').nodes) == 3


def test_queue_goes_with_its_receiver(world: fleet.World) -> None:
    engine = world.engine()
    receiver = create(engine)
    post(engine, receiver, OUT)
    changed = engine.ask(
        receivers.ReceiverUpdateRequest(
            identity='r', name='other', params={'x': 1}
        )
    )
    assert changed.channel == receiver.channel
    engine.ask(receivers.ReceiverDeleteRequest(identity='other'))
    assert left(engine, receiver) == []
    assert world.count(models.Receiver) == 0


def test_message_receiver_has_no_webhook(world: fleet.World) -> None:
    engine = world.engine()
    receiver = create(engine)
    with pytest.raises(errors.ResourceNotFound):
        engine.ask(
            receivers.WebhookTriggerRequest(
                identity=receiver.id, params={}, body={}
            )
        )


def test_failing_queue_service_is_told_to_the_caller(
    world: fleet.World,
) -> None:
    engine = world.engine()

    class Failing:
        def __getattr__(self, name: str) -> Any:
            def fail(*arguments: Any) -> Any:
                raise queues.QueueError(f'could not {name}')

            return fail

    inner = engine.run.queues
    object.__setattr__(engine.run, 'queues', Failing())
    with pytest.raises(errors.Unavailable, match='could not create'):
        create(engine)
    assert world.count(models.Receiver) == 0
    object.__setattr__(engine.run, 'queues', inner)
    create(engine)
    object.__setattr__(engine.run, 'queues', Failing())
    with pytest.raises(errors.Unavailable, match='could not claim'):
        notify(engine)
    with pytest.raises(errors.Unavailable, match='could not unsubscribe'):
        engine.ask(receivers.ReceiverDeleteRequest(identity='r'))
    assert world.count(models.Receiver) == 1


def test_notes_of_long_ago_are_dropped(any_world: fleet.World) -> None:
    engine = any_world.engine()
    asks.cluster(engine, 0)
    receiver = create(engine)

    def remember(session: Any) -> None:
        now = clock.now(session)
        for days in (10, 20):
            session.add(
                models.ReceivedMessage(
                    receiver_id=receiver.id,
                    message_id=str(days),
                    created_at=now - datetime.timedelta(days=days),
                )
            )

    any_world.database.write(remember)
    post(engine, receiver, OUT)
    notify(engine)
    kept = [row.message_id for row in any_world.rows(models.ReceivedMessage)]
    assert kept == ['10']
