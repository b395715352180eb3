# SPDX-License-Identifier: Apache-2.0
"""Configuration options of the engine; oslo.db defines ``[database]``.

A plug-in lists its options in a namespace of ``oslo.config.opts`` that begins
with :data:`PLUGINS`. All processes of the engine register them.
"""

from __future__ import annotations

import functools
import importlib.metadata

from oslo_config import cfg
from oslo_db import options as oslo_db_options

from engine.providers.openstack import conf as openstack_conf
from engine.trusts import conf as trusts_conf
from vobjects import number_options

#: Prefix of the namespaces of plug-ins.
PLUGINS = 'vobjects.plugins.'

#: Loopback and link-local addresses; clouds serve the credentials of servers
#: at link-local ones.
FORBIDDEN_NETWORKS = [
    '127.0.0.0/8',
    '::1/128',
    '169.254.0.0/16',
    'fe80::/10',
]

ENGINE = cfg.OptGroup('engine', 'Engine processes')

ENGINE_OPTIONS = [
    cfg.IntOpt(
        'workers',
        default=4,
        min=1,
        max=1024,
        help='Maximum number of actions that an engine process runs at the'
        ' same time. An action that waits for its children or for a lock does'
        ' not occupy a worker.',
    ),
    cfg.IntOpt(
        'default_action_timeout',
        default=3600,
        min=1,
        help='Seconds after its first start at which an unfinished action'
        ' fails, unless its cluster sets another timeout.',
    ),
    cfg.IntOpt(
        'max_nodes_per_cluster',
        default=1000,
        min=0,
        help='Maximum number of nodes in a cluster.',
    ),
    cfg.IntOpt(
        'max_clusters_per_project',
        default=100,
        min=0,
        help='Maximum number of clusters in a project.',
    ),
    cfg.IntOpt(
        'max_profiles_per_project',
        default=1000,
        min=0,
        help='Maximum number of profiles in a project.',
    ),
    cfg.IntOpt(
        'max_policies_per_project',
        default=1000,
        min=0,
        help='Maximum number of policies in a project.',
    ),
    cfg.IntOpt(
        'max_policies_per_cluster',
        default=50,
        min=0,
        help='Maximum number of policies that are attached to a cluster. Each'
        ' action on the cluster reads all of them.',
    ),
    cfg.IntOpt(
        'max_receivers_per_project',
        default=1000,
        min=0,
        help='Maximum number of receivers in a project.',
    ),
    cfg.IntOpt(
        'max_nodes_per_project',
        default=10000,
        min=0,
        help='Maximum number of nodes in a project, including those in'
        ' clusters. The API rejects a further node and a larger cluster. An'
        ' action that would add more nodes to a cluster fails.',
    ),
    cfg.FloatOpt(
        'poll_interval',
        default=2.0,
        min=0.01,
        help='Seconds between polls of the database for new actions. Engines'
        ' normally receive notifications of new actions; polling finds'
        ' actions whose notification was lost.',
    ),
    cfg.FloatOpt(
        'lock_retry_interval',
        default=5.0,
        min=0.01,
        help='Seconds after which an action whose cluster or node is locked'
        ' tries again, unless the release of the lock wakes it earlier.',
    ),
    cfg.FloatOpt(
        'unreadable_retry_interval',
        default=30.0,
        min=0.01,
        help='Seconds for which this engine skips an action after it found'
        ' that the inputs of the action are too new for this engine to read.',
    ),
    cfg.IntOpt(
        'max_attempts',
        default=5,
        min=1,
        help='An action fails, and is not given to another engine, after this'
        ' many engines have died while running it.',
    ),
    cfg.FloatOpt(
        'stop_timeout',
        default=10.0,
        min=0.0,
        help='Seconds that a stopping engine waits for running actions to'
        ' finish. Other engines take over unfinished actions.',
    ),
    cfg.FloatOpt(
        'action_retention',
        default=0.0,
        min=0.0,
        max=36500.0,
        help='Days for which a finished action is kept; 0 keeps actions'
        ' forever. Users cannot query deleted actions. "vobjects db purge"'
        ' deletes actions on demand.',
    ),
    cfg.FloatOpt(
        'event_retention',
        default=0.0,
        min=0.0,
        max=36500.0,
        help='Days for which an event is kept; 0 keeps events forever.',
    ),
    cfg.FloatOpt(
        'purge_interval',
        default=3600.0,
        min=1.0,
        help='Seconds between deletions of old actions and events. One engine'
        ' deletes them for all engines.',
    ),
    cfg.FloatOpt(
        'purge_pause',
        default=0.05,
        min=0.0,
        help='Seconds between two batches of deletions. Each batch is a short'
        ' transaction.',
    ),
    cfg.PortOpt(
        'metrics_port',
        min=0,
        help='Port on which this engine serves metrics to Prometheus. 0'
        ' selects a free port and logs it. If unset, the engine serves no'
        ' metrics. Engines on the same host need different ports; see'
        ' "vobjects engine --metrics-port".',
    ),
    cfg.HostAddressOpt(
        'metrics_host',
        default='127.0.0.1',
        help='Address on which the engine serves metrics. Metrics need no'
        ' authentication: any client that reaches the address can read them.',
    ),
    cfg.FloatOpt(
        'metrics_cache',
        default=5.0,
        min=0.0,
        help='Seconds for which metrics that come from the database are'
        ' cached.',
    ),
    cfg.StrOpt(
        'provider',
        default='simulated',
        help='Cloud in which nodes are created: an entry point of the group'
        ' "vobjects.providers".',
    ),
]

