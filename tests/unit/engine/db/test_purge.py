# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import database, models, purge
from tests.unit.engine.db.old_rows import action, event
from tests.unit.engine.engine_harness import Harness

DAY = 86400.0


def left(target: database.Database, model: type[Any]) -> set[str]:
    """Return the IDs of all rows."""
    with target.reader() as session:
        return {row.id for row in session.query(model)}


def purged(
    target: database.Database, days: float, projects: list[str] | None = None
) -> tuple[int, int]:
    """Delete, after having counted the same."""
    until = purge.cutoff_time(target, days * DAY)
    expected = tuple(
        purge.count(target, kind, until, projects)
        for kind in (models.Action, models.Event)
    )
    deleted = (
        sum(purge.delete(target, models.Action, until, projects)),
        sum(purge.delete(target, models.Event, until, projects)),
    )
    assert deleted == expected
    return deleted


def test_purge_deletes_older_rows(any_database: database.Database) -> None:
    old, young = event(any_database, 31), event(any_database, 29)
    action(any_database, 40, 31)
    ended_late = action(any_database, 40, 29)
    assert purged(any_database, 30) == (1, 1)
    assert left(any_database, models.Event) == {young}
    assert left(any_database, models.Action) == {ended_late}
    assert old not in left(any_database, models.Event)
    assert purged(any_database, 30) == (0, 0)


@pytest.mark.parametrize('status', ['INIT', 'WAITING', 'READY', 'RUNNING'])
def test_purge_keeps_unfinished_actions_and_their_dependencies(
    any_database: database.Database, status: str
) -> None:
    parent = action(any_database, 50, status=status)
    child = action(any_database, 50, 49)
    with any_database.writer() as session:
        session.add(models.ActionDependency(depended=child, dependent=parent))
    assert purged(any_database, 1) == (0, 0)
    with any_database.writer() as session:
        row = session.get(models.Action, parent)
        assert row is not None
        row.status, row.end_time = 'FAILED', row.created_at.timestamp()
    assert purged(any_database, 1) == (2, 0)


def test_purge_of_a_project_keeps_rows_of_other_projects(
    any_database: database.Database,
) -> None:
    event(any_database, 9)
    action(any_database, 9, 9)
    theirs = event(any_database, 9, project='theirs')
    nobodys = action(any_database, 9, 9, project=None)
    assert purged(any_database, 1, ['ours', 'nobody']) == (1, 1)
    assert left(any_database, models.Event) == {theirs}
    assert left(any_database, models.Action) == {nobodys}


def test_purge_deletes_in_batches(
    any_database: database.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purge, 'BATCH', 2)
    for number in range(5):
        event(any_database, 5 + number // 2)
    until = purge.cutoff_time(any_database, DAY)
    assert list(purge.delete(any_database, models.Event, until)) == [2, 2, 1]
    assert left(any_database, models.Event) == set()


def test_purge_when_age_overflows_deletes_nothing(
    any_database: database.Database,
) -> None:
    event(any_database, 9)
    action(any_database, 9, 9)
    assert purged(any_database, 1e12) == (0, 0)


def test_purge_deletes_rows_beside_an_id_that_is_no_text(
    harness: Harness,
) -> None:
    for _ in range(3):
        action(harness.database, 9, 9)
        event(harness.database, 9)
    with harness.database.engine.begin() as connection:
        for name in ('actions', 'events'):
            connection.exec_driver_sql(
                f"UPDATE {name} SET id = x'ff00'"
                f' WHERE rowid = (SELECT MIN(rowid) FROM {name})'
            )
    assert purged(harness.database, 1) == (3, 3)
