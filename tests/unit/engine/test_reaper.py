# SPDX-License-Identifier: Apache-2.0
"""Who is taken for dead, and when."""

from __future__ import annotations

import pytest

from engine import reaper
from tests.unit.engine import fleet
from vobjects.rpc.fleet import BEATS_PER_PERIOD, DEAD_AFTER_PERIODS


def test_death_is_noticed_within_two_periods() -> None:
    # Whoever sweeps when the silence has just not been long enough sweeps
    # again an interval later.
    assert DEAD_AFTER_PERIODS + 1 / BEATS_PER_PERIOD <= 2


@pytest.mark.parametrize(
    ('periods', 'dies'),
    [(DEAD_AFTER_PERIODS - 0.1, False), (DEAD_AFTER_PERIODS + 0.01, True)],
)
def test_engine_dies_of_so_many_periods_of_silence(
    world: fleet.World, periods: float, dies: bool
) -> None:
    engine, other = world.engine(), world.engine(name='two')
    world.silence(engine, periods * fleet.PERIOD)

    dead = other.reaper.sweep()

    assert [one.id for one in dead] == [engine.member.id] * dies


def test_engine_that_is_silent_itself_allows_others_as_much(
    world: fleet.World,
) -> None:
    engine, other = world.engine(), world.engine(name='two')
    silence = 0.0
    sweeper = reaper.Reaper(
        other.run,
        other.ledger,
        period=fleet.PERIOD,
        silence=lambda: silence,
    )
    world.silence(engine, 5 * fleet.PERIOD)

    silence = 4 * fleet.PERIOD
    assert sweeper.sweep() == []
    silence = 0.0
    # It was heard just now; others are to have the time for it, too.
    assert sweeper.sweep() == []
    world.silence(engine, 6 * fleet.PERIOD)
    assert [one.id for one in sweeper.sweep()] == [engine.member.id]
