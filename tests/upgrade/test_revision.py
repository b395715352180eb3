# SPDX-License-Identifier: Apache-2.0
"""An upgrade from an older revision of this repository."""

from __future__ import annotations

import pathlib

import pytest

from tests import requirements
from tests.functional.deployments import Platform
from tests.upgrade import service_fleet
from vobjects.testing import upgrade
from vobjects.testing.upgrade import revisions

ROOT = pathlib.Path(__file__).parents[2]

#: Upgrade both engines and an API; downgrade one engine at the end.
STEPS = (
    upgrade.Step('move', 'engine-1', service_fleet.NEW, number=1),
    upgrade.Step('pause', 'engine-2', seconds=0.5, number=2),
    upgrade.Step('move', 'api-1', service_fleet.NEW, number=3),
    upgrade.Step('move', 'engine-2', service_fleet.NEW, number=4),
    upgrade.Step('move', 'engine-1', service_fleet.REAL, number=5),
)

#: The oldest revision whose processes and databases may be upgraded.
BASELINE = '625d944cef7d4437a01ed77d5d3ba0d184e387fa'

#: Start an old API while only new engines live, and an old engine while only
#: new APIs do.
STARTS = (
    upgrade.Step('move', 'engine-1', service_fleet.NEW, number=1),
    upgrade.Step('move', 'engine-2', service_fleet.NEW, number=2),
    upgrade.Step('move', 'api-1', service_fleet.REAL, number=3),
    upgrade.Step('move', 'api-1', service_fleet.NEW, number=4),
    upgrade.Step('move', 'api-2', service_fleet.NEW, number=5),
    upgrade.Step('move', 'engine-1', service_fleet.REAL, number=6),
)


@pytest.fixture(scope='module')
def baseline() -> revisions.Environment:
    """The environment of the baseline.

    Skips the test without the full history, or fails it in CI.
    """
    try:
        return revisions.environment(
            ROOT, BASELINE, projects=('.', 'distributions/clustering')
        )
    except revisions.RevisionError as error:
        requirements.missing(str(error))


@pytest.mark.parametrize(
    'platform',
    [
        pytest.param(
            Platform('embedded', 'sqlite'),
            id='embedded-sqlite',
            marks=pytest.mark.long,
        ),
        # test_drivers has peers with other drivers for RabbitMQ.
        Platform('pyamqp', 'postgresql').parameter(),
    ],
)
def test_upgrade_from_real_old_code_under_load(
    baseline: revisions.Environment,
    tmp_path: pathlib.Path,
    platform: Platform,
) -> None:
    terms = service_fleet.terms(service_fleet.REAL)
    plan = upgrade.Plan(0, len(STEPS), terms, STEPS)
    opens = service_fleet.opener(platform, tmp_path, baseline)

    report = upgrade.run(plan, opens)

    assert report.failed is None, upgrade.tree(report)


@pytest.mark.long
def test_old_process_starts_among_new_processes_only(
    baseline: revisions.Environment, tmp_path: pathlib.Path
) -> None:
    terms = service_fleet.terms(service_fleet.REAL)
    plan = upgrade.Plan(0, len(STARTS), terms, STARTS)
    platform = Platform('embedded', 'sqlite')
    opens = service_fleet.opener(platform, tmp_path, baseline)

    report = upgrade.run(plan, opens)

    assert report.failed is None, upgrade.tree(report)
