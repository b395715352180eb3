# SPDX-License-Identifier: Apache-2.0
"""senlin-tempest-plugin has the same outcomes before and after."""

from __future__ import annotations

import pathlib

import pytest

from tests import databases, machine_speed
from tests.functional import brokers
from tests.ports import before_after
from tests.ports.senlin import suite

pytestmark = [pytest.mark.long, pytest.mark.mysql, pytest.mark.rabbit]

#: Seconds for both runs.
LIMIT = 7200


@pytest.mark.timeout(LIMIT * machine_speed.scale())
def test_tempest_has_the_outcomes_of_the_original(
    tmp_path: pathlib.Path,
) -> None:
    brokers.require()
    databases.require('mysql')
    original, port = before_after.outcomes(suite.run, tmp_path)

    assert port == original
    assert list(port.values()).count('success') > 200
