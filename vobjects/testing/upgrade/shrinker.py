# SPDX-License-Identifier: Apache-2.0
"""Find a smaller plan that fails in the same way.

Steps are left out: first all of them, then halves, quarters and so on, as in
delta debugging (Zeller and Hildebrandt, "Simplifying and isolating
failure-inducing input", 2002). Each attempt runs a plan on a new fleet, which
takes time. The number of runs and their total time are therefore limited; the
smallest plan found within the limits is the result.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator

from vobjects.testing.upgrade.planner import Plan
from vobjects.testing.upgrade.runner import Report

RunPlan = Callable[[Plan], Report]


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the search for a smaller plan.

    :ivar runs: maximum number of runs
    :ivar seconds: time after which no further run begins
    """

    runs: int = 24
    seconds: float = 600.0


LIMITS = Limits()


@dataclasses.dataclass(frozen=True, slots=True)
class Shrunk:
    """The result of a search.

    :ivar report: report of the smallest plan found that fails in the same way
    :ivar runs: number of runs
    :ivar is_minimal: True: no plan with one step less fails in the same way;
        False: a limit was reached first
    """

    report: Report
    runs: int
    is_minimal: bool


def shrink(
    failed: Report,
    run: RunPlan,
    limits: Limits = LIMITS,
    clock: Callable[[], float] = time.monotonic,
) -> Shrunk:
    """Return the smallest plan found that fails as a given plan did.

    :param failed: report of the given plan
    :param run: runs a plan on a new fleet
    :param limits: limits of the search
    :param clock: returns a time in seconds
    """
    deadline = clock() + limits.seconds
    best = _until_failure(failed)
    tried = {best.plan.numbers}
    count, size = 0, len(best.plan.steps)
    while size:
        for plan in _smaller(best.plan, size):
            if plan.numbers in tried:
                continue
            if count >= limits.runs or clock() >= deadline:
                return Shrunk(best, count, is_minimal=False)
            tried.add(plan.numbers)
            count += 1
            report = run(plan)
            if _same_failure(failed, report):
                best = _until_failure(report)
                tried.add(best.plan.numbers)
                break
        else:
            size = size // 2
            continue
        size = min(size, len(best.plan.steps))
    return Shrunk(best, count, is_minimal=True)


def _smaller(plan: Plan, size: int) -> Iterator[Plan]:
    """Yield the plan without each group of steps of a size, last first.

    Late steps are more often irrelevant.
    """
    numbers = plan.numbers
    for end in range(len(numbers), 0, -size):
        yield plan.only(numbers[: max(0, end - size)] + numbers[end:])


def _until_failure(report: Report) -> Report:
    """Return a report without the steps after the failed one."""
    line = report.failed
    if line is None or line.phase != 'mixed':
        return report
    numbers = [n for n in report.plan.numbers if n <= line.number]
    return Report(
        report.plan.only(numbers),
        tuple(
            earlier
            for earlier in report.lines
            if earlier.phase != 'mixed' or earlier.number <= line.number
        ),
    )


def _same_failure(report: Report, other_report: Report) -> bool:
    """Return whether two plans failed in the same way.

    That is the same invariant and the same type of error.
    """
    first, second = report.failed, other_report.failed
    if first is None or second is None:
        return False
    return (first.invariant, type(first.error)) == (
        second.invariant,
        type(second.error),
    )
