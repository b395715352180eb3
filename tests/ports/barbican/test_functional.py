# SPDX-License-Identifier: Apache-2.0
"""Barbican's functional tests have the same outcomes before and after."""

from __future__ import annotations

import pathlib

import pytest

from tests.ports import before_after
from tests.ports.barbican import suite

pytestmark = pytest.mark.long


def test_functional_tests_have_the_outcomes_of_the_original(
    tmp_path: pathlib.Path,
) -> None:
    original, port = before_after.outcomes(suite.run, tmp_path)

    assert port == original
    assert 'failed' not in port.values()
    assert list(port.values()).count('passed') > 500
