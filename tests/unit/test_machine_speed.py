# SPDX-License-Identifier: Apache-2.0
"""The factor of the time limits of tests."""

from __future__ import annotations

import os

import pytest

from tests import machine_speed


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An idle reference machine, on which nothing was measured yet."""
    monkeypatch.setattr(machine_speed, 'REFERENCE', 1.0)
    monkeypatch.setattr(machine_speed, '_seconds', lambda: 1.0)
    monkeypatch.setattr(os, 'getloadavg', lambda: (0.0, 0.0, 0.0))
    monkeypatch.setattr(os, 'sched_getaffinity', lambda pid: {0, 1})
    monkeypatch.setenv(machine_speed.VARIABLE, '1')
    monkeypatch.delenv(machine_speed.VARIABLE)
    return monkeypatch


def scale() -> float:
    return machine_speed.scale.__wrapped__()


@pytest.mark.parametrize(
    ('seconds', 'load', 'expected'),
    [
        (1.0, 0.0, 1.0),
        (0.1, 0.0, 1.0),
        (2.2, 2.0, 2.0),
        (1.0, 6.0, 3.0),
        (2.2, 4.0, 4.0),
        (1.0, 900.0, 8.0),
    ],
)
def test_scale_follows_speed_and_load(
    measured: pytest.MonkeyPatch,
    seconds: float,
    load: float,
    expected: float,
) -> None:
    measured.setattr(machine_speed, '_seconds', lambda: seconds)
    measured.setattr(os, 'getloadavg', lambda: (load, 0.0, 0.0))

    assert scale() == expected

    measured.setattr(machine_speed, '_seconds', lambda: 50.0)
    assert scale() == expected, 'a process started later measured again'


@pytest.mark.parametrize('given', ['0.5', 'nan', 'fast'])
def test_scale_when_the_variable_is_wrong_raises(
    measured: pytest.MonkeyPatch, given: str
) -> None:
    measured.setenv(machine_speed.VARIABLE, given)

    with pytest.raises(ValueError, match=given):
        scale()


def test_seconds_are_those_of_the_loop() -> None:
    assert 0 < machine_speed._seconds() < 60


def test_time_limit_of_a_test_is_multiplied(
    pytestconfig: pytest.Config,
) -> None:
    limit = float(pytestconfig.getini('timeout'))

    assert pytestconfig.getoption('timeout') == limit * machine_speed.scale()
