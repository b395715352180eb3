# SPDX-License-Identifier: Apache-2.0
"""Fixtures and hooks of tests between real processes, for ``conftest.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.functional import harness
from tests.functional.rest import Rest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Show the logs of live deployments with a failure."""
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        for deployment in harness.ALIVE:
            report.sections.extend(harness.logs_of(deployment))


@pytest.fixture(scope='session', params=harness.KINDS)
def service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[harness.Deployment]:
    """`vobjects up` with two engines, shared by tests that leave it well."""
    directory = tmp_path_factory.mktemp('service')
    with harness.deployed(request.param, directory) as deployment:
        deployment.start_all()
        yield deployment


@pytest.fixture
def rest(service: harness.Deployment) -> Iterator[Rest]:
    """A client of the shared service."""
    with service.rest() as client:
        yield client


@pytest.fixture(scope='session')
def profiles() -> dict[str, str]:
    """Made by :func:`profile`, by the URL of their service."""
    return {}


@pytest.fixture
def profile(rest: Rest, profiles: dict[str, str]) -> str:
    """The id of a profile of the shared service."""
    if rest.url not in profiles:
        profiles[rest.url] = rest.create_profile()
    return profiles[rest.url]
