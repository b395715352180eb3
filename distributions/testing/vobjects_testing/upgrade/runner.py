# SPDX-License-Identifier: Apache-2.0
"""Run a plan on a fleet, step by step, until a failure.

::

    before   every process starts at its first release; Fleet.before
    mixed    each step of the plan; Fleet.mixed after each
    after    every process moves to its last release; Fleet.after
    end      the fleet is closed

The invariants are checked after each action except the opening and the closing
of the fleet.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import Literal

from vobjects_testing.upgrade import planner, steps
from vobjects_testing.upgrade.fleet import Fleet
from vobjects_testing.upgrade.planner import Plan
from vobjects_testing.upgrade.steps import State, Step

Phase = Literal['before', 'mixed', 'after', 'end']

#: Creates a fleet without processes; its exit stops and checks everything.
OpenFleet = Callable[[], contextlib.AbstractContextManager[Fleet]]


@dataclasses.dataclass(slots=True)
class ReportLine:
    """One action of a run, and its result.

    :ivar number: number of the step; 0: not a step of the plan
    :ivar seconds: duration; None: it has not been run
    :ivar invariant: name of the invariant that was violated; empty: none
    """

    phase: Phase
    text: str
    number: int = 0
    seconds: float | None = None
    error: BaseException | None = None
    invariant: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class Report:
    """The result of running a plan."""

    plan: Plan
    lines: tuple[ReportLine, ...]

    @property
    def failed(self) -> ReportLine | None:
        """The line that failed; None: success."""
        for line in self.lines:
            if line.error is not None:
                return line
        return None

    @property
    def seconds(self) -> float:
        """The total duration in seconds."""
        return sum(line.seconds or 0.0 for line in self.lines)


@dataclasses.dataclass(frozen=True, slots=True)
class _Task:
    line: ReportLine
    perform: Callable[[Fleet], None]


def run(plan: Plan, open_fleet: OpenFleet) -> Report:
    """Run a plan on a new fleet; the report contains any failure.

    :param plan: the plan
    :param open_fleet: creates the fleet
    """
    tasks = list(_tasks(plan))
    opened, closed = (
        ReportLine('before', 'open()'),
        ReportLine('end', 'close()'),
    )
    report = Report(plan, (opened, *(task.line for task in tasks), closed))
    line, start = opened, time.monotonic()
    try:
        with open_fleet() as fleet:
            opened.seconds = time.monotonic() - start
            for task in tasks:
                _perform(fleet, task)
            line, start = closed, time.monotonic()
        closed.seconds = time.monotonic() - start
    except Exception as error:  # noqa: BLE001 - it is reported
        if report.failed is None:
            line.error, line.seconds = error, time.monotonic() - start
    return report


def _perform(fleet: Fleet, task: _Task) -> None:
    line, start = task.line, time.monotonic()
    try:
        task.perform(fleet)
        for name, check in fleet.invariants().items():
            line.invariant = name
            check()
        line.invariant = ''
    except BaseException as error:
        line.error = error
        raise
    finally:
        line.seconds = time.monotonic() - start


def _tasks(plan: Plan) -> Iterator[_Task]:
    config = plan.config
    for name, release in steps.initial_state(config).items():
        step = Step('move', name, release or '')
        yield _step_task(plan, 'before', {name: None}, step)
    yield _Task(ReportLine('before', 'before()'), lambda fleet: fleet.before())
    for position, step in enumerate(plan.steps):
        state = planner.state_before(plan, position)
        yield _step_task(plan, 'mixed', state, step, position + 1)
    state = planner.state_before(plan, len(plan.steps))
    for step in steps.final_steps(config, state):
        yield _step_task(plan, 'after', state, step)
        state = steps.state_after(state, step)
    yield _Task(ReportLine('after', 'after()'), lambda fleet: fleet.after())


def _step_task(
    plan: Plan, phase: Phase, state: State, step: Step, number: int = 0
) -> _Task:
    is_up = step.process and state[step.process] is not None

    def perform(fleet: Fleet) -> None:
        if step.kind == 'move':
            if is_up:
                fleet.stop(step.process)
            fleet.start(step.process, step.release)
        elif step.kind == 'kill':
            fleet.kill(step.process)
        elif step.kind == 'pause':
            fleet.pause(step.process, step.seconds)
        else:
            fleet.redeliver(step.message)
        if phase == 'mixed':
            fleet.mixed()

    text = steps.describe(plan.config, state, step)
    return _Task(ReportLine(phase, text, number), perform)
