# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.unit.vobjects.testing.upgrade import shop_fleet
from tests.unit.vobjects.testing.upgrade.shop_fleet import CONFIG
from vobjects.testing import upgrade


def failure(**options: object) -> upgrade.UpgradeFailed:
    """Return the error of the first plan that fails."""
    shop = shop_fleet.open_shop(shop_fleet.sells_twice_after_rollback)
    for seed in range(100):
        options = {'seed': seed, 'steps': 12, **options}
        try:
            upgrade.check(CONFIG, shop, **options)
        except upgrade.UpgradeFailed as error:
            return error
    raise AssertionError


def test_check_when_plan_fails_prints_how_to_reproduce_it() -> None:
    error = failure()

    failed, plan = error.report.failed, error.report.plan
    assert failed is not None
    assert str(error).endswith(
        f'reproduce with: --upgrade-seed {plan.seed} --upgrade-steps 12'
    )

    repeated = failure(seed=plan.seed).report.failed

    assert repeated is not None
    assert (repeated.number, repeated.text) == (failed.number, failed.text)


@pytest.mark.parametrize('seed', range(0, 50, 5))
def test_check_when_plan_passes_returns_the_report(seed: int) -> None:
    report = upgrade.check(CONFIG, shop_fleet.open_shop(), seed=seed)
    assert report.failed is None
