# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import datetime
import threading

import pytest
from sqlalchemy import orm

from engine.db import (
    actions,
    clock,
    database,
    dependencies,
    ledger,
    models,
    work_queue,
)
from tests import waiting
from tests.unit.engine.engine_harness import Harness
from vobjects_sql.stored import StoredText


def new(**values: object) -> models.Action:
    return models.Action(
        **{
            'id': models.new_id(),
            'name': 'a',
            'action': 'NODE_CHECK',
            'target': models.new_id(),
            'cause': 'test',
            'timeout': 10,
            'status': 'READY',
            'stage': 'start',
            'inputs': StoredText('{}'),
            **values,
        }
    )


def add(target: database.Database, *rows: models.Action) -> None:
    target.write(lambda session: session.add_all(rows))


def claim(
    target: database.Database, action: models.Action, owner: str
) -> actions.Claim | None:
    def body(session: orm.Session) -> actions.Claim | None:
        locked = work_queue.lock_claimable(session, action.id, owner)
        if locked is None:
            return None
        row, now = locked
        return work_queue.claim(session, row, owner, now)

    return target.write(body)


def end(
    target: database.Database, claimed: actions.Claim
) -> tuple[bool, bool]:
    def body(session: orm.Session) -> tuple[bool, bool]:
        action = actions.get(session, claimed.action_id)
        assert action is not None
        now = clock.now(session)
        return actions.end(
            session, action, claimed.condition(), 'SUCCEEDED', 'done', now
        )

    return target.write(body)


def status(target: database.Database, action: models.Action) -> str:
    with target.reader() as session:
        row = actions.get(session, action.id)
        assert row is not None
        return row.status


def wait_for(
    target: database.Database,
    claimed: actions.Claim,
    children: list[models.Action],
) -> None:
    target.write(
        lambda session: actions.wait_for(
            session, claimed, children, 'next', {}
        )
    )


@pytest.fixture
def owner(any_harness: Harness) -> str:
    return any_harness.engine().member.id


def test_concurrent_claims_have_one_winner(
    any_database: database.Database, any_harness: Harness
) -> None:
    owners = [any_harness.engine(name=str(n)).member.id for n in range(4)]
    rows = [new() for _ in range(10)]
    add(any_database, *rows)
    won: list[str] = []

    def compete(owner: str) -> None:
        won.extend(row.id for row in rows if claim(any_database, row, owner))

    waiting.in_threads(compete, owners)
    assert sorted(won) == sorted(row.id for row in rows)


def test_claim_before_its_time_fails(
    any_database: database.Database, owner: str
) -> None:
    action = new()
    add(any_database, action)

    def block(session: orm.Session) -> None:
        locked = work_queue.lock_claimable(session, action.id, owner)
        assert locked is not None
        retry_at = actions.later(locked[1], 60)
        work_queue.block(session, action.id, action.target, retry_at)

    any_database.write(block)
    assert status(any_database, action) == 'READY'
    assert claim(any_database, action, owner) is None
    with any_database.reader() as session:
        assert work_queue.candidates(session, 10) == []


def test_candidates_are_the_oldest_that_are_not_excluded(
    any_database: database.Database,
) -> None:
    year = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    rows = [
        new(created_at=year + datetime.timedelta(days=day)) for day in range(4)
    ]
    add(any_database, *reversed(rows))
    with any_database.reader() as session:
        candidates = work_queue.candidates(session, 2, [rows[0].id])
    assert candidates == [rows[1].id, rows[2].id]


@pytest.mark.parametrize(
    ('running', 'ready', 'expected'),
    [
        pytest.param('', 'aaab', 'abaa', id='small behind large'),
        pytest.param('', 'aaabbcc', 'abcabca', id='turns'),
        pytest.param('aa', 'aabbbb', 'bbabab', id='fewest running first'),
        pytest.param('aab', 'aaac', 'caaa', id='one runs already'),
        pytest.param('aaaa', 'aaa', 'aaa', id='alone'),
    ],
)
def test_projects_take_turns(
    any_database: database.Database, running: str, ready: str, expected: str
) -> None:
    year = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    rows = [
        new(
            project=project,
            status='RUNNING' if number < len(running) else 'READY',
            created_at=year + datetime.timedelta(days=number),
        )
        for number, project in enumerate(running + ready)
    ]
    add(any_database, *rows)
    with any_database.reader() as session:
        ids = work_queue.candidates(session, 10)
    projects = {row.id: row.project for row in rows}
    assert ''.join(projects[id_] or '' for id_ in ids) == expected
    for project in set(ready):
        own = [id_ for id_ in ids if projects[id_] == project]
        assert own == [
            row.id for row in rows[len(running) :] if row.project == project
        ]


def test_old_claim_after_reclaim_by_same_service_is_void(
    any_database: database.Database, owner: str
) -> None:
    action = new()
    add(any_database, action)
    first = claim(any_database, action, owner)
    assert first is not None
    any_database.write(lambda session: actions.release_claim(session, first))
    second = claim(any_database, action, owner)
    assert second is not None
    assert end(any_database, first) == (False, False)
    with pytest.raises(actions.ClaimLostError):
        any_database.write(
            lambda session: actions.lock_claimed(session, first, 'start')
        )
    assert end(any_database, second) == (True, False)


def test_parent_whose_last_children_end_together_resumes(
    any_database: database.Database, owner: str
) -> None:
    for _ in range(8):
        parent, children = new(), [new(), new(), new()]
        add(any_database, parent)
        claimed = claim(any_database, parent, owner)
        assert claimed is not None
        wait_for(any_database, claimed, children)
        claims = [claim(any_database, child, owner) for child in children]
        start = threading.Barrier(len(claims))

        def finish(
            mine: actions.Claim | None, start: threading.Barrier = start
        ) -> None:
            assert mine is not None
            start.wait()
            end(any_database, mine)

        waiting.in_threads(finish, claims)
        assert status(any_database, parent) == 'READY'


def test_wait_with_a_void_claim_creates_no_children(
    any_database: database.Database, owner: str
) -> None:
    parent, child = new(), new()
    add(any_database, parent)
    claimed = claim(any_database, parent, owner)
    assert claimed is not None
    any_database.write(lambda session: actions.release_claim(session, claimed))
    with pytest.raises(actions.ClaimLostError):
        wait_for(any_database, claimed, [child])
    with any_database.reader() as session:
        assert actions.get(session, child.id) is None


def test_orphans_are_running_actions_of_unknown_owners(
    any_database: database.Database, any_harness: Harness, owner: str
) -> None:
    other = any_harness.engine(name='two').member.id
    mine, theirs = new(), new()
    add(any_database, mine, theirs, new())
    claim(any_database, mine, owner)
    claim(any_database, theirs, other)
    ledger.open_ledger(any_database).leave(other)
    with any_database.reader() as session:
        assert [row.id for row in actions.orphans(session)] == [theirs.id]


def test_resumable_returns_waiting_actions_without_children(
    any_database: database.Database, owner: str
) -> None:
    parent, child, childless = new(), new(), new(status='WAITING')
    add(any_database, parent, childless)
    claimed = claim(any_database, parent, owner)
    assert claimed is not None
    wait_for(any_database, claimed, [child])
    with any_database.reader() as session:
        assert dependencies.resumable(session) == [childless.id]
    assert any_database.write(
        lambda session: dependencies.resume_if_done(session, childless.id)
    )
