# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the tests of the examples."""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Iterator

import pytest

from tests.functional.fixtures import pytest_xdist_make_scheduler

__all__ = ['home', 'pytest_xdist_make_scheduler']


@pytest.fixture
def home() -> Iterator[pathlib.Path]:
    """Return a directory whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix='vobjects-') as directory:
        yield pathlib.Path(directory)
