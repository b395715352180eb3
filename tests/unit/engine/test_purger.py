# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading

import pytest

from engine import purger
from engine.db import database, models
from tests.unit.engine.db import old_rows
from tests.unit.engine.engine_harness import Harness


@pytest.fixture
def old(any_database: database.Database) -> database.Database:
    """A database with an action and an event of ten days ago."""
    old_rows.action(any_database, 10, 10)
    old_rows.event(any_database, 10)
    return any_database


@pytest.mark.parametrize(
    ('actions', 'events', 'deleted'),
    [
        (0, 0, (0, 0)),
        (9, 0, (1, 0)),
        (0, 9, (0, 1)),
        (9, 9.5, (1, 1)),
        (11, 11, (0, 0)),
    ],
)
def test_purger_deletes_as_configured(
    any_harness: Harness,
    old: database.Database,
    actions: float,
    events: float,
    deleted: tuple[int, int],
) -> None:
    any_harness.conf.set_override('action_retention', actions, 'engine')
    any_harness.conf.set_override('event_retention', events, 'engine')
    purger_ = purger.Purger(any_harness.conf, old, lambda: True)
    assert purger_.purge() == deleted
    assert any_harness.count(models.Action) == 1 - deleted[0]
    assert any_harness.count(models.Event) == 1 - deleted[1]


def test_purger_deletes_only_when_first(
    harness: Harness, sqlite_database: database.Database
) -> None:
    old_rows.event(sqlite_database, 10)
    harness.conf.set_override('event_retention', 1, 'engine')
    harness.conf.set_override('purge_interval', 1.0, 'engine')
    called, first = threading.Event(), threading.Event()

    def is_first() -> bool:
        called.set()
        return first.is_set()

    purger_ = purger.Purger(harness.conf, sqlite_database, is_first)
    purger_.start()
    assert called.wait(60)
    assert harness.count(models.Event) == 1
    first.set()
    while harness.count(models.Event):
        called.clear()
        assert called.wait(60)
    purger_.stop()
