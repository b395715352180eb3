# SPDX-License-Identifier: Apache-2.0
"""Settings of unit tests."""

from __future__ import annotations

from collections.abc import Iterator
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
