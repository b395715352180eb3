# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading

import pytest
import sqlalchemy
from sqlalchemy import orm

from engine.db import database, locks, models


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


def acquire(
    target: database.Database,
    action: str,
    cluster: str,
    *,
    exclusive: bool = True,
) -> str | None:
    want = locks.LockRequest(models.Cluster, cluster, exclusive)
    return target.write(lambda session: locks.acquire(session, action, [want]))


def release(target: database.Database, action: str, cluster: str) -> bool:
    return target.write(
        lambda session: locks.release(session, action, [cluster])
    )


def holders(session: orm.Session, resource_id: str) -> list[str]:
    """Return the IDs of the actions that hold a resource."""
    held = models.Lock.resource_id == resource_id
    query = sqlalchemy.select(models.Lock.action_id).where(held)
    return list(session.scalars(query))


def test_acquire_when_exclusively_locked_fails(
    any_database: database.Database, cluster: str
) -> None:
    assert acquire(any_database, 'a', cluster) is None
    assert acquire(any_database, 'b', cluster) == cluster
    assert acquire(any_database, 'b', cluster, exclusive=False) == cluster


def test_acquire_shared_when_shared_succeeds(
    any_database: database.Database, cluster: str
) -> None:
    assert acquire(any_database, 'a', cluster, exclusive=False) is None
    assert acquire(any_database, 'b', cluster, exclusive=False) is None
    assert acquire(any_database, 'c', cluster) == cluster


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
        assert locks.acquire(session, 'a', wants[1:]) is None
        assert locks.acquire(session, 'b', wants) == node.id
        return cluster, node.id

    cluster_id, node_id = any_database.write(body)
    with any_database.reader() as session:
        assert holders(session, cluster_id) == []
        assert holders(session, node_id) == ['a']


def test_release_wakes_blocked_actions(
    any_database: database.Database, cluster: str
) -> None:
    acquire(any_database, 'a', cluster)

    def body(session: orm.Session) -> models.Action:
        action = models.Action(
            id='b',
            name='b',
            action='CLUSTER_CHECK',
            target=cluster,
            cause='test',
            timeout=1,
            status='READY',
            blocked_on=cluster,
        )
        session.add(action)
        return action

    any_database.write(body)
    assert release(any_database, 'a', cluster)
    assert not release(any_database, 'a', cluster)
    with any_database.reader() as session:
        action = session.get(models.Action, 'b')
        assert action is not None
        assert action.blocked_on is None


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

    threads = [
        threading.Thread(target=contend, args=(name,)) for name in 'abc'
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
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
        any_database.write(lambda session: locks.acquire(session, 'a', wanted))
        is None
    )
    assert any_database.write(lambda session: holders(session, other)) == ['a']
