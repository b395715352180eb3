# SPDX-License-Identifier: Apache-2.0
"""Draw a plan, run it, and shrink it if it fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from vobjects.testing.upgrade import planner, runner, shrinker
from vobjects.testing.upgrade.planner import Plan
from vobjects.testing.upgrade.runner import OpenFleet, Report
from vobjects.testing.upgrade.shrinker import Limits, Shrunk
from vobjects.testing.upgrade.steps import PlanConfig
from vobjects.testing.upgrade.tree import tree

#: Returns a command, for example, that runs a plan again.
ReplayCommand = Callable[[Plan], str]


class UpgradeFailed(AssertionError):
    """A plan failed; the message shows it, and the smallest plan found.

    :ivar report: report of the plan as drawn
    :ivar shrunk: result of shrinking; None: the plan was not shrunk
    """

    def __init__(
        self, message: str, report: Report, shrunk: Shrunk | None
    ) -> None:
        super().__init__(message)
        self.report = report
        self.shrunk = shrunk


def replay_options(plan: Plan) -> str:
    """Return the options of the pytest plugin that reproduce a plan."""
    words = f'--upgrade-seed {plan.seed} --upgrade-steps {plan.count}'
    if len(plan.steps) != plan.count:
        numbers = ','.join(map(str, plan.numbers)) or '0'
        words += f' --upgrade-only {numbers}'
    return words


def check(
    terms: PlanConfig,
    opens: OpenFleet,
    *,
    seed: int,
    steps: int = 10,
    only: Collection[int] | None = None,
    limits: Limits | None = shrinker.LIMITS,
    again: ReplayCommand = replay_options,
) -> Report:
    """Run the plan of a seed.

    :param terms: the parameters from which the plan is drawn
    :param opens: creates a new fleet for each run
    :param seed: seed of the plan
    :param steps: number of steps to draw
    :param only: numbers of the steps to run; None: all
    :param limits: limits of shrinking; None: a failed plan is not shrunk
    :param again: returns how to run a plan again
    :returns: the report of a successful run
    :raises UpgradeFailed: the plan failed
    :raises ValueError: no step is possible with these terms
    """
    plan = planner.draw(terms, seed, steps)
    if only is not None:
        plan = plan.only(only)
    report = runner.run(plan, opens)
    failed = report.failed
    if failed is None:
        return report
    said = ['', tree(report), f'again: {again(plan)}']
    shrunk = None
    if limits is not None and plan.steps:
        began = time.monotonic()
        shrunk = shrinker.shrink(
            report, lambda smaller: runner.run(smaller, opens), limits
        )
        found = shrunk.report.plan
        said += [
            '',
            f'{"the smallest" if shrunk.is_minimal else "a smaller"} plan that'
            f' fails alike, after {shrunk.runs} runs and'
            f' {time.monotonic() - began:.0f} s:',
            tree(shrunk.report),
            f'again: {again(found)}',
        ]
    raise UpgradeFailed('\n'.join(said), report, shrunk) from failed.error
