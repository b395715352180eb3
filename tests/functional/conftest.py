# SPDX-License-Identifier: Apache-2.0
"""See :mod:`tests.functional.plugin`."""

from __future__ import annotations

from tests.functional.plugin import (
    profile,
    profiles,
    pytest_runtest_makereport,
    rest,
    service,
)

__all__ = [
    'profile',
    'profiles',
    'pytest_runtest_makereport',
    'rest',
    'service',
]
