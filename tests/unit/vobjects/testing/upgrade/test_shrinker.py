# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools

import pytest

from tests.unit.vobjects.testing.upgrade import shop_fleet
from tests.unit.vobjects.testing.upgrade.shop_fleet import CONFIG, Shop
from vobjects.testing import upgrade
from vobjects.testing.upgrade import shrinker
from vobjects.testing.upgrade.shrinker import Limits

#: Enough for fleets in memory.
ENOUGH = Limits(runs=100)


def first_failure(
    fault: shop_fleet.Fault, seed: int, steps: int = 12
) -> upgrade.Report:
    """Return the report of the first failing plan, starting at a seed."""
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
def test_shrink_when_one_step_fails_returns_that_step(seed: int) -> None:
    report = first_failure(shop_fleet.loses_when_killed, seed)

    result = shrunk(shop_fleet.loses_when_killed, report)

    assert result.is_minimal
    assert [s.kind for s in result.report.plan.steps] == ['kill']
    assert result.report.failed is not None


@pytest.mark.parametrize('seed', range(0, 100, 5))
def test_shrink_when_two_steps_are_needed_returns_both(seed: int) -> None:
    fault = shop_fleet.sells_twice_after_rollback
    report = first_failure(fault, seed)

    result = shrunk(fault, report)

    kinds = [s.kind for s in result.report.plan.steps]
    assert result.is_minimal
    assert kinds == ['move', 'redeliver']


def test_shrink_when_no_step_is_needed_returns_none() -> None:
    def broken(shop: Shop, action: str, process: str) -> None:
        if action == 'after':
            raise OSError('never works')

    result = shrunk(broken, first_failure(broken, 1))

    assert (result.report.plan.steps, result.runs) == ((), 1)
    assert result.is_minimal


def test_shrink_ignores_different_failures() -> None:
    def either(shop: Shop, action: str, process: str) -> None:
        shop_fleet.loses_when_killed(shop, action, process)
        if action == 'after' and 'kill one' not in shop.sales:
            raise OSError('another failure')

    plan = upgrade.draw(CONFIG, 3, 20)
    report = upgrade.run(plan, shop_fleet.open_shop(either))
    assert report.failed is not None
    assert report.failed.invariant

    result = shrunk(either, report)

    assert [s.kind for s in result.report.plan.steps] == ['kill']
    assert result.report.failed is not None
    assert result.report.failed.invariant == report.failed.invariant


def test_shrink_limits_number_and_time_of_runs() -> None:
    report = first_failure(shop_fleet.sells_twice_after_rollback, 1, 40)
    runs = 0
    now = itertools.count(step=10.0)

    def run(plan: upgrade.Plan) -> upgrade.Report:
        nonlocal runs
        runs += 1
        return upgrade.run(
            plan, shop_fleet.open_shop(shop_fleet.sells_twice_after_rollback)
        )

    limited = shrinker.shrink(report, run, Limits(runs=3))
    assert (limited.runs, runs, limited.is_minimal) == (3, 3, False)
    assert limited.report.failed is not None

    runs = 0
    timed = shrinker.shrink(
        report, run, Limits(seconds=35), clock=lambda: next(now)
    )
    assert 0 < timed.runs == runs < 5
    assert not timed.is_minimal


def test_check_when_plan_fails_prints_both_plans_and_commands() -> None:
    fault = shop_fleet.sells_twice_after_rollback
    seed = first_failure(fault, 1).plan.seed

    with pytest.raises(upgrade.UpgradeFailed) as raised:
        upgrade.check(CONFIG, shop_fleet.open_shop(fault), seed=seed, steps=12)

    error = raised.value
    assert error.shrunk is not None
    small = error.shrunk.report.plan
    numbers = ','.join(str(step.number) for step in small.steps)
    options = f'--upgrade-seed {seed} --upgrade-steps 12'
    message = str(error)
    assert f'reproduce with: {options}\n' in message
    assert f'reproduce with: {options} --upgrade-only {numbers}' in message
    assert 'the smallest plan that fails in the same way' in message
    assert message.count('FAILED') == 4

    with pytest.raises(upgrade.UpgradeFailed) as repeated:
        upgrade.check(
            CONFIG,
            shop_fleet.open_shop(fault),
            seed=seed,
            steps=12,
            only={step.number for step in small.steps},
        )
    assert repeated.value.report.plan == small


def test_check_when_plan_passes_returns_the_report() -> None:
    for seed in range(50):
        report = upgrade.check(CONFIG, shop_fleet.open_shop(), seed=seed)
        assert report.failed is None
