# SPDX-License-Identifier: Apache-2.0
"""The numbers in the configuration of the service."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import pytest
from oslo_config import cfg, types

from vobjects.clustering.run import config_check


def own_numbers() -> dict[str, cfg.Opt]:
    """Return the options of the service and its plug-ins that are numbers."""
    points = importlib.metadata.entry_points(group=config_check.GROUP)
    return {
        f'[{group}] {option.name}': option
        for point in points
        if point.name.startswith(config_check.PREFIX)
        for group, options in point.load()()
        for option in options
        if isinstance(option.type, types.Number) and option.default is not None
    }


@pytest.mark.parametrize(
    'value', ['', ' ', 'nan', '-inf', 'inf', '1e400', '1e300', '9' * 30]
)
def test_option_rejects_what_no_process_can_use(value: str) -> None:
    def is_accepted(option: Any) -> bool:
        try:
            option.type(value)
        except ValueError:
            return False
        return True

    options = own_numbers()
    assert len(options) > 50
    assert [
        name for name, option in options.items() if is_accepted(option)
    ] == []


def test_option_accepts_its_default_and_the_limits_of_its_type() -> None:
    for option in own_numbers().values():
        kind = option.type
        for value in (option.default, kind.min, kind.max):
            if value is not None and not kind.choices:
                assert kind(str(value)) == value
