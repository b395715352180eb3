# SPDX-License-Identifier: Apache-2.0
"""A plan that fails becomes a smaller one that fails alike.

Steps are left out, first all of them, then halves, quarters and so on, as
in delta debugging (Zeller and Hildebrandt, "Simplifying and isolating
failure-inducing input", 2002). Each try is a run on a new fleet, which takes
its time: so their number and their time are bounded, and what was found by
then is the result.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator

from vobjects.testing.upgrade.planner import Plan
from vobjects.testing.upgrade.running import Report

Runs = Callable[[Plan], Report]


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """When to be content with what was found.

    :ivar runs: of plans, at most
    :ivar seconds: after which no further run begins
    """

    runs: int = 24
    seconds: float = 600.0


LIMITS = Limits()


@dataclasses.dataclass(frozen=True, slots=True)
class Shrunk:
    """What was found.

    :ivar report: of the smallest plan that failed
    :ivar runs: how many it took
    :ivar is_minimal: every smaller plan passes that lacks one step more;
        False: it was given up before that was known
    """

    report: Report
    runs: int
    is_minimal: bool


def shrink(
    failed: Report,
    runs: Runs,
    limits: Limits = LIMITS,
    clock: Callable[[], float] = time.monotonic,
) -> Shrunk:
    """Return the smallest plan found that fails as another one did.

    :param failed: the report of that one
    :param runs: runs a plan on a new fleet
    :param clock: returns seconds
    """
    until = clock() + limits.seconds
    best = _without_rest(failed)
    tried = {best.plan.numbers}
    count, size = 0, len(best.plan.steps)
    while size:
        for plan in _smaller(best.plan, size):
            if plan.numbers in tried:
                continue
            if count >= limits.runs or clock() >= until:
                return Shrunk(best, count, is_minimal=False)
            tried.add(plan.numbers)
            count += 1
            report = runs(plan)
            if _alike(failed, report):
                best = _without_rest(report)
                tried.add(best.plan.numbers)
                break
        else:
            size = size // 2
            continue
        size = min(size, len(best.plan.steps))
    return Shrunk(best, count, is_minimal=True)


def _smaller(plan: Plan, size: int) -> Iterator[Plan]:
    """Yield the plan without each run of steps of a size, last ones first.

    What came late is more often of no account.
    """
    numbers = plan.numbers
    for end in range(len(numbers), 0, -size):
        left = numbers[: max(0, end - size)] + numbers[end:]
        yield plan.only(left)


def _without_rest(report: Report) -> Report:
    """Return a report without the steps after the one that failed."""
    line = report.failed
    if line is None or line.phase != 'mixed':
        return report
    numbers = [n for n in report.plan.numbers if n <= line.number]
    return Report(
        report.plan.only(numbers),
        tuple(
            other
            for other in report.lines
            if other.phase != 'mixed' or other.number <= line.number
        ),
    )


def _alike(one: Report, other: Report) -> bool:
    """Tell whether two plans failed for the same reason, for all we see."""
    first, second = one.failed, other.failed
    if first is None or second is None:
        return False
    return (first.invariant, type(first.error)) == (
        second.invariant,
        type(second.error),
    )
