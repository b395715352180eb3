# SPDX-License-Identifier: Apache-2.0
"""Draw a plan from a seed: the same plan on every machine."""

from __future__ import annotations

import collections
import dataclasses
import random
from collections.abc import Iterator

from vobjects_testing.upgrade import steps
from vobjects_testing.upgrade.steps import PlanConfig, State, Step

#: Upper bound of the numbers by which a redelivery selects its message.
MAX_MESSAGE = 1000


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """The steps to apply to a fleet, in order."""

    seed: int
    config: PlanConfig
    steps: tuple[Step, ...]


def draw(config: PlanConfig, seed: int, count: int) -> Plan:
    """Draw a plan.

    Effects that were rarely drawn so far are more likely, so that a short plan
    contains a variety of them.

    :param config: the parameters from which the plan is drawn
    :param seed: seed of the random choices
    :param count: number of steps
    :raises ValueError: no step is possible with these config
    """
    rng = random.Random(seed)  # noqa: S311 - a plan must be repeatable
    state, drawn = steps.initial_state(config), []
    counts: collections.Counter[str] = collections.Counter()
    for _ in range(count):
        choices: dict[str, list[Step]] = {}
        for step in _candidates(config):
            if steps.is_possible(config, state, step):
                effect = steps.rare_effect(config, state, step)
                choices.setdefault(effect, []).append(step)
        weights = [
            steps.EFFECTS[effect] / (1 + counts[effect]) for effect in choices
        ]
        if not weights:
            raise ValueError(
                'no step is possible: configure a group with more processes'
                ' than "keep", and allow kinds of steps for them'
            )
        (effect,) = rng.choices(list(choices), weights)
        counts[effect] += 1
        step = _draw_step(config, rng, choices[effect])
        drawn.append(step)
        state = steps.state_after(state, step)
    return Plan(seed, config, tuple(drawn))


def _candidates(config: PlanConfig) -> Iterator[Step]:
    yield Step('redeliver')
    for process in config.processes:
        for kind in ('kill', 'pause'):
            yield Step(kind, process.name)
        for release in process.releases:
            yield Step('move', process.name, release)


def _draw_step(
    config: PlanConfig, rng: random.Random, candidates: list[Step]
) -> Step:
    step = rng.choice(candidates)
    if step.kind == 'pause':
        seconds = round(rng.uniform(*config.pauses), 1)
        return dataclasses.replace(step, seconds=seconds)
    if step.kind == 'redeliver':
        return dataclasses.replace(step, message=rng.randrange(MAX_MESSAGE))
    return step


def state_before(plan: Plan, position: int) -> State:
    """Return the state before a step of a plan.

    :param position: index of the step; the number of steps: after the last one
    """
    state = steps.initial_state(plan.config)
    for step in plan.steps[:position]:
        state = steps.state_after(state, step)
    return state
