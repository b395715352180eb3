# SPDX-License-Identifier: Apache-2.0
"""Options of the RPC layer."""

from __future__ import annotations

import pytest
from oslo_config import cfg

from vobjects.rpc import conf as rpc_conf


@pytest.mark.parametrize('value', ['nan', 'inf', '-inf', '-1', '1e10'])
@pytest.mark.parametrize('name', ['heartbeat_interval', 'call_timeout'])
def test_option_rejects_a_value_that_is_no_timeout(
    name: str, value: str
) -> None:
    conf = cfg.ConfigOpts()
    rpc_conf.register(conf)
    conf([], project='none', default_config_files=[])
    with pytest.raises(ValueError, match=r'hould|nvalid|could'):
        conf.set_override(name, value, 'fleet')
