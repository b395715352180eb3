# SPDX-License-Identifier: Apache-2.0
"""Fixtures and hooks of tests between real processes, for ``conftest.py``."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest

from tests.functional import deployments
from tests.functional.rest import RestClient


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a failure what the processes of the test said."""
    report = yield
    if report.failed:
        given = list(getattr(item, 'funcargs', {}).values())
        report.sections.extend(deployments.logs(lambda d: d in given))
    return report


@pytest.fixture(scope='session', params=deployments.PLATFORMS)
def service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[deployments.Deployment]:
    """`vobjects up` with two engines, shared by tests that leave it well."""
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
    """Made by :func:`profile`, by the URL of their service."""
    return {}


@pytest.fixture
def profile(rest: RestClient, profiles: dict[str, str]) -> str:
    """The id of a profile of the shared service."""
    if rest.url not in profiles:
        profiles[rest.url] = rest.create_profile()
    return profiles[rest.url]
