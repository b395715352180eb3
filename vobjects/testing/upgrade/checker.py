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
    options = f'--upgrade-seed {plan.seed} --upgrade-steps {plan.count}'
    if len(plan.steps) != plan.count:
        numbers = ','.join(map(str, plan.numbers)) or '0'
        options += f' --upgrade-only {numbers}'
    return options


def check(
    config: PlanConfig,
    open_fleet: OpenFleet,
    *,
    seed: int,
    steps: int = 10,
    only: Collection[int] | None = None,
    limits: Limits | None = shrinker.LIMITS,
    replay_command: ReplayCommand = replay_options,
) -> Report:
    """Run the plan of a seed.

    :param config: the parameters from which the plan is drawn
    :param open_fleet: creates a new fleet for each run
    :param seed: seed of the plan
    :param steps: number of steps to draw
    :param only: numbers of the steps to run; None: all
    :param limits: limits of shrinking; None: a failed plan is not shrunk
    :param replay_command: returns how to run a plan again
    :returns: the report of a successful run
    :raises UpgradeFailed: the plan failed
    :raises ValueError: no step is possible with these config
    """
    plan = planner.draw(config, seed, steps)
    if only is not None:
        plan = plan.only(only)
    report = runner.run(plan, open_fleet)
    failed = report.failed
    if failed is None:
        return report
    lines = ['', tree(report), f'reproduce with: {replay_command(plan)}']
    shrunk = None
    if limits is not None and plan.steps:
        start = time.monotonic()
        shrunk = shrinker.shrink(
            report, lambda smaller: runner.run(smaller, open_fleet), limits
        )
        lines += [
            '',
            f'{"the smallest" if shrunk.is_minimal else "a smaller"} plan that'
            f' fails in the same way, after {shrunk.runs} runs and'
            f' {time.monotonic() - start:.0f} s:',
            tree(shrunk.report),
            f'reproduce with: {replay_command(shrunk.report.plan)}',
        ]
    raise UpgradeFailed('\n'.join(lines), report, shrunk) from failed.error
