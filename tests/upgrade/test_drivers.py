# SPDX-License-Identifier: Apache-2.0
"""An upgrade to another driver for RabbitMQ, from real old code.

The old code takes ``rabbit://`` for its own driver. The new code takes it for
that of oslo.messaging, and moves to ``pyamqp://`` process by process.
"""

from __future__ import annotations

import pathlib
import subprocess

import pytest

from tests import requirements, revisions
from tests.functional.deployments import Platform
from tests.upgrade import service_fleet
from tests.upgrade.service_fleet import NEW, PYAMQP, REAL
from vobjects_testing import upgrade

#: A revision whose library contains the driver.
BASELINE = '625d944cef7d4437a01ed77d5d3ba0d184e387fa'

#: The last step moves an engine back.
MOVES = (
    ('engine-1', NEW),
    ('api-1', NEW),
    ('engine-2', PYAMQP),
    ('api-2', PYAMQP),
    ('engine-1', PYAMQP),
    ('api-1', PYAMQP),
    ('engine-2', REAL),
)


@pytest.mark.rabbit
@pytest.mark.postgresql
def test_upgrade_to_another_driver_under_load(tmp_path: pathlib.Path) -> None:
    try:
        baseline = revisions.environment(
            BASELINE, ('.', 'distributions/clustering')
        )
    except subprocess.CalledProcessError as error:
        requirements.missing(str(error))
    steps = tuple(
        upgrade.Step('move', process, release) for process, release in MOVES
    )
    terms = service_fleet.terms(REAL, newer=(PYAMQP,))
    plan = upgrade.Plan(0, terms, steps)
    platform = Platform('rabbit', 'postgresql')

    report = upgrade.run(
        plan, service_fleet.opener(platform, tmp_path, baseline)
    )

    assert report.failed is None, upgrade.tree(report)
