# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import datetime
import threading
from collections.abc import Sequence

import pytest
import sqlalchemy
from sqlalchemy import orm

from engine.db import database, locks, models, statements
from tests import waiting
from vobjects_sql.stored import StoredText

LATER = datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC)


@pytest.fixture
def cluster(any_database: database.Database) -> str:
    def body(session: orm.Session) -> str:
        profile = models.Profile(
            id=models.new_id(), name='p', type='t', spec={}
        )
        session.add(profile)
        session.flush()
        cluster = models.Cluster(
            id=models.new_id(), name='c', profile_id=profile.id, status='INIT'
        )
        session.add(cluster)
        session.flush()
        return cluster.id

    return any_database.write(body)


def take(
    session: orm.Session, action: str, wanted: Sequence[locks.LockRequest]
) -> str | None:
    """Take all locks, or none; return the resource that another holds."""
    decision = locks.decide(session, action, wanted)
    statements.insert(session, decision.missing)
    return decision.blocked_on


def acquire(
    target: database.Database,
    action: str,
    cluster: str,
    *,
    exclusive: bool = True,
) -> str | None:
    want = locks.LockRequest(models.Cluster, cluster, exclusive)
    return target.write(lambda session: take(session, action, [want]))


def release(target: database.Database, action: str, cluster: str) -> bool:
    return target.write(
        lambda session: locks.release(session, action, [cluster])
    )


def holders(session: orm.Session, resource_id: str) -> list[str]:
    """Return the IDs of the actions that hold a resource."""
    held = models.Lock.resource_id == resource_id
    query = sqlalchemy.select(models.Lock.action_id).where(held)
    return list(session.scalars(query))


@pytest.mark.parametrize('held', [True, False], ids=['exclusive', 'shared'])
@pytest.mark.parametrize('wanted', [True, False], ids=['exclusive', 'shared'])
def test_acquire_fails_unless_both_share_the_resource(
    any_database: database.Database, cluster: str, held: bool, wanted: bool
) -> None:
    assert acquire(any_database, 'a', cluster, exclusive=held) is None
    blocked_on = acquire(any_database, 'b', cluster, exclusive=wanted)
    assert blocked_on == (cluster if held or wanted else None)


def test_acquire_when_already_holder_succeeds(
    any_database: database.Database, cluster: str
) -> None:
    assert acquire(any_database, 'a', cluster) is None
    assert acquire(any_database, 'a', cluster) is None
    with any_database.reader() as session:
        assert holders(session, cluster) == ['a']


def test_acquire_when_resource_was_deleted_succeeds(
    any_database: database.Database,
) -> None:
    assert acquire(any_database, 'a', models.new_id()) is None


def test_acquire_when_one_lock_is_unavailable_takes_none(
    any_database: database.Database, cluster: str
) -> None:
    def body(session: orm.Session) -> tuple[str, str]:
        row = session.get(models.Cluster, cluster)
        assert row is not None
        node = models.Node(
            id=models.new_id(),
            name='n',
            profile_id=row.profile_id,
            status='INIT',
        )
        session.add(node)
        session.flush()
        wants = [
            locks.LockRequest(models.Cluster, cluster, exclusive=False),
            locks.LockRequest(models.Node, node.id),
        ]
        assert take(session, 'a', wants[1:]) is None
        assert take(session, 'b', wants) == node.id
        return cluster, node.id

    cluster_id, node_id = any_database.write(body)
    with any_database.reader() as session:
        assert holders(session, cluster_id) == []
        assert holders(session, node_id) == ['a']


def add_action(
    target: database.Database, action: str, blocked_on: str | None = None
) -> None:
    """Add an action that waits until a resource is free, or a time."""

    def body(session: orm.Session) -> None:
        session.add(
            models.Action(
                id=action,
                name=action,
                action='CLUSTER_CHECK',
                target='t',
                cause='test',
                timeout=1,
                status='READY',
                inputs=StoredText('{}'),
                blocked_on=blocked_on,
                not_before=LATER if blocked_on else None,
            )
        )

    target.write(body)


def test_release_wakes_the_actions_that_wait_for_the_resource(
    any_database: database.Database, cluster: str
) -> None:
    acquire(any_database, 'a', cluster)
    add_action(any_database, 'b', blocked_on=cluster)
    add_action(any_database, 'c', blocked_on='other')
    assert not release(any_database, 'b', cluster)
    assert release(any_database, 'a', cluster)
    # No action waits any more.
    assert acquire(any_database, 'd', cluster) is None
    assert not release(any_database, 'd', cluster)
    with any_database.reader() as session:
        woken, waiting = (
            session.get_one(models.Action, action) for action in 'bc'
        )
        assert (woken.blocked_on, woken.not_before) == (None, None)
        assert waiting.blocked_on == 'other'
        assert waiting.not_before is not None


def test_holders_are_the_actions_that_share_the_resource(
    any_database: database.Database, cluster: str
) -> None:
    for action in 'abc':
        add_action(any_database, action)
    for action in 'ba':
        acquire(any_database, action, cluster, exclusive=False)
    with any_database.reader() as session:
        held = locks.holders(session, cluster)
        assert {action.id for action in held} == {'a', 'b'}
        assert held == sorted(held, key=lambda a: (a.created_at, a.id))
        assert locks.holders(session, 'other') == []


def test_exclusive_lock_under_threads_has_one_holder(
    any_database: database.Database, cluster: str
) -> None:
    inside = threading.Semaphore(1)
    broken: list[str] = []
    entered: list[str] = []

    def contend(name: str) -> None:
        for turn in range(6):
            action = f'{name}-{turn}'
            while acquire(any_database, action, cluster) is not None:
                pass
            if not inside.acquire(blocking=False):
                broken.append(action)
            entered.append(action)
            inside.release()
            release(any_database, action, cluster)

    waiting.in_threads(contend, 'abc')
    assert broken == []
    assert len(entered) == 18


@pytest.mark.parametrize('first', ['deleted', 'held'])
def test_acquire_after_a_resource_that_needs_no_lock_takes_the_others(
    any_database: database.Database, cluster: str, first: str
) -> None:
    def add_cluster(session: orm.Session) -> str:
        known = session.get_one(models.Cluster, cluster)
        other = models.Cluster(
            id=models.new_id(),
            name='d',
            profile_id=known.profile_id,
            status='INIT',
        )
        session.add(other)
        session.flush()
        return other.id

    other = any_database.write(add_cluster)
    if first == 'held':
        assert acquire(any_database, 'a', cluster) is None
    wanted = [
        locks.LockRequest(
            models.Cluster, models.new_id() if first == 'deleted' else cluster
        ),
        locks.LockRequest(models.Cluster, other),
    ]
    assert (
        any_database.write(lambda session: take(session, 'a', wanted)) is None
    )
    assert any_database.write(lambda session: holders(session, other)) == ['a']
