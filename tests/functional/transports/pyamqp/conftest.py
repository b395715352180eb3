# SPDX-License-Identifier: Apache-2.0
"""A broker for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.functional import brokers


@pytest.fixture(scope='module')
def url() -> Iterator[str]:
    """The URL of a temporary virtual host."""
    with brokers.temporary('rabbit') as url:
        yield url
