# SPDX-License-Identifier: Apache-2.0
"""Draw a plan, and run it."""

from __future__ import annotations

from collections.abc import Callable

from vobjects.testing.upgrade import planner, runner
from vobjects.testing.upgrade.planner import Plan
from vobjects.testing.upgrade.runner import OpenFleet, Report
from vobjects.testing.upgrade.steps import PlanConfig
from vobjects.testing.upgrade.tree import tree

#: Returns a command, for example, that runs a plan again.
ReplayCommand = Callable[[Plan], str]


class UpgradeFailed(AssertionError):
    """A plan failed; the message shows it.

    :ivar report: report of the plan
    """

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


def replay_options(plan: Plan) -> str:
    """Return the options of the pytest plugin that reproduce a plan."""
    return f'--upgrade-seed {plan.seed} --upgrade-steps {len(plan.steps)}'


def check(
    config: PlanConfig,
    open_fleet: OpenFleet,
    *,
    seed: int,
    steps: int = 10,
    replay_command: ReplayCommand = replay_options,
) -> Report:
    """Run the plan of a seed.

    :param config: the parameters from which the plan is drawn
    :param open_fleet: creates a new fleet
    :param seed: seed of the plan
    :param steps: number of steps to draw
    :param replay_command: returns how to run a plan again
    :returns: the report of a successful run
    :raises UpgradeFailed: the plan failed
    :raises ValueError: no step is possible with these config
    """
    plan = planner.draw(config, seed, steps)
    report = runner.run(plan, open_fleet)
    if report.failed is None:
        return report
    message = f'\n{tree(report)}\nreproduce with: {replay_command(plan)}'
    raise UpgradeFailed(message, report) from report.failed.error
