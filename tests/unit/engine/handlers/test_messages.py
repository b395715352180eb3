# SPDX-License-Identifier: Apache-2.0
"""Receivers whose messages start actions."""

from __future__ import annotations

import datetime
import functools
from typing import Any

import pytest

from engine.db import clock, models
from engine.queues import base as queues
from tests import waiting
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering import errors
from vobjects.clustering.context import RequestContext
from vobjects.clustering.requests import clusters, receivers
from vobjects.objects.manifest import Manifest, local
from vobjects_simulated import tables

OUT = {'cluster': 'c', 'action': 'CLUSTER_SCALE_OUT', 'params': {'count': 2}}


@pytest.fixture
def receiver(engine: Engine) -> Any:
    return create(engine)


def create(engine: Engine) -> Any:
    request = receivers.ReceiverCreateRequest(
        name='r', type='message', endpoint='http://api:8777'
    )
    return engine.call(request)


def use_queues(engine: Engine, service: Any) -> None:
    """Replace the queue service of an engine."""
    object.__setattr__(engine.runtime, 'queues', service)


def post(engine: Engine, receiver: Any, *bodies: Any) -> None:
    for body in bodies:
        engine.runtime.queues.post(
            'ours', receiver.channel['queue_name'], body
        )


def notify(engine: Engine, **more: Any) -> None:
    request = receivers.ReceiverNotifyRequest(identity='r')
    assert engine.call(request, **more) is None


def remaining_bodies(engine: Engine, receiver: Any) -> list[Any]:
    claim = engine.runtime.queues.claim('ours', receiver.channel['queue_name'])
    return [message.body for message in claim.messages]


def actions_of(harness: Harness, kind: str = 'CLUSTER_SCALE_OUT') -> list[Any]:
    return [row for row in harness.rows(models.Action) if row.action == kind]


def test_messages_start_actions_of_the_owner(any_harness: Harness) -> None:
    engine = any_harness.engine()
    request_helpers.create_cluster(engine, 0)
    receiver = create(engine)
    queue = f'senlin-receiver-{receiver.id}'
    assert receiver.channel == {'queue_name': queue}
    assert (receiver.cluster_id, receiver.action) == (None, None)
    post(engine, receiver, OUT, {**OUT, 'params': {'count': 1}})
    notify(engine)
    engine.run_actions()
    assert [row.status for row in actions_of(any_harness)] == ['SUCCEEDED'] * 2
    assert {row.user for row in actions_of(any_harness)} == {'alice'}
    assert len(request_helpers.get_cluster(engine, 'c').nodes) == 3
    assert remaining_bodies(engine, receiver) == []
    assert any_harness.count(models.ReceivedMessage) == 0
    notify(engine)
    assert len(actions_of(any_harness)) == 2
    any_harness.assert_idle()


def test_message_that_an_older_engine_cannot_read_waits_alone(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 0)
    receiver = create(engine)
    delete = {
        'cluster': 'c',
        'action': 'CLUSTER_DELETE',
        'params': {'force': True},
    }
    post(engine, receiver, delete, OUT)
    cap = Manifest({**local(), 'ClusterDeleteRequest': '1.0'})
    notify(harness.engine(cap=lambda: cap))
    assert len(actions_of(harness)) == 1
    assert actions_of(harness, 'CLUSTER_DELETE') == []
    engine.run_actions()

    notify(engine)
    assert len(actions_of(harness, 'CLUSTER_DELETE')) == 1
    assert remaining_bodies(engine, receiver) == []


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
def test_invalid_message_is_dropped(
    harness: Harness, engine: Engine, receiver: Any, body: Any
) -> None:
    request_helpers.create_cluster(engine, 0)
    request_helpers.create_foreign_cluster(engine)
    bob = RequestContext(user_id='bob', project_id='ours')
    request_helpers.create_cluster(engine, 0, name='bobs', context=bob)
    post(engine, receiver, body, OUT)
    before = harness.count(models.Action)
    notify(engine)
    assert harness.count(models.Action) == before + 1
    assert remaining_bodies(engine, receiver) == []


def test_administrator_message_may_target_foreign_cluster(
    harness: Harness, engine: Engine, receiver: Any
) -> None:
    bob = RequestContext(user_id='bob', project_id='ours')
    request_helpers.create_cluster(engine, 0, name='bobs', context=bob)
    post(engine, receiver, {**OUT, 'cluster': 'bobs'})
    notify(engine, context=engine_harness.request_context(admin=True))
    assert len(actions_of(harness)) == 1


def test_redelivered_message_starts_no_second_action(
    any_harness: Harness,
) -> None:
    engine = any_harness.engine()
    request_helpers.create_cluster(engine, 0)
    receiver = create(engine)
    post(engine, receiver, OUT)

    class Dying:
        """Queues of an engine that dies after it made the action."""

        def __init__(self, inner: queues.Queues) -> None:
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

        def remove(self, *arguments: Any) -> None:
            raise engine_harness.CrashError

    inner = engine.runtime.queues
    use_queues(engine, Dying(inner))
    with pytest.raises(engine_harness.CrashError):
        notify(engine)
    use_queues(engine, inner)
    assert len(actions_of(any_harness)) == 1
    any_harness.change(tables.SimulatedMessage, claimed_until=None)
    notify(any_harness.engine(name='two'))
    assert len(actions_of(any_harness)) == 1
    assert remaining_bodies(engine, receiver) == []
    assert any_harness.count(models.ReceivedMessage) == 0


