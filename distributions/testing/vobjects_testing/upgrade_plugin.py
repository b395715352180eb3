# SPDX-License-Identifier: Apache-2.0
"""The part of the pytest plugin that runs upgrade plans."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    # Every project's pytest loads the plugin, so it must import quickly.
    from vobjects_testing.upgrade.runner import OpenFleet, Report
    from vobjects_testing.upgrade.steps import PlanConfig

FIXTURE = 'vobjects_upgrade'


def add_options(parser: pytest.Parser) -> None:
    """Add the command-line options."""
    group = parser.getgroup('vobjects', 'upgrade plans (vobjects)')
    group.addoption(
        '--upgrade-seed',
        metavar='N',
        type=int,
        action='append',
        help='draw the upgrade plan from this seed; given several times, each'
        ' is tried (default: 1)',
    )
    group.addoption(
        '--upgrade-steps',
        metavar='N',
        type=_positive,
        default=10,
        help='steps of the plan (default: %(default)s)',
    )


def generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize the tests that use the fixture, one per seed."""
    if FIXTURE not in metafunc.fixturenames:
        return
    seeds = metafunc.config.getoption('upgrade_seed') or [1]
    metafunc.parametrize(
        FIXTURE, seeds, ids=[f'seed-{seed}' for seed in seeds], indirect=True
    )


@pytest.fixture
def vobjects_upgrade(
    request: pytest.FixtureRequest,
) -> Callable[[PlanConfig, OpenFleet], Report]:
    """Return a function that draws an upgrade plan, runs and prints it."""
    from vobjects_testing.upgrade import planner, runner
    from vobjects_testing.upgrade.tree import tree

    steps = request.config.getoption('upgrade_steps')
    test = request.node.nodeid.rpartition('[')[0] or request.node.nodeid

    def check(plan_config: PlanConfig, open_fleet: OpenFleet) -> Report:
        plan = planner.draw(plan_config, request.param, steps)
        report = runner.run(plan, open_fleet)
        if failed := report.failed:
            raise AssertionError(
                f'\n{tree(report)}\nreproduce with: pytest'
                f' {shlex.quote(test)} --upgrade-seed {plan.seed}'
                f' --upgrade-steps {steps}'
            ) from failed.error
        print(tree(report))  # noqa: T201 - shown with -rA or -s
        return report

    return check


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number
