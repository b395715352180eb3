# SPDX-License-Identifier: Apache-2.0
"""Upgrade plans: operators' actions on a fleet, drawn from a seed and run.

::

    steps.py      the steps of a plan, and when they are possible
    planner.py    draws a plan from a seed
    fleet.py      the interface that the author of a test implements
    runner.py     runs a plan step by step, until a failure
    tree.py       prints a plan as a tree, each step with its state

Any service can use this package; it does not depend on the processes' purpose.
"""

from __future__ import annotations

from vobjects_testing.upgrade.fleet import Fleet
from vobjects_testing.upgrade.planner import Plan
from vobjects_testing.upgrade.runner import Report, run
from vobjects_testing.upgrade.steps import PlanConfig, Process, Step
from vobjects_testing.upgrade.tree import tree as tree

__all__ = [
    'Fleet',
    'Plan',
    'PlanConfig',
    'Process',
    'Report',
    'Step',
    'run',
]
