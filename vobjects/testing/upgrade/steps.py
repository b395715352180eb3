# SPDX-License-Identifier: Apache-2.0
"""What can be done to a fleet, as data, and when it may be done.

A step says what is to be done, not what for: ``move`` has a process run a
release, whatever it runs now. So a plan from which steps were taken is still
a plan; :func:`meaning` says what a step amounts to where it stands.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

Kind = Literal['move', 'kill', 'pause', 'redeliver']

#: What a step can amount to -> how often it is drawn, beside the others.
MEANINGS: Mapping[str, float] = {
    'upgrade': 4,  # stop in order, start at a newer release
    'roll back': 2,  # the same, at an older one
    'restart': 1,  # the same, at the same one
    'start': 3,  # at any release, after it was killed
    'kill': 2,  # as `kill -9` does; it stays down until it is started
    'pause': 2,  # freeze, and thaw later: whatever it was at is delayed
    'redeliver': 2,  # a message of earlier comes once more
}


@dataclasses.dataclass(frozen=True, slots=True)
class Process:
    """One process of the fleet.

    :ivar releases: that it may run, oldest first. It begins at the first,
        and ends at the last
    :ivar group: those of a group do the same work, so that some of them
        have to be up at any time
    :ivar kinds: of steps that it has to bear
    """

    name: str
    releases: tuple[str, ...]
    group: str = ''
    kinds: frozenset[Kind] = frozenset({'move', 'kill', 'pause'})


@dataclasses.dataclass(frozen=True, slots=True)
class Terms:
    """What plans are drawn from.

    :ivar keep: how many of each group must be up, besides the process that
        a step is about
    :ivar redeliver: whether messages are delivered once more
    :ivar pauses: the shortest and the longest one, in seconds
    :ivar weights: see :data:`MEANINGS`
    """

    processes: tuple[Process, ...]
    keep: int = 1
    redeliver: bool = False
    pauses: tuple[float, float] = (0.5, 2.0)
    weights: Mapping[str, float] = dataclasses.field(
        default_factory=lambda: MEANINGS
    )

    def process(self, name: str) -> Process:
        """Return a process.

        :raises KeyError: there is none of the name
        """
        for process in self.processes:
            if process.name == name:
                return process
        raise KeyError(name)


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One thing that is done to the fleet.

    :ivar number: in the plan as it was drawn, from 1; 0: not drawn
    :ivar process: name; empty for ``redeliver``
    :ivar release: of ``move``
    :ivar seconds: of ``pause``
    :ivar which: of ``redeliver``: a number by which the fleet picks one of
        the messages that it has kept
    """

    kind: Kind
    process: str = ''
    release: str = ''
    seconds: float = 0.0
    which: int = 0
    number: int = 0


#: What each process runs; None: it is down.
State = Mapping[str, str | None]


def beginning(terms: Terms) -> State:
    """Return what the processes run before the first step."""
    return {process.name: process.releases[0] for process in terms.processes}


def ending(terms: Terms, state: State) -> Iterator[Step]:
    """Yield what is left to do until all run their last release."""
    for process in terms.processes:
        if state[process.name] != process.releases[-1]:
            yield Step('move', process.name, process.releases[-1])


def after(state: State, step: Step) -> State:
    """Return what the processes run after a step."""
    if step.kind == 'move':
        return {**state, step.process: step.release}
    if step.kind == 'kill':
        return {**state, step.process: None}
    return state


def is_possible(terms: Terms, state: State, step: Step) -> bool:
    """Tell whether a step may be done where the fleet stands."""
    if step.kind == 'redeliver':
        return terms.redeliver
    process = terms.process(step.process)
    if step.kind not in process.kinds:
        return False
    if state[process.name] is None:
        return step.kind == 'move'
    others = [
        other
        for other in terms.processes
        if other.group == process.group
        and other is not process
        and state[other.name] is not None
    ]
    return len(others) >= terms.keep


def possible(terms: Terms, steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps without those that are not possible, in turn."""
    state, kept = beginning(terms), []
    for step in steps:
        if is_possible(terms, state, step):
            kept.append(step)
            state = after(state, step)
    return tuple(kept)


def meaning(terms: Terms, state: State, step: Step) -> str:
    """Return which of :data:`MEANINGS` a step has where the fleet stands."""
    if step.kind != 'move':
        return step.kind
    now = state[step.process]
    if now is None:
        return 'start'
    if now == step.release:
        return 'restart'
    releases = terms.process(step.process).releases
    newer = releases.index(step.release) > releases.index(now)
    return 'upgrade' if newer else 'roll back'


def told(terms: Terms, state: State, step: Step) -> str:
    """Return a step in words."""
    what = meaning(terms, state, step)
    if what == 'redeliver':
        return f'redeliver message {step.which}'
    if what == 'pause':
        return f'pause {step.process} for {step.seconds:g} s'
    now = state[step.process]
    if what in ('upgrade', 'roll back'):
        return f'{what} {step.process} from {now} to {step.release}'
    return f'{what} {step.process} at {step.release or now}'
