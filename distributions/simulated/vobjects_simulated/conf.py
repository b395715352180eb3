# SPDX-License-Identifier: Apache-2.0
"""The options of ``[simulated]``."""

from __future__ import annotations

from oslo_config import cfg

from vobjects import number_options

GROUP = cfg.OptGroup(
    'simulated', 'Simulated cloud, stored in tables of the database'
)

OPTIONS = [
    cfg.FloatOpt(
        'latency',
        default=0.05,
        min=0.0,
        help='Duration of an operation on a server, in seconds.',
    ),
    cfg.FloatOpt(
        'max_wait_time',
        default=60.0,
        min=0.0,
        help='Maximum number of seconds by which the key'
        ' "simulated_wait_time" in the metadata of a server profile prolongs'
        ' each operation on its servers. Such an operation occupies a worker'
        ' of an engine.',
    ),
    cfg.FloatOpt(
        'failure_rate',
        default=0.0,
        min=0.0,
        max=1.0,
        help='Share of the operations that fail, from 0 to 1. Seed, server'
        ' and operation determine which operations fail, so that you can'
        ' repeat a run.',
    ),
    cfg.StrOpt(
        'seed',
        default='0',
        help='Seed that determines which operations fail and where servers'
        ' are placed.',
    ),
    cfg.ListOpt(
        'regions',
        default=['RegionOne', 'RegionTwo'],
        help='Regions of the cloud. The first region is the default.',
    ),
    cfg.ListOpt(
        'zones',
        default=['nova', 'nova-2', 'nova-3', 'zone1', 'zone2', 'az01'],
        help='Availability zones of the cloud. The first zone is the default.'
        " The last three are those of Senlin's example specs.",
    ),
    cfg.IntOpt(
        'hosts',
        default=100,
        min=1,
        max=100000,
        help='Number of hosts on which servers run: host-1, host-2 and so on.'
        ' It limits the size of server groups with the policy anti-affinity.',
    ),
    cfg.ListOpt(
        'failed_hosts',
        default=[],
        help='Hosts that are down. No servers are placed on them, and health'
        ' policies with HYPERVISOR_STATUS_POLLING report the servers on them'
        ' as unhealthy.',
    ),
    cfg.ListOpt(
        'networks',
        default=['public', 'private'],
        help='Networks of the cloud. Each network has one subnet, such as'
        ' private-subnet.',
    ),
    cfg.ListOpt(
        'load_balancer_flavors',
        default=['amphora-small'],
        help='IDs of the available load balancer flavors.',
    ),
]

number_options.restrict(OPTIONS)


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return (group, options) pairs for oslo.config."""
    return [(GROUP, OPTIONS)]
