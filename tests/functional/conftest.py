# SPDX-License-Identifier: Apache-2.0
"""Fixtures of functional tests; see also :mod:`tests.functional.fixtures`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.functional import browser, docker_daemon
from tests.functional.fixtures import (  # noqa: F401 - pytest looks for them here
    profile,
    profiles,
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_runtest_makereport,
    pytest_xdist_make_scheduler,
    rest,
    service,
)


@pytest.fixture(scope='module')
def window(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[browser.Browser]:
    """A window of a browser."""
    with browser.running(tmp_path_factory.mktemp('browser')) as running:
        yield running


@pytest.fixture(scope='module')
def daemon() -> Iterator[docker_daemon.Daemon]:
    """A Docker daemon."""
    with docker_daemon.running() as running:
        yield running


@pytest.fixture
def clean_daemon(daemon: docker_daemon.Daemon) -> Iterator[None]:
    """Check that a test leaves nothing in the daemon."""
    yield
    left = daemon.left()
    daemon.clear()
    assert left == []
