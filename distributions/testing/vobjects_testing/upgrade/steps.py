# SPDX-License-Identifier: Apache-2.0
"""The steps of an upgrade plan, as data, and when they are possible.

A step states an action, not its purpose: ``move`` makes a process run a
release, whichever it runs now; :func:`effect` returns the effect of a step in
the current state.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Literal

StepKind = Literal['move', 'kill', 'pause', 'redeliver']

#: Effect of a step -> its weight when steps are drawn.
EFFECTS: Mapping[str, float] = {
    'upgrade': 4,  # graceful stop, then start at a newer release
    'roll back': 2,  # the same, at an older release
    'restart': 1,  # the same, at the same release
    'start': 3,  # at any release, after a kill
    'kill': 2,  # like `kill -9`; the process stays down until a start
    'pause': 2,  # suspend, and resume later: its work is delayed
    'redeliver': 2,  # deliver an earlier message once more
    # A start, by any of the effects above, at a release that no process of
    # another group runs: it must not rely on them.
    'start among newer': 3,
    'start among older': 3,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Process:
    """One process of the fleet.

    :ivar releases: releases that it may run, oldest first; it starts with the
        first and ends with the last
    :ivar group: processes of a group do the same work, and some of them must
        be up at any time
    :ivar kinds: kinds of steps that may be applied to it
    """

    name: str
    releases: tuple[str, ...]
    group: str = ''
    kinds: frozenset[StepKind] = frozenset({'move', 'kill', 'pause'})


@dataclasses.dataclass(frozen=True, slots=True)
class PlanConfig:
    """The parameters from which plans are drawn.

    :ivar processes: the processes of the fleet
    :ivar keep: number of processes of each group that must be up, not counting
        the process of a step
    :ivar redeliver: whether messages are delivered again
    :ivar pauses: the shortest and the longest pause, in seconds
    """

    processes: tuple[Process, ...]
    keep: int = 1
    redeliver: bool = False
    pauses: tuple[float, float] = (0.5, 2.0)

    def process(self, name: str) -> Process:
        """Return the process with a name.

        :raises KeyError: no process has that name
        """
        for process in self.processes:
            if process.name == name:
                return process
        raise KeyError(name)


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One action on the fleet.

    :ivar process: name of the process; empty for ``redeliver``
    :ivar release: release, for ``move``
    :ivar seconds: duration, for ``pause``
    :ivar message: number by which the fleet selects one of its recorded
        messages, for ``redeliver``
    """

    kind: StepKind
    process: str = ''
    release: str = ''
    seconds: float = 0.0
    message: int = 0


#: Process -> the release that it runs; None: it is down.
State = Mapping[str, str | None]


def initial_state(config: PlanConfig) -> State:
    """Return the state before the first step."""
    return {process.name: process.releases[0] for process in config.processes}


def final_steps(config: PlanConfig, state: State) -> Iterator[Step]:
    """Yield the steps until all processes run their last release."""
    for process in config.processes:
        if state[process.name] != process.releases[-1]:
            yield Step('move', process.name, process.releases[-1])


def state_after(state: State, step: Step) -> State:
    """Return the state after a step."""
    if step.kind == 'move':
        return {**state, step.process: step.release}
    if step.kind == 'kill':
        return {**state, step.process: None}
    return state


def is_possible(config: PlanConfig, state: State, step: Step) -> bool:
    """Return whether a step is possible in a state."""
    if step.kind == 'redeliver':
        return config.redeliver
    process = config.process(step.process)
    if step.kind not in process.kinds:
        return False
    if state[process.name] is None:
        return step.kind == 'move'
    others_up = sum(
        other.group == process.group
        and other is not process
        and state[other.name] is not None
        for other in config.processes
    )
    return others_up >= config.keep


def effect(config: PlanConfig, state: State, step: Step) -> str:
    """Return the effect of a step in a state: a key of :data:`EFFECTS`."""
    if step.kind != 'move':
        return step.kind
    current = state[step.process]
    if current is None:
        return 'start'
    if current == step.release:
        return 'restart'
    releases = config.process(step.process).releases
    newer = releases.index(step.release) > releases.index(current)
    return 'upgrade' if newer else 'roll back'


def rare_effect(config: PlanConfig, state: State, step: Step) -> str:
    """Return :func:`effect`, or one that depends on the other groups.

    For example, an old API starts while only new engines live.
    """
    if step.kind == 'move':
        process = config.process(step.process)
        order = process.releases.index
        others = {
            state[other.name]
            for other in config.processes
            if other.group != process.group
        } & {*process.releases}
        ranks = [order(release) for release in others if release is not None]
        if ranks and min(ranks) > order(step.release):
            return 'start among newer'
        if ranks and max(ranks) < order(step.release):
            return 'start among older'
    return effect(config, state, step)


def describe(config: PlanConfig, state: State, step: Step) -> str:
    """Return a description of a step."""
    step_effect = effect(config, state, step)
    if step_effect == 'redeliver':
        return f'redeliver message {step.message}'
    if step_effect == 'pause':
        return f'pause {step.process} for {step.seconds:g} s'
    current = state[step.process]
    if step_effect in ('upgrade', 'roll back'):
        return f'{step_effect} {step.process} from {current} to {step.release}'
    return f'{step_effect} {step.process} at {step.release or current}'
