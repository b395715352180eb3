# SPDX-License-Identifier: Apache-2.0
"""Upgrades of the service under load, by random plans.

``pytest tests/upgrade/test_plan.py --upgrade-seed 2`` runs another plan, and
``--upgrade-steps 30`` a longer one.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import pytest

from tests.functional.deployments import TRANSPORTS, Platform
from tests.upgrade import service_fleet


@pytest.mark.parametrize('platform', TRANSPORTS)
def test_upgrade_under_load(
    platform: Platform,
    tmp_path: pathlib.Path,
    vobjects_upgrade: Callable[..., object],
) -> None:
    vobjects_upgrade(
        service_fleet.terms(service_fleet.OLD),
        service_fleet.opener(platform, tmp_path),
    )
