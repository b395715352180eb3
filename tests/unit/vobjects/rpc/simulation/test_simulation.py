# SPDX-License-Identifier: Apache-2.0
"""Random schedules of a fleet, each of which follows from its seed.

``VOBJECTS_SIMULATION_SEED`` replays one schedule, and
``VOBJECTS_SIMULATION_SCHEDULES`` sets the number of schedules. A violation
prints the trace and the seed of its schedule.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.unit.vobjects.rpc.simulation.mutants import MUTANTS, Mutant
from tests.unit.vobjects.rpc.simulation.schedules import (
    SQL_EVERY,
    Simulator,
)

#: `make test-long` runs 100,000.
SCHEDULES = int(os.environ.get('VOBJECTS_SIMULATION_SCHEDULES') or '100')

SEED = os.environ.get('VOBJECTS_SIMULATION_SEED')

#: Parts that pytest can run in parallel.
PARTS = 4

#: Schedules within which the simulation must detect each mutant.
MUTANT_SCHEDULES = 500


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    simulator = Simulator()
    with simulator.replaced_modules():
        yield simulator


@pytest.mark.parametrize('part', range(PARTS))
def test_schedules_with_faults_violate_no_invariant(
    simulator: Simulator, part: int
) -> None:
    for seed in range(part, SCHEDULES, PARTS) if SEED is None else [int(SEED)]:
        simulator.run(seed)
    assert simulator.executed > 0 or SEED is not None


def test_schedule_with_the_same_seed_has_the_same_trace(
    simulator: Simulator,
) -> None:
    for seed in range(3):
        assert simulator.run(seed) == simulator.run(seed)


@pytest.mark.parametrize('mutant', MUTANTS.values(), ids=MUTANTS)
def test_schedules_of_a_weaker_protocol_violate_an_invariant(
    simulator: Simulator, mutant: Mutant
) -> None:
    def run_all() -> None:
        for seed in range(MUTANT_SCHEDULES):
            simulator.run(seed, 1 if mutant.in_sql else SQL_EVERY)

    with mutant.applied(), pytest.raises(AssertionError, match='Violation'):
        run_all()
