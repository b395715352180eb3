# SPDX-License-Identifier: Apache-2.0
"""Upgrade plans: what operators do to a fleet, drawn from a seed and tried.

::

    steps.py      what can be done to a fleet, and when it may be
    planner.py    a seed becomes a plan
    fleet.py      what the author of a test gives
    running.py    a plan is run, step by step, until something fails
    shrinking.py  a plan that fails becomes a smaller one that fails alike
    tree.py       a plan as text, each step with its state
    checking.py   all of that: what the fixture `vobjects_upgrade` calls
    revisions.py  an older revision of a repository, installed by itself

Any service can use it; nothing here knows what the processes do.
"""

from __future__ import annotations

from vobjects.testing.upgrade.checking import UpgradeFailed, check
from vobjects.testing.upgrade.fleet import Fleet
from vobjects.testing.upgrade.planner import Plan, draw
from vobjects.testing.upgrade.running import Report, run
from vobjects.testing.upgrade.steps import Process, Step, Terms
from vobjects.testing.upgrade.tree import tree

__all__ = [
    'Fleet',
    'Plan',
    'Process',
    'Report',
    'Step',
    'Terms',
    'UpgradeFailed',
    'check',
    'draw',
    'run',
    'tree',
]
