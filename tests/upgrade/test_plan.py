# SPDX-License-Identifier: Apache-2.0
"""The service is upgraded under load, by plans drawn from a seed.

Other plans: ``pytest tests/upgrade/test_plan.py --upgrade-seed 2``, and so
on; ``--upgrade-steps 30`` for long ones.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import pytest

from tests.functional.deployments import PLATFORMS, Platform
from tests.upgrade import service_fleet


@pytest.mark.parametrize('platform', PLATFORMS[:2])
def test_upgrade_under_load(
    platform: Platform,
    tmp_path: pathlib.Path,
    vobjects_upgrade: Callable[..., object],
) -> None:
    vobjects_upgrade(
        service_fleet.terms(service_fleet.OLD),
        service_fleet.opener(platform, tmp_path),
    )
