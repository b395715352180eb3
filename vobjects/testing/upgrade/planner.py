# SPDX-License-Identifier: Apache-2.0
"""Draw a plan from a seed: the same plan on every machine."""

from __future__ import annotations

import collections
import dataclasses
import random
from collections.abc import Collection, Iterator

from vobjects.testing.upgrade import steps
from vobjects.testing.upgrade.steps import PlanConfig, State, Step

#: Upper bound of the numbers by which a redelivery selects its message.
MAX_MESSAGE = 1000


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """The steps to apply to a fleet, in order.

    :ivar count: number of steps drawn; ``steps`` may have fewer
    """

    seed: int
    count: int
    terms: PlanConfig
    steps: tuple[Step, ...]

    def only(self, numbers: Collection[int]) -> Plan:
        """Return the plan with some of its steps.

        Steps that are impossible without the others are removed, too.

        :param numbers: see :attr:`Step.number`
        """
        wanted = (step for step in self.steps if step.number in numbers)
        return dataclasses.replace(
            self, steps=steps.possible_steps(self.terms, wanted)
        )

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the steps."""
        return tuple(step.number for step in self.steps)


def draw(terms: PlanConfig, seed: int, count: int) -> Plan:
    """Draw a plan.

    Effects that were rarely drawn so far are more likely, so that a short plan
    contains a variety of them.

    :param terms: the parameters from which the plan is drawn
    :param seed: seed of the random choices
    :param count: number of steps
    :raises ValueError: no step is possible with these terms
    """
    chance = random.Random(seed)  # noqa: S311 - it has to be repeatable
    state, drawn = steps.initial_state(terms), []
    often: collections.Counter[str] = collections.Counter()
    for number in range(1, count + 1):
        choices: dict[str, list[Step]] = {}
        for step in _candidates(terms):
            if steps.is_possible(terms, state, step):
                what = steps.effect(terms, state, step)
                choices.setdefault(what, []).append(step)
        weights = [
            terms.weights.get(what, 0) / (1 + often[what]) for what in choices
        ]
        if not any(weights):
            raise ValueError(
                'no step is possible: a group with more processes than have'
                ' to be kept up is needed, and kinds of steps that they bear'
            )
        (what,) = chance.choices(list(choices), weights)
        often[what] += 1
        step = dataclasses.replace(
            _drawn(terms, chance, choices[what]), number=number
        )
        drawn.append(step)
        state = steps.state_after(state, step)
    return Plan(seed, count, terms, tuple(drawn))


def _candidates(terms: PlanConfig) -> Iterator[Step]:
    yield Step('redeliver')
    for process in terms.processes:
        for kind in ('kill', 'pause'):
            yield Step(kind, process.name)
        for release in process.releases:
            yield Step('move', process.name, release)


def _drawn(
    terms: PlanConfig, chance: random.Random, among: list[Step]
) -> Step:
    step = chance.choice(among)
    if step.kind == 'pause':
        seconds = round(chance.uniform(*terms.pauses), 1)
        return dataclasses.replace(step, seconds=seconds)
    if step.kind == 'redeliver':
        return dataclasses.replace(step, which=chance.randrange(MAX_MESSAGE))
    return step


def state_before(plan: Plan, position: int) -> State:
    """Return the state before a step of a plan.

    :param position: index of the step; the number of steps: after the last one
    """
    state = steps.initial_state(plan.terms)
    for step in plan.steps[:position]:
        state = steps.state_after(state, step)
    return state
