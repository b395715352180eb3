# SPDX-License-Identifier: Apache-2.0
"""Who is taken for dead, and when."""

from __future__ import annotations

import pytest

from engine import reaper
from tests.unit.engine import engine_harness
from vobjects.rpc.fleet import BEATS_PER_PERIOD, DEAD_AFTER_PERIODS


def test_death_is_detected_within_two_periods() -> None:
    # Whoever sweeps when the silence has just not been long enough sweeps
    # again an interval later.
    assert DEAD_AFTER_PERIODS + 1 / BEATS_PER_PERIOD <= 2


@pytest.mark.parametrize(
    ('periods', 'dies'),
    [(DEAD_AFTER_PERIODS - 0.1, False), (DEAD_AFTER_PERIODS + 0.01, True)],
)
def test_engine_expires_after_periods_without_heartbeat(
    harness: engine_harness.Harness, periods: float, dies: bool
) -> None:
    engine, other = harness.engine(), harness.engine(name='two')
    harness.expire_heartbeat(engine, periods * engine_harness.PERIOD)

    dead = other.reaper.sweep()

    assert [one.id for one in dead] == [engine.member.id] * dies


def test_suspended_engine_tolerates_silence_of_others(
    harness: engine_harness.Harness,
) -> None:
    engine, other = harness.engine(), harness.engine(name='two')
    silence = 0.0
    sweeper = reaper.Reaper(
        other.runtime,
        other.ledger,
        period=engine_harness.PERIOD,
        heartbeat_age=lambda: silence,
    )
    harness.expire_heartbeat(engine, 5 * engine_harness.PERIOD)

    silence = 4 * engine_harness.PERIOD
    assert sweeper.sweep() == []
    silence = 0.0
    # It was heard just now; others are to have the time for it, too.
    assert sweeper.sweep() == []
    harness.expire_heartbeat(engine, 6 * engine_harness.PERIOD)
    assert [one.id for one in sweeper.sweep()] == [engine.member.id]
