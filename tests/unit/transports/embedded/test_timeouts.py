# SPDX-License-Identifier: Apache-2.0
"""Timeouts of calls, and of the options of the embedded driver."""

from __future__ import annotations

import math

import pytest
from oslo_config import cfg

from oslo_messaging_driverlib.deadline import LONGEST
from oslo_messaging_embedded import driver
from tests.unit.transports.embedded.conftest import Bus


@pytest.mark.parametrize('value', [LONGEST + 1, 10**400, math.inf], ids=repr)
def test_call_with_a_huge_timeout_returns(bus: Bus, value: float) -> None:
    bus.server('a')
    client = bus.client().prepare(timeout=value, call_monitor_timeout=value)
    assert client.call({}, 'identify') == 'a'


@pytest.mark.parametrize('value', ['nan', 'inf', '-inf', '-1', '1e10'])
@pytest.mark.parametrize('name', ['delivery_timeout', 'poll_interval'])
def test_option_rejects_a_value_that_is_no_timeout(
    name: str, value: str
) -> None:
    conf = cfg.ConfigOpts()
    conf.register_opts(driver.OPTS, driver.GROUP.name)
    conf([], project='none', default_config_files=[])
    with pytest.raises(ValueError, match=r'hould|nvalid|could'):
        conf.set_override(name, value, driver.GROUP.name)
