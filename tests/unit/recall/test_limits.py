# SPDX-License-Identifier: Apache-2.0
"""Measuring a bug in a process of its own."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from recall import bugs, limits, measurement

from .test_report import bug


def fail() -> measurement.Outcome:
    raise RecursionError('too deep\nfor one line')


def die() -> measurement.Outcome:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def hang() -> measurement.Outcome:
    threading.Event().wait()
    raise AssertionError


def test_run_measurement_that_ends_returns_its_outcome() -> None:
    expected = measurement.Outcome(bug(), problems=('1.0: no such tag',))

    assert limits.run(bug(), lambda: expected) == expected


@pytest.mark.parametrize(
    ('measure', 'seconds', 'problem'),
    [
        (fail, None, 'RecursionError: too deep'),
        (die, None, 'its process ended with exit code -9'),
        (hang, 0, 'not finished after 0 s, see --seconds'),
    ],
)
def test_run_measurement_that_fails_returns_the_problem(
    measure: object, seconds: float | None, problem: str
) -> None:
    listed: bugs.Bug = bug()

    outcome = limits.run(listed, measure, seconds)  # type: ignore[arg-type]

    assert outcome == measurement.Outcome(listed, problems=(problem,))
