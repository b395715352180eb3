# SPDX-License-Identifier: Apache-2.0
"""The number of statements and transactions of requests and actions.

Each statement costs the engine and the database more CPU time than the rest of
a request. If you add one, justify it in the commit that changes a number here.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy

from engine.db import models
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering.requests import clusters, profiles
from vobjects.rpc import call_state


class Counter:
    """Counts statements and transactions.

    :ivar statements: texts of the statements, without BEGIN
    :ivar commits: number of transactions that committed
    """

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.commits = 0

    def note_statement(
        self, connection: Any, cursor: Any, statement: str, *others: Any
    ) -> None:
        if not statement.startswith('BEGIN'):
            self.statements.append(statement)

    def note_commit(self, connection: Any) -> None:
        self.commits += 1


@contextlib.contextmanager
def counting(harness: Harness) -> Iterator[Counter]:
    counter = Counter()
    events = (
        ('before_cursor_execute', counter.note_statement),
        ('commit', counter.note_commit),
    )
    with harness.database.read_connection() as connection:
        engines = {harness.database.engine, connection.engine}
    for engine in engines:
        for name, listener in events:
            sqlalchemy.event.listen(engine, name, listener)
    try:
        yield counter
    finally:
        for engine in engines:
            for name, listener in events:
                sqlalchemy.event.remove(engine, name, listener)


def call(engine: Engine, request: Any) -> Any:
    """Handle a request whose response is recorded."""
    with call_state.call_scope(uuid.uuid4().hex):
        return engine.call(request)


def create_request(profile: str, name: str) -> clusters.ClusterCreateRequest:
    request = clusters.ClusterCreateRequest(
        name=name, profile_id=profile, desired_capacity=0
    )
    request.obj_set_defaults()
    return request


@pytest.fixture
def engine(any_harness: Harness) -> Engine:
    """An engine whose project and profile exist."""
    engine = any_harness.engine()
    request_helpers.create_profile(engine, 'p')
    return engine


def test_profile_creation_takes_four_statements(
    any_harness: Harness, engine: Engine
) -> None:
    request = profiles.ProfileCreateRequest(
        name='q', spec=engine_harness.SPEC, metadata={}
    )
    with counting(any_harness) as counter:
        call(engine, request)
    # Lock the project, insert, count, record.
    assert (len(counter.statements), counter.commits) == (4, 1)


def test_empty_cluster_creation_takes_fifteen_statements(
    any_harness: Harness, engine: Engine
) -> None:
    with counting(any_harness) as counter:
        accepted = call(engine, create_request('p', 'c'))
    # Find the profile, insert cluster and action, lock the project, count,
    # record.
    assert (len(counter.statements), counter.commits) == (6, 1)

    with counting(any_harness) as counter:
        assert engine.scheduler.step()
    # Query candidates; lock action and cluster, read the locks, claim, count,
    # update the cluster, end, store both events.
    assert (len(counter.statements), counter.commits) == (9, 1)
    shown = request_helpers.get_cluster(engine, accepted.cluster.id)
    assert shown.status == 'ACTIVE'
    any_harness.assert_idle()


def test_step_is_invisible_until_its_end(
    any_harness: Harness, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(engine, create_request('p', 'c'))
    seen: list[list[Any]] = []
    ended = engine.runtime.events.ended

    def look(*arguments: Any) -> None:
        seen.append(
            [row.status for row in any_harness.rows(models.Action)]
            + any_harness.rows(models.Lock)
        )
        ended(*arguments)

    monkeypatch.setattr(engine.runtime.events, 'ended', look)
    assert engine.scheduler.step()
    assert seen == [['READY']]
    any_harness.assert_idle()


def test_events_of_a_step_are_in_order(
    any_harness: Harness, engine: Engine
) -> None:
    call(engine, create_request('p', 'c'))
    engine.run_actions()
    rows = any_harness.rows(models.Event)
    start, end = sorted(rows, key=lambda row: row.timestamp)
    assert (start.status, end.status) == ('start', 'end')
    assert start.timestamp < end.timestamp
