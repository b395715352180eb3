# SPDX-License-Identifier: Apache-2.0
"""Fleets with a fault are found out, and by the fewest steps."""

from __future__ import annotations

import itertools

import pytest

from tests.unit.vobjects.testing.upgrade import shop_fleet
from tests.unit.vobjects.testing.upgrade.shop_fleet import CONFIG, Shop
from vobjects.testing import upgrade
from vobjects.testing.upgrade import shrinker
from vobjects.testing.upgrade.shrinker import Limits

#: Runs; in memory there are enough.
ENOUGH = Limits(runs=100)


def caught(
    fault: shop_fleet.Fault, seed: int, steps: int = 12
) -> upgrade.Report:
    """Return the report of the first plan from a seed on that fails."""
    for number in itertools.count(seed):
        plan = upgrade.draw(CONFIG, number, steps)
        report = upgrade.run(plan, shop_fleet.open_shop(fault))
        if report.failed:
            return report
    raise AssertionError


def shrunk(
    fault: shop_fleet.Fault, report: upgrade.Report, limits: Limits = ENOUGH
) -> shrinker.Shrunk:
    return shrinker.shrink(
        report,
        lambda plan: upgrade.run(plan, shop_fleet.open_shop(fault)),
        limits,
    )


@pytest.mark.parametrize('seed', range(0, 100, 5))
def test_worker_that_loses_its_work_is_caught_by_one_kill(seed: int) -> None:
    report = caught(shop_fleet.loses_when_killed, seed)

    found = shrunk(shop_fleet.loses_when_killed, report)

    assert found.is_minimal
    assert [s.kind for s in found.report.plan.steps] == ['kill']
    assert found.report.failed is not None


@pytest.mark.parametrize('seed', range(0, 100, 5))
def test_fault_that_takes_two_steps_keeps_both(seed: int) -> None:
    fault = shop_fleet.sells_twice_after_rollback
    report = caught(fault, seed)

    found = shrunk(fault, report)

    kinds = [s.kind for s in found.report.plan.steps]
    assert found.is_minimal
    assert kinds == ['move', 'redeliver']


def test_fault_that_takes_no_step_leaves_none() -> None:
    def broken(shop: Shop, what: str, whom: str) -> None:
        if what == 'after':
            raise OSError('never works')

    found = shrunk(broken, caught(broken, 1))

    assert (found.report.plan.steps, found.runs) == ((), 1)
    assert found.is_minimal


def test_other_failure_than_the_first_is_not_taken_for_it() -> None:
    def either(shop: Shop, what: str, whom: str) -> None:
        shop_fleet.loses_when_killed(shop, what, whom)
        if what == 'after' and 'kill one' not in shop.done:
            raise OSError('something else')

    plan = upgrade.draw(CONFIG, 3, 20)
    report = upgrade.run(plan, shop_fleet.open_shop(either))
    assert report.failed is not None
    assert report.failed.invariant

    found = shrunk(either, report)

    assert [s.kind for s in found.report.plan.steps] == ['kill']
    assert found.report.failed is not None
    assert found.report.failed.invariant == report.failed.invariant


def test_number_and_time_of_the_runs_are_bounded() -> None:
    report = caught(shop_fleet.sells_twice_after_rollback, 1, 40)
    runs = 0
    now = itertools.count(step=10.0)

    def run(plan: upgrade.Plan) -> upgrade.Report:
        nonlocal runs
        runs += 1
        return upgrade.run(
            plan, shop_fleet.open_shop(shop_fleet.sells_twice_after_rollback)
        )

    few = shrinker.shrink(report, run, Limits(runs=3))
    assert (few.runs, runs, few.is_minimal) == (3, 3, False)
    assert few.report.failed is not None

    runs = 0
    soon = shrinker.shrink(
        report, run, Limits(seconds=35), clock=lambda: next(now)
    )
    assert 0 < soon.runs == runs < 5
    assert not soon.is_minimal


def test_failure_tells_both_plans_and_how_to_have_them_again() -> None:
    fault = shop_fleet.sells_twice_after_rollback
    seed = caught(fault, 1).plan.seed

    with pytest.raises(upgrade.UpgradeFailed) as raised:
        upgrade.check(CONFIG, shop_fleet.open_shop(fault), seed=seed, steps=12)

    error = raised.value
    assert error.shrunk is not None
    small = error.shrunk.report.plan
    numbers = ','.join(str(step.number) for step in small.steps)
    again = f'--upgrade-seed {seed} --upgrade-steps 12'
    said = str(error)
    assert f'reproduce with: {again}\n' in said
    assert f'reproduce with: {again} --upgrade-only {numbers}' in said
    assert 'the smallest plan that fails in the same way' in said
    assert said.count('FAILED') == 4

    with pytest.raises(upgrade.UpgradeFailed) as repeated:
        upgrade.check(
            CONFIG,
            shop_fleet.open_shop(fault),
            seed=seed,
            steps=12,
            only={step.number for step in small.steps},
        )
    assert repeated.value.report.plan == small


def test_plan_that_goes_well_is_returned() -> None:
    for seed in range(50):
        report = upgrade.check(CONFIG, shop_fleet.open_shop(), seed=seed)
        assert report.failed is None
