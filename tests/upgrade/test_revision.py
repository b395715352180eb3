# SPDX-License-Identifier: Apache-2.0
"""An upgrade from the previous release, or from the oldest revision."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

from tests import requirements, revisions
from tests.functional.deployments import Platform, deployed
from tests.functional.processes import wait_for
from tests.programs import run_program
from tests.upgrade import mixed_fleet, service_fleet
from vobjects_testing import upgrade

ROOT = pathlib.Path(__file__).parents[2]

#: Upgrade both engines and an API; downgrade one engine at the end.
STEPS = (
    upgrade.Step('move', 'engine-1', service_fleet.NEW),
    upgrade.Step('pause', 'engine-2', seconds=0.5),
    upgrade.Step('move', 'api-1', service_fleet.NEW),
    upgrade.Step('move', 'engine-2', service_fleet.NEW),
    upgrade.Step('move', 'engine-1', service_fleet.REAL),
)

#: The oldest revision whose processes and databases may be upgraded: what a
#: release is upgraded from while no tag is older.
BASELINE = '625d944cef7d4437a01ed77d5d3ba0d184e387fa'

#: Start an old API while only new engines live, and an old engine while only
#: new APIs do.
STARTS = (
    upgrade.Step('move', 'engine-1', service_fleet.NEW),
    upgrade.Step('move', 'engine-2', service_fleet.NEW),
    upgrade.Step('move', 'api-1', service_fleet.REAL),
    upgrade.Step('move', 'api-1', service_fleet.NEW),
    upgrade.Step('move', 'api-2', service_fleet.NEW),
    upgrade.Step('move', 'engine-1', service_fleet.REAL),
)


def git(*arguments: str) -> list[str]:
    """Return the lines that git prints, or none if it fails."""
    found = run_program(['git', '-C', ROOT, *arguments])
    return found.stdout.split() if found.returncode == 0 else []


def previous_release() -> str:
    """Return the newest tag before this commit; without one, the baseline."""
    tags = git('describe', '--abbrev=0', '--match=v[0-9]*', '--tags', 'HEAD^')
    return tags[0] if tags else BASELINE


@pytest.fixture(scope='module')
def previous() -> revisions.Environment:
    """The environment of the previous release.

    Skips the test without the full history, or fails it in CI.
    """
    release = previous_release()
    others = git(
        *('ls-tree', '--name-only', release, 'transports/'),
        *('distributions/docker', 'distributions/simulated'),
        *('distributions/contract', 'distributions/sql'),
    )
    try:
        return revisions.environment(
            release, ('.', *others, 'distributions/clustering')
        )
    except subprocess.CalledProcessError as error:
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
    previous: revisions.Environment,
    tmp_path: pathlib.Path,
    platform: Platform,
) -> None:
    terms = service_fleet.terms(service_fleet.REAL)
    plan = upgrade.Plan(0, terms, STEPS)
    opens = service_fleet.opener(platform, tmp_path, previous)

    report = upgrade.run(plan, opens)

    assert report.failed is None, upgrade.tree(report)


@pytest.mark.long
def test_old_process_starts_among_new_processes_only(
    previous: revisions.Environment, tmp_path: pathlib.Path
) -> None:
    terms = service_fleet.terms(service_fleet.REAL)
    plan = upgrade.Plan(0, terms, STARTS)
    platform = Platform('embedded', 'sqlite')
    opens = service_fleet.opener(platform, tmp_path, previous)

    report = upgrade.run(plan, opens)

    assert report.failed is None, upgrade.tree(report)


def test_draining_engine_shows_old_code_a_state_that_it_can_read(
    previous: revisions.Environment, tmp_path: pathlib.Path
) -> None:
    with deployed(Platform('embedded', 'sqlite'), tmp_path) as fleet:

        def start() -> None:
            command = fleet.command('engine', name='old')
            command[:3] = [previous.program('vobjects')]
            fleet.group.start('old', *command, stop_order=1)
            wait_for('both are up', lambda: len(fleet.engine_ids()) == 2)

        assert mixed_fleet.drain_beside(fleet, start) == 'joining'
