# SPDX-License-Identifier: Apache-2.0
"""Magnum upgrades from 22 to 23, and back, while it serves requests."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from tests.functional import brokers
from tests.ports.magnum import cloud as clouds
from tests.ports.magnum import deployment, upgrade

pytestmark = [pytest.mark.long, pytest.mark.mysql, pytest.mark.rabbit]

#: Number of requests during an upgrade.
REQUESTS = 5000


@pytest.fixture
def cloud() -> Iterator[clouds.Cloud]:
    brokers.require()
    with clouds.serving() as served:
        yield served


def test_upgrade_with_the_library_loses_and_doubles_nothing(
    tmp_path: pathlib.Path, cloud: clouds.Cloud
) -> None:
    with deployment.deployed(tmp_path, cloud, edited=True) as deployed:
        result = upgrade.run(deployed, cloud, REQUESTS)

    assert result.requests >= REQUESTS
    assert result.failed == {}
    assert result.lost == []
    assert result.doubled == []
    assert set(result.exit_codes) == {0}
    assert result.maxima.pop('finalized') == {'1.14'}
    # The hold keeps new releases from showing what old ones do not have.
    assert set.union(*result.maxima.values()) <= {'1.12', '1.13'}