QUEUES = cfg.OptGroup(
    'queues', 'Queue service for message receivers and lifecycle hooks'
)

QUEUES_OPTIONS = [
    cfg.StrOpt(
        'driver',
        default='simulated',
        help='Queue service: an entry point of the group "vobjects.queues".'
        ' "zaqar" is OpenStack\'s queue service; "simulated" is a table of'
        " this service's own database.",
    ),
    cfg.StrOpt(
        'cloud',
        help='zaqar: name of a cloud in clouds.yaml whose account owns the'
        ' queues. If unset, the environment variable OS_CLOUD selects the'
        ' cloud.',
    ),
    cfg.IntOpt(
        'timeout',
        default=20,
        min=1,
        help='zaqar: timeout of a request to the queue service, in seconds.',
    ),
    cfg.IntOpt(
        'message_ttl',
        default=300,
        min=60,
        max=1209600,
        help='Seconds for which a message that this service posts stays in'
        ' its queue.',
    ),
    cfg.IntOpt(
        'claim_ttl',
        default=60,
        min=60,
        max=43200,
        help='Seconds for which messages that a receiver is processing are'
        ' hidden from other consumers. If the engine dies, the messages'
        ' become available again after this time.',
    ),
]

HOOKS = cfg.OptGroup('hooks', 'Lifecycle hooks of deletion policies')

HOOKS_OPTIONS = [
    cfg.IntOpt(
        'attempts',
        default=3,
        min=1,
        max=100,
        help='Maximum number of attempts to call a hook. After that, the node'
        ' waits until its timeout expires or a user completes the lifecycle.',
    ),
    cfg.FloatOpt(
        'retry_interval',
        default=1.0,
        min=0.01,
        help='Seconds between the first two attempts. The delay doubles with'
        ' each further attempt.',
    ),
    cfg.FloatOpt(
        'webhook_timeout',
        default=10.0,
        min=0.1,
        help='Seconds within which a webhook must respond. A status of 2xx is'
        ' success; the response body is ignored, and redirects are not'
        ' followed.',
    ),
    cfg.ListOpt(
        'forbidden_networks',
        default=FORBIDDEN_NETWORKS,
        help='Networks in which engines do not call webhooks. List networks'
        ' that engines can reach but tenants must not. The default is'
        ' loopback and link-local addresses; clouds serve the credentials of'
        ' servers at link-local addresses. An IPv6 address that embeds an'
        ' IPv4 address is checked as both.',
    ),
]

