# SPDX-License-Identifier: Apache-2.0
"""Settings of all tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator

import hypothesis
import pytest

# Must be first: it selects the threading backend of oslo.service before a
# test module imports an oslo library that selects eventlet.
import vobjects.objects  # noqa: F401
from tests import machine_speed

#: Maximum length of a failure message in the summary at the end of a run.
SUMMARY = 300

#: New objects after which the garbage collector runs while tests do.
GARBAGE = 50_000

#: Property of a test whose value is printed at the end of a run.
PRINTED = 'printed'

# Slow machines must not fail tests. Each run generates new examples, except
# where CI is set: there, runs are reproducible.
hypothesis.settings.register_profile(
    'vobjects',
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    derandomize=bool(os.environ.get('CI')),
)
hypothesis.settings.load_profile('vobjects')
# `make test-long` selects one, and the newest Python the other:
# --hypothesis-profile=long.
for name, examples in (('long', 1000), ('few', 20)):
    hypothesis.settings.register_profile(
        name,
        hypothesis.settings.get_profile('vobjects'),
        max_examples=examples,
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Multiply the time limit of a test by the factor of this machine.

    Also choose an upgrade plan with something of every kind of step.
    """
    config.option.upgrade_seed = config.option.upgrade_seed or [22]
    if config.option.timeout is None:
        limit = float(config.getini('timeout'))
        config.option.timeout = limit * machine_speed.scale()


def pytest_report_header() -> str:
    """Return the factor of this machine."""
    return f'time limits: multiplied by {machine_speed.scale():g}'


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without the garbage collector.

    Modules and tests are almost no garbage, and exist until the end. Without
    ``gc.freeze()``, each full collection would also examine them.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(GARBAGE)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[
    None, pytest.TestReport, pytest.TestReport
]:
    """Shorten failure messages in the summary at the end of a run."""
    report = yield
    crash = getattr(report.longrepr, 'reprcrash', None)
    if crash is not None:
        words = ' '.join(crash.message.split())
        crash.message = words[:SUMMARY]
    return report


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> None:
    """Print what tests recorded, also those in workers of pytest-xdist."""
    for report in terminalreporter.getreports('passed'):
        for name, value in report.user_properties:
            if name == PRINTED:
                terminalreporter.section(report.nodeid)
                terminalreporter.write_line(str(value))
