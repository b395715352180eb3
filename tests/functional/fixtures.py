# SPDX-License-Identifier: Apache-2.0
"""Fixtures and hooks of tests with real processes, for ``conftest.py``."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from xdist import scheduler

from tests.functional import deployments
from tests.functional.rest import RestClient

#: In the IDs of tests.
_PLATFORM = re.compile('(embedded|rabbit)-(sqlite|postgresql|mysql)')


class PlatformScheduling(scheduler.LoadScopeScheduling):
    """Run all tests of a platform, or else of a file, on one worker.

    A worker that runs tests of one platform only starts the shared service
    once. pytest-xdist's own ``loadgroup`` has no effect with pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        path, _, rest = nodeid.partition('::')
        match = _PLATFORM.search(rest.partition('[')[2])
        return match[0] if match else path


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that write files for the documentation."""
    parser.addoption(
        '--screenshots',
        type=pathlib.Path,
        metavar='DIR',
        help='write images of the console to this directory, such as'
        ' doc/source/images',
    )
    parser.addoption(
        '--api-samples',
        type=pathlib.Path,
        metavar='FILE',
        help='write examples of requests and responses to this file, such as'
        ' doc/source/api_samples.yaml',
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(
    config: pytest.Config, log: Any
) -> PlatformScheduling:
    """Schedule tests for ``--numprocesses``."""
    return PlatformScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add excerpts of the process logs to the report of a failure."""
    report = yield
    if report.failed:
        fixtures = list(getattr(item, 'funcargs', {}).values())
        report.sections.extend(deployments.logs(lambda d: d in fixtures))
    return report


@pytest.fixture(scope='session', params=deployments.PLATFORMS)
def service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[deployments.Deployment]:
    """`vobjects up` with two engines; tests must leave it working."""
    directory = tmp_path_factory.mktemp('service')
    with deployments.deployed(request.param, directory) as deployment:
        deployment.start_all()
        yield deployment


@pytest.fixture
def rest(service: deployments.Deployment) -> Iterator[RestClient]:
    """A client of the shared service."""
    with service.rest() as client:
        yield client


@pytest.fixture(scope='session')
def profiles() -> dict[str, str]:
    """Profiles that :func:`profile` has created, by URL of the service."""
    return {}


@pytest.fixture
def profile(rest: RestClient, profiles: dict[str, str]) -> str:
    """The ID of a profile of the shared service."""
    if rest.url not in profiles:
        profiles[rest.url] = rest.create_profile()
    return profiles[rest.url]
