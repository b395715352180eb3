# SPDX-License-Identifier: Apache-2.0
"""Settings of unit tests."""

from __future__ import annotations

import functools
import importlib.metadata
import sys
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
from futurist import _thread


@pytest.fixture(autouse=True, scope='session')
def _idle_threads_stop_at_once() -> Iterator[None]:
    """Let servers of oslo.messaging stop at once.

    An idle thread of their executor looks once a second whether to stop.
    """
    with mock.patch.object(_thread.ThreadWorker, 'MAX_IDLE_FOR', 0.01):
        yield


@pytest.fixture(autouse=True, scope='session')
def _entry_points_are_read_once() -> Iterator[None]:
    """Read the metadata of all packages once for each path, not each command.

    Hundreds of tests run commands in this process, and each reads them twice.
    """
    read = importlib.metadata.entry_points

    @functools.cache
    def read_all(path: tuple[str, ...]) -> Any:
        return read()

    def entry_points(**parameters: str) -> Any:
        return read_all(tuple(sys.path)).select(**parameters)

    with mock.patch.object(importlib.metadata, 'entry_points', entry_points):
        yield