HEALTH = cfg.OptGroup(
    'health_manager',
    'Health checks of clusters with a health policy',
)

HEALTH_OPTIONS = [
    cfg.IntOpt(
        'workers',
        default=4,
        min=0,
        max=1024,
        help='Maximum number of clusters that an engine process checks at the'
        ' same time. With 0, it leaves health checks to other engines.'
        ' Clusters of one project occupy all but one of them, so that slow'
        ' checks do not delay those of other projects.',
    ),
    cfg.IntOpt(
        'probes',
        default=16,
        min=1,
        max=1024,
        help='Maximum number of nodes of a cluster that are checked at the'
        ' same time.',
    ),
    cfg.IntOpt(
        'interval_min',
        default=60,
        min=1,
        help='Shortest interval, in seconds, that a health policy may set.',
    ),
    cfg.FloatOpt(
        'events_interval',
        default=5.0,
        min=0.1,
        help='Seconds between checks for lifecycle events that the cloud has'
        ' reported for the servers of a cluster, with LIFECYCLE_EVENTS.',
    ),
    cfg.FloatOpt(
        'poll_url_timeout',
        default=5.0,
        min=0.1,
        help='Seconds within which the URL of a node must respond, with'
        ' NODE_STATUS_POLL_URL.',
    ),
    cfg.IntOpt(
        'poll_url_max_size',
        default=65536,
        min=1,
        help='Maximum number of bytes of the response that are read.',
    ),
    cfg.ListOpt(
        'forbidden_networks',
        default=FORBIDDEN_NETWORKS,
        help='Networks in which engines do not call the URL of a node; see'
        ' [hooks] forbidden_networks.',
    ),
]

EVENTS = cfg.OptGroup('events', 'Events of actions')

EVENTS_OPTIONS = [
    cfg.ListOpt(
        'dispatchers',
        default=['database'],
        help='Destinations of events: entry points of the group'
        ' "vobjects.dispatchers". Without "database", the API returns no'
        ' events.',
    ),
    cfg.StrOpt(
        'priority',
        default='info',
        choices=['critical', 'error', 'warn', 'info', 'debug'],
        help='Lowest level at which events are recorded.',
    ),
    cfg.BoolOpt(
        'exclude_derived_actions',
        default=True,
        help='Record only events of actions that users requested, not of'
        ' actions derived from other actions.',
    ),
]

number_options.restrict(
    ENGINE_OPTIONS,
    QUEUES_OPTIONS,
    HOOKS_OPTIONS,
    HEALTH_OPTIONS,
    EVENTS_OPTIONS,
)


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options of the engine and of installed plug-ins.

    Repeated calls are harmless.
    """
    for group, options in (*list_opts(), *_plugin_opts()):
        # By name: a shared OptGroup would share overridden values between all
        # configurations of a process.
        conf.register_opts(list(options), group=group.name)
    trusts_conf.register(conf)
    oslo_db_options.set_defaults(conf)


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return (group, options) pairs for oslo.config's generator.

    oslo.db lists the options of ``[database]`` itself.
    """
    return [
        (ENGINE, ENGINE_OPTIONS),
        (EVENTS, EVENTS_OPTIONS),
        (HEALTH, HEALTH_OPTIONS),
        (QUEUES, QUEUES_OPTIONS),
        (HOOKS, HOOKS_OPTIONS),
        (trusts_conf.RECEIVERS, trusts_conf.OPTIONS),
        (openstack_conf.GROUP, openstack_conf.OPTIONS),
    ]


@functools.cache
def _plugin_opts() -> tuple[tuple[cfg.OptGroup, list[cfg.Opt]], ...]:
    return tuple(
        pair
        for point in importlib.metadata.entry_points(group='oslo.config.opts')
        if point.name.startswith(PLUGINS)
        for pair in point.load()()
    )