def test_concurrent_notifications_start_each_action_once(
    any_harness: Harness,
) -> None:
    engines = [any_harness.engine(name=str(number)) for number in range(4)]
    request_helpers.create_cluster(engines[0], 0)
    receiver = create(engines[0])
    post(engines[0], receiver, *[OUT] * 30)
    waiting.in_threads(notify, engines)
    notify(engines[0])
    assert len(actions_of(any_harness)) == 30
    assert any_harness.count(tables.SimulatedMessage) == 0
    assert any_harness.count(models.ReceivedMessage) == 0


def test_message_for_busy_cluster_stays_in_queue(
    harness: Harness, engine: Engine, receiver: Any
) -> None:
    request_helpers.create_cluster(engine, 1)
    engine.call(clusters.ClusterCheckRequest(identity='c'))
    resize = {'adjustment_type': 'EXACT_CAPACITY', 'number': 3}
    post(
        engine,
        receiver,
        {'cluster': 'c', 'action': 'CLUSTER_RESIZE', 'params': resize},
    )
    notify(engine)
    assert actions_of(harness, 'CLUSTER_RESIZE') == []
    engine.run_actions()
    notify(engine)
    engine.run_actions()
    assert len(request_helpers.get_cluster(engine, 'c').nodes) == 3


def test_receiver_deletion_deletes_queue(
    harness: Harness, engine: Engine, receiver: Any
) -> None:
    post(engine, receiver, OUT)
    changed = engine.call(
        receivers.ReceiverUpdateRequest(
            identity='r', name='other', params={'x': 1}
        )
    )
    assert changed.channel == receiver.channel
    engine.call(receivers.ReceiverDeleteRequest(identity='other'))
    assert remaining_bodies(engine, receiver) == []
    assert harness.count(models.Receiver) == 0


def test_message_receiver_has_no_webhook(
    engine: Engine, receiver: Any
) -> None:
    with pytest.raises(errors.ResourceNotFound):
        engine.call(
            receivers.WebhookTriggerRequest(
                identity=receiver.id, params={}, body={}
            )
        )


def test_failing_queue_service_is_reported(
    harness: Harness, engine: Engine
) -> None:
    class Failing:
        def __getattr__(self, name: str) -> Any:
            def fail(*arguments: Any) -> Any:
                raise queues.QueueError(f'could not {name}')

            return fail

    inner = engine.runtime.queues
    use_queues(engine, Failing())
    with pytest.raises(errors.Unavailable, match='could not create'):
        create(engine)
    assert harness.count(models.Receiver) == 0
    use_queues(engine, inner)
    create(engine)
    use_queues(engine, Failing())
    with pytest.raises(errors.Unavailable, match='could not claim'):
        notify(engine)
    with pytest.raises(errors.Unavailable, match='could not unsubscribe'):
        engine.call(receivers.ReceiverDeleteRequest(identity='r'))
    assert harness.count(models.Receiver) == 1


def test_old_message_records_are_deleted(any_harness: Harness) -> None:
    engine = any_harness.engine()
    request_helpers.create_cluster(engine, 0)
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

    any_harness.database.write(remember)
    post(engine, receiver, OUT)
    notify(engine)
    message_ids = [
        row.message_id for row in any_harness.rows(models.ReceivedMessage)
    ]
    assert message_ids == ['10']


@pytest.mark.parametrize(
    ('value', 'reason'),
    [
        (functools.reduce(lambda inner, _: [inner], range(100), 1), '64 deep'),
        (float('nan'), 'NaN is not JSON'),
        (float('-inf'), '-Infinity is not JSON'),
        (2**63, 'does not fit 64 bits'),
        ('a\0', 'U+0000'),
        ({'\0': 1}, 'U+0000'),
        ('\ud800', 'U+D800'),
        ([0] * (1 << 15), 'values'),
    ],
)
def test_message_with_a_value_that_no_body_may_have_is_dropped(
    harness: Harness,
    engine: Engine,
    receiver: Any,
    caplog: pytest.LogCaptureFixture,
    value: Any,
    reason: str,
) -> None:
    request_helpers.create_cluster(engine, 0)
    claimed = [
        queues.Message(
            'm',
            {
                'cluster': 'c',
                'action': 'CLUSTER_UPDATE',
                'params': {'metadata': {'a': value}},
            },
        )
    ]
    removed = []

    class Claims:
        """Queues of another service, which may accept any value."""

        def claim(self, project: str, queue: str) -> queues.Claim:
            return queues.Claim('claim', [claimed.pop()] if claimed else [])

        def remove(self, *arguments: str) -> None:
            removed.append(arguments[2])

        def release(self, *arguments: str) -> None:
            pass

    use_queues(engine, Claims())
    before = harness.count(models.Action)
    notify(engine)
    assert harness.count(models.Action) == before
    assert reason in caplog.text
    assert removed == ['m']
