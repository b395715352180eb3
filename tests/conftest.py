# SPDX-License-Identifier: Apache-2.0
"""What every test relies on."""

from __future__ import annotations

import os
from collections.abc import Generator

import hypothesis
import pytest

# First of all: it has oslo.service choose threads before a test module
# imports something of oslo that would choose eventlet.
import vobjects.objects  # noqa: F401

#: Characters of a failure's message in the summary that ends a run.
SUMMARY = 300

# A slow machine is no fault of what is tested. Examples are drawn anew in
# each run but where CI is set: there a run says the same as the one before.
hypothesis.settings.register_profile(
    'vobjects',
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    derandomize=bool(os.environ.get('CI')),
)
hypothesis.settings.load_profile('vobjects')


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[
    None, pytest.TestReport, pytest.TestReport
]:
    """Keep the last lines of a run short: they name all that failed."""
    report = yield
    crash = getattr(report.longrepr, 'reprcrash', None)
    if crash is not None:
        words = ' '.join(crash.message.split())
        crash.message = words[:SUMMARY]
    return report
