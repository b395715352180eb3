# SPDX-License-Identifier: Apache-2.0
"""Random schedules of a fleet, each of which follows from its seed.

``VOBJECTS_SIMULATION_SEED`` replays one schedule, and
``VOBJECTS_SIMULATION_SCHEDULES`` sets the number of schedules. A violation
prints the trace and the seed of its schedule.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Iterator

import pytest

from tests.unit.vobjects.rpc.simulation.mutants import MUTANTS, Mutant
from tests.unit.vobjects.rpc.simulation.schedules import (
    SQL_EVERY,
    Simulator,
)

#: `make test-long` runs 100,000.
_GIVEN = os.environ.get('VOBJECTS_SIMULATION_SCHEDULES')
SCHEDULES = int(_GIVEN or '100')
IS_LONG = bool(_GIVEN)

PAGE = 'doc/source/protocol.rst'

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


def first_violation(simulator: Simulator, mutant: Mutant, first: int) -> int:
    """Return the first schedule with a violation, from a given one."""
    for seed in range(first, MUTANT_SCHEDULES):
        try:
            simulator.run(seed, 1 if mutant.in_sql else SQL_EVERY)
        except AssertionError as error:
            if 'Violation' not in str(error):
                raise
            return seed
    pytest.fail('no violation')


@pytest.mark.parametrize('mutant', MUTANTS.values(), ids=MUTANTS)
def test_schedules_of_a_weaker_protocol_violate_an_invariant(
    simulator: Simulator, mutant: Mutant
) -> None:
    """Begin with the schedule known to do so, or in `test-long` with 0."""
    with mutant.applied():
        if IS_LONG:
            found = first_violation(simulator, mutant, 0)
            assert found == mutant.schedule
        else:
            first_violation(simulator, mutant, mutant.schedule)


def test_documentation_lists_the_mutants() -> None:
    text = (pathlib.Path(__file__).parents[5] / PAGE).read_text()
    rows = re.findall(
        r'\* - ([a-z ]+)\n     - [^*]*\n     - (\d+)$', text, re.M
    )
    assert {name: int(number) for name, number in rows} == {
        name: mutant.schedule + 1 for name, mutant in MUTANTS.items()
    }
