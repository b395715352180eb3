# SPDX-License-Identifier: Apache-2.0
"""Fixtures and hooks of tests with real processes, for ``conftest.py``."""

from __future__ import annotations

import pathlib
import re
import zlib
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from xdist import scheduler

from tests.functional import deployments
from tests.functional.rest import RestClient

#: In the IDs of tests; the prefix is that of the shared service.
_PLATFORM = re.compile(
    '(shared-)?(embedded|pyamqp|rabbit)-(sqlite|postgresql|mysql)'
)


class PlatformScheduling(scheduler.LoadScopeScheduling):
    """Run tests that share processes on one worker.

    These are the tests of a platform with the shared service, or those of a
    file, and of a platform if it has several. pytest-xdist's own ``loadgroup``
    has no effect with pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        path, _, rest = nodeid.partition('::')
        match = _PLATFORM.search(rest.partition('[')[2])
        if match is None:
            return path
        return match[0] if match[1] else f'{path}[{match[0]}]'


#: Marks of tests for which the hook below decides nothing.
_DECIDED = ('every_platform', 'long')


def _platform_of(item: pytest.Item) -> deployments.Platform | None:
    callspec = getattr(item, 'callspec', None)
    values = callspec.params.values() if callspec else ()
    return next(
        (v for v in values if isinstance(v, deployments.Platform)), None
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave tests of all but one of their platforms to `make test-long`.

    The name of a test or of its class selects the platform, so that each
    platform has many tests. ``every_platform`` marks tests about platforms.
    """
    tests: dict[str, dict[deployments.Platform, list[pytest.Item]]] = {}
    for item in items:
        platform = _platform_of(item)
        if platform and not any(map(item.get_closest_marker, _DECIDED)):
            name = '::'.join(item.nodeid.partition('[')[0].split('::')[:2])
            tests.setdefault(name, {}).setdefault(platform, []).append(item)
    for name, platforms in tests.items():
        ordered = sorted(platforms, key=str)
        kept = ordered[zlib.crc32(name.encode()) % len(ordered)]
        for platform, duplicates in platforms.items():
            if platform != kept:
                for item in duplicates:
                    item.add_marker('long')


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark of tests about platforms."""
    config.addinivalue_line(
        'markers', 'every_platform: runs on every platform in `make test`, too'
    )


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


@pytest.fixture(scope='session', params=deployments.SHARED)
def service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[deployments.Deployment]:
    """An API and two engines; tests must leave them working."""
    directory = tmp_path_factory.mktemp('service')
    with deployments.deployed(request.param, directory) as deployment:
        deployment.start_engines(2)
        deployment.start_api()
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
