# SPDX-License-Identifier: Apache-2.0
"""Call services of OpenStack with their own RPC clients.

::

    python -m rpc_client nova CONFIG_FILE TOPIC
    python -m rpc_client neutron CONFIG_FILE HOST

The first form pings a server of Nova, the second one reports the state of an
agent on a host to Neutron. Both print the response as JSON. The script runs in
the virtual environment of the cloud.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

#: Seconds to wait for a response.
TIMEOUT = 120


def ping_nova(file: str, topic: str) -> Any:
    """Return the response of a server of Nova."""
    from nova import baserpc, config, context

    config.parse_args(['test', '--config-file', file])
    client = baserpc.BaseAPI(topic)
    return client.ping(context.get_admin_context(), 'hello', timeout=TIMEOUT)


def report_to_neutron(file: str, host: str) -> Any:
    """Return Neutron's response to the report of an agent."""
    from neutron.agent import rpc
    from neutron.common import config
    from neutron.conf.agent import common
    from neutron_lib import context
    from oslo_config import cfg

    config.register_common_config_options()
    common.register_agent_state_opts_helper(cfg.CONF)
    config.init(['--config-file', file])
    cfg.CONF.set_override('report_interval', TIMEOUT, group='AGENT')
    state = {
        'binary': 'test-agent',
        'host': host,
        'topic': 'N/A',
        'agent_type': 'Test agent',
        'configurations': {},
        'start_flag': True,
    }
    return rpc.PluginReportStateAPI('q-reports-plugin').report_state(
        context.get_admin_context_without_session(), state, use_call=True
    )


CALLS = {'nova': ping_nova, 'neutron': report_to_neutron}

if __name__ == '__main__':
    service, *arguments = sys.argv[1:]
    json.dump(CALLS[service](*arguments), sys.stdout)
    sys.stdout.flush()
    # Threads of the services would keep the process.
    os._exit(0)
