# SPDX-License-Identifier: Apache-2.0
"""Nova's tests of its API samples have the same outcomes before and after."""

from __future__ import annotations

import pathlib

import pytest

from tests import machine_speed
from tests.ports import before_after
from tests.ports.nova import samples

pytestmark = pytest.mark.long

#: Seconds for both runs.
LIMIT = 14400


@pytest.mark.timeout(LIMIT * machine_speed.scale())
def test_samples_have_the_outcomes_of_the_original(
    tmp_path: pathlib.Path,
) -> None:
    original, port = before_after.outcomes(samples.run, tmp_path)

    assert port == original
    assert 'fail' not in port.values()
