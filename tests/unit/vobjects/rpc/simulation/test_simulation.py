# SPDX-License-Identifier: Apache-2.0
"""Random schedules of a fleet, each of which follows from its seed.

``VOBJECTS_SIMULATION_SEED`` replays one schedule, and
``VOBJECTS_SIMULATION_SCHEDULES`` sets the number of schedules. A violation
prints the trace and the seed of its schedule.
"""

from __future__ import annotations

import collections
import logging
import os
import pathlib
import re
from collections.abc import Iterator

import pytest

from tests.unit.vobjects.rpc.simulation.fleet import (
    RELEASES,
    Fleet,
    RoutedRequest,
    Sender,
    SimulatedRequest,
)
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

#: Servers and requests of the test with one new server. `make test-long`
#: sends 100,000 requests.
OLD_SERVERS = 100
REQUESTS = int(os.environ.get('VOBJECTS_SIMULATION_REQUESTS') or 300)

#: Types and versions of these requests, in turn. The first is for the new
#: server only.
KINDS = ((RoutedRequest, 2), (RoutedRequest, 1), (SimulatedRequest, 2))

#: Requests at a time: as many as the new server handles.
SLOTS = 8

#: Schedules within which the simulation must detect each mutant.
MUTANT_SCHEDULES = 500


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    simulator = Simulator()
    # pytest keeps the log of a test: 100,000 schedules need 6 GB for it.
    if SEED is None:
        logging.disable()
    with simulator.replaced_modules():
        yield simulator
    logging.disable(logging.NOTSET)


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


def test_one_new_server_among_100_old_ones_serves_what_only_it_supports(
    simulator: Simulator,
) -> None:
    executed: collections.Counter[tuple[str, str]] = collections.Counter()
    usable_after = float('inf')

    def scenario(fleet: Fleet) -> None:
        fleet.loss = fleet.duplication = 0.0
        # Two slow steps of a handler would exceed the timeout of a request.
        fleet.slow_network = fleet.slow_ledger = fleet.slow_work = 0.0
        fleet.slots = SLOTS
        for _ in range(OLD_SERVERS):
            fleet.start_server(1)
        sender = Sender(fleet, 'sender', 2)
        fleet.senders[sender.name] = sender
        client, sleep = sender.client, fleet.kernel.sleep

        def send() -> None:
            nonlocal usable_after
            sender.membership.start()
            while sender.capable != 1 or not all(
                server.is_consuming for server in fleet.servers.values()
            ):
                sleep(0.05)
            fleet.start_server(2)
            began = fleet.kernel.now
            while sender.capable != 2:
                sleep(0.05)
            usable_after = fleet.kernel.now - began
            callers = [sender.process.spawn(call) for _ in range(SLOTS)]
            for caller in callers:
                caller.finished.wait(lambda caller=caller: caller.is_finished)
            fleet.kernel.after(0, stop)

        def call() -> None:
            for number in numbers:
                cls, release = KINDS[number % len(KINDS)]
                name = f'{cls.__name__}-{release}-{number}'
                fleet.invariants.note_requested(name, {})
                client.call({}, cls(name=name), RELEASES[release])

        def stop() -> None:
            raise StopIteration

        numbers = iter(range(REQUESTS))

        sender.process.spawn(send)
        fleet.kernel.run(10.0 + REQUESTS)

    trace = simulator.run(7, scenario=scenario)
    for line in trace:
        found = re.search(r'(server\d+) executes (\w+-\d)', line)
        if found:
            executed[found[1], found[2]] += 1
    assert executed.total() == REQUESTS
    assert usable_after < 5
    newest = f'server{OLD_SERVERS + 1}'
    number = len(range(0, REQUESTS, len(KINDS)))
    assert executed[newest, 'RoutedRequest-2'] == number
    for kind in ('RoutedRequest-1', 'SimulatedRequest-2'):
        names = {name for name, other in executed if other == kind}
        assert len(names) > min(OLD_SERVERS, number) / 2


def is_violated(simulator: Simulator, mutant: Mutant, seed: int) -> bool:
    """Return whether a schedule violates an invariant."""
    try:
        simulator.run(seed, 1 if mutant.in_sql else SQL_EVERY)
    except AssertionError as error:
        if 'Violation' not in str(error):
            raise
        return True
    return False


@pytest.mark.parametrize('mutant', MUTANTS.values(), ids=MUTANTS)
def test_schedules_of_a_weaker_protocol_violate_an_invariant(
    simulator: Simulator, mutant: Mutant
) -> None:
    """Search for the first schedule, in `test-long` even if it is known."""
    known = mutant.schedule
    with mutant.applied():
        if not IS_LONG and is_violated(simulator, mutant, known):
            return
        violated = (
            seed
            for seed in range(MUTANT_SCHEDULES)
            if is_violated(simulator, mutant, seed)
        )
        assert next(violated, None) == known


def test_documentation_lists_the_mutants() -> None:
    text = (pathlib.Path(__file__).parents[5] / PAGE).read_text()
    rows = re.findall(
        r'\* - ([a-z ]+)\n     - [^*]*\n     - (\d+)$', text, re.M
    )
    assert {name: int(number) for name, number in rows} == {
        name: mutant.schedule + 1 for name, mutant in MUTANTS.items()
    }
