# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from tests.unit.vobjects_testing.upgrade import shop_fleet
from tests.unit.vobjects_testing.upgrade.shop_fleet import CONFIG, Shop
from vobjects_testing import upgrade
from vobjects_testing.upgrade import planner
from vobjects_testing.upgrade.tree import tree

STEPS = (
    upgrade.Step('move', 'one', '2.0'),
    upgrade.Step('kill', 'two'),
    upgrade.Step('redeliver', message=7),
)


def draw(seed: int) -> upgrade.Plan:
    return planner.draw(CONFIG, seed, 12)


def plan(*steps: upgrade.Step) -> upgrade.Plan:
    return upgrade.Plan(5, CONFIG, steps)


def test_run_calls_steps_in_order_between_hooks() -> None:
    shops: list[Shop] = []

    @contextlib.contextmanager
    def open_fleet() -> Iterator[upgrade.Fleet]:
        shops.append(Shop())
        yield shops[0]

    report = upgrade.run(plan(*STEPS), open_fleet)

    assert report.failed is None
    assert shops[0].sales == [
        *('start one 1.0', 'start two 1.0', 'start api 1.0', 'before'),
        *('stop one', 'start one 2.0', 'mixed'),
        *('kill two', 'mixed'),
        *('redeliver', 'mixed'),
        *('start two 2.0', 'stop api', 'start api 2.0', 'after'),
    ]
    assert all(line.seconds is not None for line in report.lines)


def test_run_when_step_fails_stops_and_reports_it() -> None:
    report = upgrade.run(
        plan(*STEPS), shop_fleet.open_shop(shop_fleet.loses_when_killed)
    )

    failed = report.failed
    assert failed is not None
    assert (failed.number, failed.text) == (2, 'kill two at 1.0')
    assert failed.invariant == 'every order is sold'
    assert str(failed.error).startswith('1 of 2')
    later = report.lines[report.lines.index(failed) + 1 :]
    assert {line.seconds for line in later} == {None}


def test_tree_shows_each_step_with_its_state() -> None:
    text = tree(
        upgrade.run(
            plan(*STEPS), shop_fleet.open_shop(shop_fleet.loses_when_killed)
        )
    )
    plain = [line.split('  (')[0] for line in text.splitlines()]

    assert plain[0].startswith('upgrade plan, seed 5, 3 steps: FAILED')
    assert plain[1:] == [
        '├─ before',
        '│  ├─ ok     open()',
        '│  ├─ ok     start one at 1.0',
        '│  ├─ ok     start two at 1.0',
        '│  ├─ ok     start api at 1.0',
        '│  └─ ok     before()',
        '├─ mixed',
        '│  ├─ ok      1 upgrade one from 1.0 to 2.0',
        '│  ├─ FAILED  2 kill two at 1.0',
        '│  │    violated: every order is sold',
        '│  │    AssertionError: 1 of 2',
        '│  └─ -       3 redeliver message 7',
        '├─ after',
        '│  ├─ -      start two at 2.0',
        '│  ├─ -      upgrade api from 1.0 to 2.0',
        '│  └─ -      after()',
        '└─ end',
        '   └─ -      close()',
    ]


def test_run_when_opening_or_closing_raises_reports_it() -> None:
    @contextlib.contextmanager
    def open_fleet() -> Iterator[upgrade.Fleet]:
        yield Shop()
        raise OSError('left a process behind')

    @contextlib.contextmanager
    def fail_to_open() -> Iterator[upgrade.Fleet]:
        raise OSError('no database')
        yield Shop()

    for opened, text in ((open_fleet, 'close()'), (fail_to_open, 'open()')):
        failed = upgrade.run(plan(STEPS[0]), opened).failed
        assert failed is not None
        assert failed.text == text
        assert isinstance(failed.error, OSError)


def test_run_when_closing_fails_too_reports_the_first_failure() -> None:
    @contextlib.contextmanager
    def open_fleet() -> Iterator[upgrade.Fleet]:
        try:
            yield Shop(shop_fleet.loses_when_killed)
        finally:
            raise OSError('a process had ended')

    failed = upgrade.run(plan(*STEPS), open_fleet).failed

    assert failed is not None
    assert failed.number == 2


def test_run_when_last_hook_fails_reports_it() -> None:
    def forgets(shop: Shop, action: str, process: str) -> None:
        if action == 'after':
            shop.sold -= 1

    failed = upgrade.run(plan(STEPS[0]), shop_fleet.open_shop(forgets)).failed

    assert failed is not None
    assert (failed.phase, failed.text) == ('after', 'after()')


def test_run_of_a_failing_seed_fails_again_at_the_same_step() -> None:
    shop = shop_fleet.open_shop(shop_fleet.sells_twice_after_rollback)
    first, second = (
        next(
            (seed, failed.number, failed.text)
            for seed in range(100)
            if (failed := upgrade.run(draw(seed), shop).failed)
        )
        for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize('seed', range(0, 50, 5))
def test_run_of_a_drawn_plan_passes(seed: int) -> None:
    assert upgrade.run(draw(seed), shop_fleet.open_shop()).failed is None
