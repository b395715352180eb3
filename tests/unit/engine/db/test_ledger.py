# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import threading
from typing import Any

import pytest

from engine.db import database, models
from engine.db.ledger import DatabaseLedger
from tests.unit.engine import engine_harness
from vobjects.objects.manifest import Manifest
from vobjects.rpc import fleet

MEMBER = fleet.Member(
    id=models.new_id(),
    binary='vobjects-engine',
    host='one',
    topic='engine',
    release='1.0',
    manifest=Manifest({'Thing': '1.1', 'Other': '1.0'}),
)


def test_report_of_a_new_member_raises_the_generation_it_is_in(
    any_database: database.Database,
) -> None:
    ledger = DatabaseLedger(any_database)
    view = ledger.report(MEMBER)
    assert view.generation == 1
    (found,) = view.members
    assert found.age < 5
    assert dataclasses.replace(found, age=0.0) == MEMBER


def test_heartbeat_keeps_the_generation(
    any_database: database.Database,
) -> None:
    ledger = DatabaseLedger(any_database)
    ledger.report(MEMBER)
    seen = dataclasses.replace(MEMBER, seen=1)
    view = ledger.report(seen)
    assert view.generation == 1
    assert view.members[0].seen == 1


@pytest.mark.parametrize(
    'change',
    [
        {'state': 'up'},
        {'manifest': Manifest({'Thing': '1.0'})},
        {'topic': 'other'},
    ],
    ids=lambda change: next(iter(change)),
)
def test_report_of_a_change_raises_the_generation(
    any_database: database.Database, change: dict[str, Any]
) -> None:
    ledger = DatabaseLedger(any_database)
    ledger.report(MEMBER)
    changed = dataclasses.replace(MEMBER, **change)
    view = ledger.report(changed)
    assert view.generation == 2
    assert dataclasses.replace(view.members[0], age=0.0) == changed


def test_leave_raises_the_generation_once(
    any_database: database.Database,
) -> None:
    ledger = DatabaseLedger(any_database)
    ledger.report(MEMBER)
    ledger.leave(MEMBER.id)
    ledger.leave(MEMBER.id)
    view = ledger.get()
    assert (view.generation, view.members) == (2, ())


def test_expire_removes_silent_members_once(
    any_harness: engine_harness.Harness,
) -> None:
    quiet, lively = any_harness.engine(), any_harness.engine(name='two')
    any_harness.expire_heartbeat(quiet)
    before = lively.ledger.get().generation
    gone: list[fleet.Member] = []
    threads = [
        threading.Thread(target=lambda: gone.extend(lively.ledger.expire(3.0)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [member.id for member in gone] == [quiet.member.id]
    view = lively.ledger.get()
    assert view.generation == before + 1
    assert [member.id for member in view.members] == [lively.member.id]


def test_expire_keeps_members_that_reported_meanwhile(
    any_harness: engine_harness.Harness,
) -> None:
    engine = any_harness.engine()
    any_harness.expire_heartbeat(engine)
    engine.ledger.report(engine.member)
    assert engine.ledger.expire(3.0) == []


def test_hold_keeps_the_cap_until_it_is_finalized(
    any_database: database.Database,
) -> None:
    ledger = DatabaseLedger(any_database)
    newer = dataclasses.replace(
        MEMBER,
        id=models.new_id(),
        manifest=Manifest({'Thing': '1.2', 'Other': '1.0'}),
    )
    ledger.report(MEMBER)
    assert ledger.hold('engine').held == MEMBER.manifest
    ledger.report(newer)
    ledger.leave(MEMBER.id)
    assert ledger.get().cap('engine')['Thing'] == '1.1'
    generation = ledger.get().generation
    view = ledger.finalize()
    assert view.cap('engine')['Thing'] == '1.2'
    assert view.generation == generation + 1
