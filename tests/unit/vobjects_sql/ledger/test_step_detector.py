# SPDX-License-Identifier: Apache-2.0
"""Steps of the database's clock neither kill nor keep members."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy

from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import DEAD_AFTER_PERIODS, Member
from vobjects_sql.ledger import (
    LedgerTables,
    SqlLedger,
    create_tables,
    statements,
)
from vobjects_sql.ledger.silent import find_silent
from vobjects_sql.ledger.step_detector import StepDetector
from vobjects_sql.ledger.transactions import EngineTransactions

PERIOD = 10.0
DEAD_AFTER = DEAD_AFTER_PERIODS * PERIOD
SWEEP = PERIOD / 4

MEMBER = Member(
    id='member',
    binary='worker',
    host='host',
    topic='workers',
    release='0.1.0',
    manifest=Manifest({'Thing': '1.0'}),
)
OTHER = dataclasses.replace(MEMBER, id='other')
QUIET = dataclasses.replace(MEMBER, id='quiet')


class World:
    """A database whose clock differs from the clock of all by steps.

    :ivar steps: seconds by which the clock of the database was set forward
    """

    now = 1000.0
    steps = 0.0

    def __init__(self) -> None:
        self.engine = sqlalchemy.create_engine(
            'sqlite://', poolclass=sqlalchemy.StaticPool
        )
        connection = self.engine.raw_connection().driver_connection
        assert connection is not None
        connection.create_function('strftime', 2, self._strftime)
        create_tables(self.engine)

    def process(self) -> SqlLedger:
        """Return the ledger of a new process."""
        steps = StepDetector(lambda: self.now)
        return SqlLedger(self.engine, steps=steps)

    def _strftime(self, form: str, when: str) -> str:
        now = datetime.datetime.fromtimestamp(
            1.7e9 + self.now + self.steps, datetime.UTC
        )
        return now.isoformat(' ', 'milliseconds')[:23]


def sweep(ledger: SqlLedger) -> list[str]:
    return [member.id for member in ledger.expire(DEAD_AFTER, SWEEP)]


def settle(world: World, sweeper: SqlLedger, *others: SqlLedger) -> None:
    """Let the time pass after which the sweeper may remove members."""
    for _ in range(6):
        world.now += 0.4 * PERIOD
        sweeper.report(MEMBER)
        assert sweep(sweeper) == []
        for other in others:
            other.report(OTHER)


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.engine.dispose()


@pytest.mark.parametrize('periods', [-8640.0, -60.0, -1.0, 1.0, 60.0, 8640.0])
def test_step_neither_kills_nor_keeps_members(
    world: World, periods: float
) -> None:
    sweeper, other = world.process(), world.process()
    for each in (MEMBER, OTHER, QUIET):
        sweeper.report(each)
    other.report(OTHER)
    world.now += 0.4 * PERIOD
    sweeper.report(MEMBER)
    other.report(OTHER)
    world.steps = periods * PERIOD
    removed = sweep(sweeper)
    for _ in range(9):
        world.now += 0.49 * PERIOD
        sweeper.report(MEMBER)
        other.report(OTHER)
        removed += sweep(sweeper)
    assert removed == [QUIET.id]


@pytest.mark.parametrize('periods', [-8640.0, -5.0, -2.0, 2.0, 8640.0])
@pytest.mark.parametrize('is_new', [False, True], ids=['known', 'new'])
def test_steps_that_cancel_each_other_kill_no_member(
    world: World, periods: float, is_new: bool
) -> None:
    """The sweeper reads the clock before and after both, not in between."""
    sweeper, other = world.process(), world.process()
    settle(world, sweeper, *([] if is_new else [other]))
    world.now += 0.1 * PERIOD
    world.steps = periods * PERIOD
    other.report(OTHER)
    world.steps = 0
    world.now += 0.3 * PERIOD
    assert sweep(sweeper) == []
    assert {member.id for member in sweeper.members(9)} == {'member', 'other'}


def test_step_that_another_thread_reads_is_told_with_the_next_report(
    world: World,
) -> None:
    sweeper, other = world.process(), world.process()
    settle(world, sweeper, other)
    world.steps = -5 * PERIOD
    sweep(other)
    other.report(OTHER)
    world.steps = 0
    world.now += 0.3 * PERIOD
    assert sweep(sweeper) == []
    assert len(sweeper.members(9)) == 2


def test_step_while_a_sweep_reads_kills_no_member(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweeper = world.process()
    settle(world, sweeper)
    sweeper.report(QUIET)
    for _ in range(4):
        world.now += 0.4 * PERIOD
        sweeper.report(MEMBER)

    def find(*arguments: Any) -> Any:
        found = find_silent(*arguments)
        assert len(found) == 1
        world.steps = 3600.0
        return found

    monkeypatch.setattr(statements, 'find_silent', find)
    assert sweep(sweeper) == []


def test_sweeps_go_on_after_a_step(world: World) -> None:
    sweeper, other = world.process(), world.process()
    sweeper.report(MEMBER)
    other.report(OTHER)
    world.steps = 60.0
    other.report(OTHER)
    sweeper.report(MEMBER)
    removed = []
    for _ in range(5):
        world.now += 0.4 * PERIOD
        sweeper.report(MEMBER)
        removed += sweep(sweeper)
    assert removed == [OTHER.id]


class Failing(EngineTransactions):
    """Transactions whose commits fail."""

    is_failing = False

    def write(self, work: Any, *, urgent: bool = False) -> Any:
        def commit(transaction: Any) -> Any:
            result = work(transaction)
            if self.is_failing:
                raise exceptions.Unreachable('the disk is full')
            return result

        return super().write(commit, urgent=urgent)


def test_step_is_told_again_if_the_commit_fails(world: World) -> None:
    sweeper, transactions = world.process(), Failing(world.engine)
    steps = StepDetector(lambda: world.now)
    other = SqlLedger(transactions, steps=steps)
    settle(world, sweeper, other)
    world.steps = -5 * PERIOD
    transactions.is_failing = True
    with pytest.raises(exceptions.NoLivePeer):
        other.report(OTHER)
    transactions.is_failing = False
    other.report(OTHER)
    world.steps = 0
    world.now += 0.3 * PERIOD
    assert sweep(sweeper) == []
    assert len(sweeper.members(9)) == 2


def token(world: World) -> str | None:
    with world.engine.connect() as connection:
        found: str | None = connection.scalar(
            sqlalchemy.select(LedgerTables().state.c.clock_token)
        )
    return found


def test_step_is_told_once(world: World) -> None:
    ledger = world.process()
    ledger.report(MEMBER)
    assert token(world) is None
    world.steps = 60.0
    ledger.report(MEMBER)
    told = token(world)
    assert told
    for _ in range(3):
        world.now += 4.0
        ledger.report(MEMBER)
    assert token(world) == told


@pytest.mark.parametrize('is_new', [False, True])
def test_time_without_sweeps_begins_with_the_step(
    world: World, is_new: bool
) -> None:
    ledger = world.process()
    ledger.report(MEMBER)
    world.steps = 60.0
    ledger.report(QUIET)
    if is_new:
        ledger = world.process()
    for _ in range(3):
        world.now += 4.0
        ledger.report(MEMBER)
        assert sweep(ledger) == []
    world.now += 3.1
    ledger.report(MEMBER)
    assert sweep(ledger) == [QUIET.id]
