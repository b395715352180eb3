# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import collections

import pytest

from tests.unit.vobjects.testing.upgrade.shop_fleet import CONFIG
from vobjects.testing import upgrade
from vobjects.testing.upgrade import planner, steps

SEEDS = range(200)

PINNED = [
    ('redeliver', '', '', 261),
    ('kill', 'two', '', 0),
    ('move', 'two', '2.0', 0),
    ('move', 'one', '2.0', 0),
]


def meanings(plan: upgrade.Plan) -> list[str]:
    return [
        steps.effect(plan.config, planner.state_before(plan, number), step)
        for number, step in enumerate(plan.steps)
    ]


def test_a_seed_gives_the_same_plan_always() -> None:
    assert upgrade.draw(CONFIG, 7, 10) == upgrade.draw(CONFIG, 7, 10)
    assert len({upgrade.draw(CONFIG, seed, 10).steps for seed in SEEDS}) > 150


def test_the_plan_of_a_seed_is_what_it_was() -> None:
    """A seed in a bug report has to mean the same in the next release."""
    drawn = upgrade.draw(CONFIG, 1, 4).steps

    assert [(s.kind, s.process, s.release, s.message) for s in drawn] == PINNED


@pytest.mark.parametrize('seed', range(20))
def test_no_step_leaves_a_group_without_anybody(seed: int) -> None:
    plan = upgrade.draw(CONFIG, seed, 50)

    state = steps.initial_state(CONFIG)
    for number, step in enumerate(plan.steps, 1):
        assert step.number == number
        others = {
            name
            for name in ('one', 'two')
            if name != step.process and state[name] is not None
        }
        revives = step.kind == 'move' and state[step.process] is None
        assert others or revives or step.kind == 'redeliver'
        assert step.process != 'door', 'it has to bear nothing'
        state = steps.state_after(state, step)


def test_plans_have_something_of_everything() -> None:
    drawn = [meanings(upgrade.draw(CONFIG, seed, 10)) for seed in SEEDS]

    counted = collections.Counter(what for plan in drawn for what in plan)
    assert counted.keys() == steps.EFFECTS.keys()
    assert min(len(set(plan)) for plan in drawn) >= 4


def test_pauses_are_as_long_as_the_terms_say() -> None:
    lengths = {
        step.seconds
        for seed in SEEDS
        for step in upgrade.draw(CONFIG, seed, 10).steps
        if step.kind == 'pause'
    }
    assert min(lengths) >= 0.5
    assert max(lengths) <= 2.0
    assert len(lengths) > 5


def test_part_of_a_plan_leaves_out_what_it_makes_impossible() -> None:
    kill_one = upgrade.Step('kill', 'one', number=1)
    start_one = upgrade.Step('move', 'one', '2.0', number=2)
    kill_two = upgrade.Step('kill', 'two', number=3)
    whole = upgrade.Plan(0, 3, CONFIG, (kill_one, start_one, kill_two))

    assert whole.only({1, 2, 3}) == whole
    assert whole.only({2, 3}).numbers == (2, 3)
    assert whole.only({1, 3}).numbers == (1,), 'nobody would be left'
    assert meanings(whole) == ['kill', 'start', 'kill']
    assert meanings(whole.only({2, 3})) == ['upgrade', 'kill']


def test_fleet_to_which_nothing_can_be_done_is_refused() -> None:
    alone = upgrade.PlanConfig((upgrade.Process('one', ('1.0',)),))

    with pytest.raises(ValueError, match='no step is possible'):
        upgrade.draw(alone, 1, 1)
