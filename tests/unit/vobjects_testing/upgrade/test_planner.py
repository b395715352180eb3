# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import collections

import pytest

from tests.unit.vobjects_testing.upgrade.shop_fleet import CONFIG
from vobjects_testing import upgrade
from vobjects_testing.upgrade import planner, steps

SEEDS = range(200)

PINNED = [
    ('redeliver', '', '', 261),
    ('kill', 'two', '', 0),
    ('move', 'two', '1.0', 0),
    ('move', 'one', '2.0', 0),
]

#: Two groups that move through the same releases.
TWO_GROUPS = upgrade.PlanConfig(
    tuple(
        upgrade.Process(f'{group}-{number}', ('1.0', '1.5', '2.0'), group)
        for group in ('api', 'engine')
        for number in (1, 2)
    ),
    redeliver=True,
)


def effects(plan: upgrade.Plan) -> list[str]:
    return [
        steps.rare_effect(
            plan.config, planner.state_before(plan, number), step
        )
        for number, step in enumerate(plan.steps)
    ]


def test_draw_with_same_seed_returns_the_same_plan() -> None:
    assert planner.draw(CONFIG, 7, 10) == planner.draw(CONFIG, 7, 10)
    assert len({planner.draw(CONFIG, seed, 10).steps for seed in SEEDS}) > 150


def test_draw_returns_the_same_plan_in_every_release() -> None:
    """A seed in a bug report must stay valid in the next release."""
    drawn = planner.draw(CONFIG, 1, 4).steps

    assert [(s.kind, s.process, s.release, s.message) for s in drawn] == PINNED


@pytest.mark.parametrize('seed', range(20))
def test_steps_keep_a_process_of_each_group_up(seed: int) -> None:
    plan = planner.draw(CONFIG, seed, 50)

    state = steps.initial_state(CONFIG)
    for step in plan.steps:
        others = {
            name
            for name in ('one', 'two')
            if name != step.process and state[name] is not None
        }
        revives = step.kind == 'move' and state[step.process] is None
        assert others or revives or step.kind == 'redeliver'
        assert step.process != 'api', 'its group allows no steps'
        state = steps.state_after(state, step)


def test_plans_contain_every_effect() -> None:
    drawn = [effects(planner.draw(TWO_GROUPS, seed, 10)) for seed in SEEDS]

    counts = collections.Counter(name for plan in drawn for name in plan)
    assert counts.keys() == steps.EFFECTS.keys()
    assert min(len(set(plan)) for plan in drawn) >= 4


@pytest.mark.parametrize('seed', range(20))
def test_start_among_other_releases_meets_no_process_of_its_own(
    seed: int,
) -> None:
    plan = planner.draw(TWO_GROUPS, seed, 30)
    among = 0
    for number, step in enumerate(plan.steps):
        state = planner.state_before(plan, number)
        name = steps.rare_effect(TWO_GROUPS, state, step)
        if not name.startswith('start among'):
            continue
        among += 1
        group = TWO_GROUPS.process(step.process).group
        others = {
            state[other.name]
            for other in TWO_GROUPS.processes
            if other.group != group
        } - {None}
        assert others
        for release in others:
            assert release is not None
            is_newer = release > step.release
            assert release != step.release
            assert is_newer == (name == 'start among newer')
    assert among


def test_pauses_are_within_the_configured_range() -> None:
    lengths = {
        step.seconds
        for seed in SEEDS
        for step in planner.draw(CONFIG, seed, 10).steps
        if step.kind == 'pause'
    }
    assert min(lengths) >= 0.5
    assert max(lengths) <= 2.0
    assert len(lengths) > 5


def test_draw_when_no_step_is_possible_raises() -> None:
    config = upgrade.PlanConfig((upgrade.Process('one', ('1.0',)),))

    with pytest.raises(ValueError, match='no step is possible'):
        planner.draw(config, 1, 1)
