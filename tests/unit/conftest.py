# SPDX-License-Identifier: Apache-2.0
"""Settings of unit tests."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from unittest import mock

import pytest
from futurist import _thread

from tests import entry_points

HERE = pathlib.Path(__file__).parent

#: Tests of values that Python itself reads and writes.
EVERY_CASE = (
    HERE / 'vobjects' / 'objects',
    HERE / 'vobjects' / 'test_field_conformance.py',
    # Its cases are commands that follow each other.
    HERE / 'api' / 'test_clients.py',
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option with which a second Python runs."""
    parser.addoption(
        '--cases',
        type=int,
        metavar='N',
        help='run N cases of each parametrized test, from the first to the'
        ' last; of tests of values, all',
    )


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Deselect most cases: they differ in data, and run the same code."""
    limit = config.getoption('cases', None)
    if limit is None:
        return
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        is_value = any(map(item.path.is_relative_to, EVERY_CASE))
        name = item.nodeid if is_value else item.nodeid.partition('[')[0]
        tests.setdefault(name, []).append(item)
    kept = {
        cases[number * (len(cases) - 1) // max(1, limit - 1)]
        for cases in tests.values()
        for number in range(limit)
    }
    config.hook.pytest_deselected(items=[i for i in items if i not in kept])
    items[:] = [item for item in items if item in kept]


@pytest.fixture(autouse=True, scope='session')
def _idle_threads_stop_at_once() -> Iterator[None]:
    """Let servers of oslo.messaging stop at once.

    An idle thread of their executor looks once a second whether to stop.
    """
    with mock.patch.object(_thread.ThreadWorker, 'MAX_IDLE_FOR', 0.01):
        yield


@pytest.fixture(autouse=True, scope='session')
def _entry_points_are_read_once() -> Iterator[None]:
    """Read them once; hundreds of tests run commands in this process."""
    with entry_points.read_once():
        yield
