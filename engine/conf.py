# SPDX-License-Identifier: Apache-2.0
"""The engine's options, by group; ``[database]`` is oslo.db's."""

from __future__ import annotations

from oslo_config import cfg
from oslo_db import options as oslo_db_options

from engine.delegations import conf as delegations
from engine.providers.openstack import conf as openstack_conf

#: Where state goes when nothing is configured: the current directory.
DEFAULT_CONNECTION = 'sqlite:///vobjects.sqlite'

ENGINE = cfg.OptGroup('engine', 'What an engine process does.')

ENGINE_OPTIONS = [
    cfg.IntOpt(
        'workers',
        default=4,
        min=1,
        max=1024,
        help='Actions that one engine process runs at the same time. An'
        ' action that waits, for its children or for a lock, needs no'
        ' worker.',
    ),
    cfg.IntOpt(
        'default_action_timeout',
        default=3600,
        min=1,
        help='Seconds after its first start at which an action is failed'
        ' that has not ended, unless its cluster says otherwise.',
    ),
    cfg.IntOpt(
        'max_nodes_per_cluster',
        default=1000,
        min=0,
        help='Most nodes a cluster may have.',
    ),
    cfg.IntOpt(
        'max_clusters_per_project',
        default=100,
        min=0,
        help='Most clusters a project may have.',
    ),
    cfg.FloatOpt(
        'poll_interval',
        default=2.0,
        min=0.01,
        help='Seconds between two looks for work that nobody announced. It'
        ' is the safety net; work is normally announced.',
    ),
    cfg.FloatOpt(
        'lock_retry_interval',
        default=5.0,
        min=0.01,
        help='Seconds after which an action that found its cluster or node'
        ' locked tries again, if the release of the lock did not wake it.',
    ),
    cfg.FloatOpt(
        'unreadable_retry_interval',
        default=30.0,
        min=0.01,
        help='Seconds for which this engine leaves an action to others after'
        ' it found that its inputs are of a newer version than it reads.',
    ),
    cfg.IntOpt(
        'max_attempts',
        default=5,
        min=1,
        help='How many engines may die while running an action before it is'
        ' failed and not given to another.',
    ),
    cfg.FloatOpt(
        'stop_timeout',
        default=10.0,
        min=0.0,
        help='Seconds that a stopping engine lets running actions finish.'
        ' What has not finished is taken over by another engine.',
    ),
    cfg.FloatOpt(
        'action_retention',
        default=0.0,
        min=0.0,
        help='Days after its end at which an action is deleted, with whatever'
        ' users could still ask about it; 0: never. "vobjects db purge" does'
        ' it by hand.',
    ),
    cfg.FloatOpt(
        'event_retention',
        default=0.0,
        min=0.0,
        help='Days after which an event is deleted; 0: never.',
    ),
    cfg.FloatOpt(
        'purge_interval',
        default=3600.0,
        min=1.0,
        help='Seconds between two looks for actions and events to delete.'
        ' One engine of all does it.',
    ),
    cfg.FloatOpt(
        'purge_pause',
        default=0.05,
        min=0.0,
        help='Seconds between two batches of deletions, each of which is a'
        ' short transaction.',
    ),
    cfg.PortOpt(
        'metrics_port',
        min=0,
        help='Port where this engine shows its metrics to Prometheus; 0: any'
        ' that is free, which is logged. Not set: none. Several engines on a'
        ' host need one each, see "vobjects engine --metrics-port".',
    ),
    cfg.HostAddressOpt(
        'metrics_host',
        default='127.0.0.1',
        help='Address where the metrics are. Everybody who reaches it may'
        ' read them.',
    ),
    cfg.FloatOpt(
        'metrics_cache',
        default=5.0,
        min=0.0,
        help='Seconds for which numbers that come from the database are not'
        ' asked for again.',
    ),
    cfg.StrOpt(
        'provider',
        default='simulated',
        help='The cloud that nodes are made in: an entry point of the'
        ' group "vobjects.providers".',
    ),
]

SIMULATED = cfg.OptGroup(
    'simulated', 'The simulated cloud, which is a few tables of the database.'
)

SIMULATED_OPTIONS = [
    cfg.FloatOpt(
        'latency',
        default=0.05,
        min=0.0,
        help='Seconds that an operation on a server takes.',
    ),
    cfg.FloatOpt(
        'failure_rate',
        default=0.0,
        min=0.0,
        max=1.0,
        help='Share of the operations that fail. Which ones is decided by'
        ' seed, server and operation, so that a run can be repeated.',
    ),
    cfg.StrOpt(
        'seed',
        default='0',
        help='What decides which operations fail, and where servers go.',
    ),
    cfg.ListOpt(
        'regions',
        default=['RegionOne', 'RegionTwo'],
        help='Its regions. The first is the one that servers are made in of'
        ' which nothing else is said.',
    ),
    cfg.ListOpt(
        'zones',
        default=['nova', 'nova-2', 'nova-3'],
        help='Its availability zones; the first is the default.',
    ),
    cfg.IntOpt(
        'hosts',
        default=100,
        min=1,
        max=100000,
        help='How many hosts servers run on: host-1, host-2 and so on. A'
        ' group with the policy anti-affinity has no more servers.',
    ),
    cfg.ListOpt(
        'failed_hosts',
        default=[],
        help='Hosts that are down: nothing is put there, and health policies'
        ' with HYPERVISOR_STATUS_POLLING find the servers there sick.',
    ),
    cfg.ListOpt(
        'networks',
        default=['public', 'private'],
        help='Its networks; each has one subnet, such as private-subnet.',
    ),
    cfg.ListOpt(
        'load_balancer_flavors',
        default=['amphora-small'],
        help='IDs of the flavors that load balancers can have.',
    ),
]

QUEUES = cfg.OptGroup(
    'queues', 'The queue service: for message receivers and lifecycle hooks.'
)

QUEUES_OPTIONS = [
    cfg.StrOpt(
        'driver',
        default='simulated',
        help='Where queues are: an entry point of the group'
        ' "vobjects.queues". "zaqar" is OpenStack\'s queue service;'
        ' "simulated" is a table of this service\'s own database.',
    ),
    cfg.StrOpt(
        'cloud',
        help='zaqar: name of the cloud in clouds.yaml whose account has the'
        ' queues. Without it the environment says which (OS_CLOUD).',
    ),
    cfg.IntOpt(
        'timeout',
        default=20,
        min=1,
        help='zaqar: seconds that a request to the queue service may take.',
    ),
    cfg.IntOpt(
        'message_ttl',
        default=300,
        min=60,
        max=1209600,
        help='Seconds for which a message of ours is kept in its queue.',
    ),
    cfg.IntOpt(
        'claim_ttl',
        default=60,
        min=60,
        max=43200,
        help='Seconds for which messages that a receiver looks at are kept'
        ' from others. An engine that dies meanwhile has them looked at'
        ' again after that time.',
    ),
]

HOOKS = cfg.OptGroup(
    'hooks', 'Telling of nodes that go (the hooks of deletion policies).'
)

HOOKS_OPTIONS = [
    cfg.IntOpt(
        'attempts',
        default=3,
        min=1,
        max=100,
        help='How often an engine tries to tell. After that the node waits'
        ' for its time to be over, or to be let go by a user.',
    ),
    cfg.FloatOpt(
        'retry_interval',
        default=1.0,
        min=0.01,
        help='Seconds between the first two attempts; each next pause is'
        ' twice as long.',
    ),
    cfg.FloatOpt(
        'webhook_timeout',
        default=10.0,
        min=0.1,
        help='Seconds within which a webhook has to answer. Only the status'
        ' of its answer is looked at: 2xx is success, and no redirect is'
        ' followed.',
    ),
    cfg.ListOpt(
        'forbidden_networks',
        default=['169.254.0.0/16', 'fe80::/10'],
        help='Networks that webhooks are not called in, whoever asks: here'
        ' belong those that engines can reach and users must not. By'
        ' default those where clouds keep the credentials of their servers.',
    ),
]

HEALTH = cfg.OptGroup(
    'health_manager',
    'Looking after the nodes of clusters with a health policy.',
)

HEALTH_OPTIONS = [
    cfg.IntOpt(
        'workers',
        default=4,
        min=0,
        max=1024,
        help='Clusters that one engine process looks at at the same time; 0:'
        ' it leaves them to others.',
    ),
    cfg.IntOpt(
        'probes',
        default=16,
        min=1,
        max=1024,
        help='Nodes of one cluster that are looked at at the same time.',
    ),
    cfg.IntOpt(
        'interval_min',
        default=60,
        min=1,
        help='The shortest interval that a health policy may ask for, in'
        ' seconds.',
    ),
    cfg.FloatOpt(
        'events_interval',
        default=5.0,
        min=0.1,
        help='Seconds between two looks at what the cloud has told of the'
        ' servers of a cluster, with LIFECYCLE_EVENTS.',
    ),
    cfg.FloatOpt(
        'poll_url_timeout',
        default=5.0,
        min=0.1,
        help='Seconds within which the URL of a node has to answer, with'
        ' NODE_STATUS_POLL_URL.',
    ),
    cfg.IntOpt(
        'poll_url_max_size',
        default=65536,
        min=1,
        help='Bytes of the answer that are read.',
    ),
    cfg.ListOpt(
        'forbidden_networks',
        default=['169.254.0.0/16', 'fe80::/10'],
        help='Networks in which no URL of a node is called, whoever asks:'
        ' here belong those that engines can reach and users must not. By'
        ' default those where clouds keep the credentials of their servers.',
    ),
]

DOCKER = cfg.OptGroup(
    'provider_docker',
    'Containers on nodes of other kinds, whose Docker daemons answer to'
    ' engines.',
)

DOCKER_OPTIONS = [
    cfg.FloatOpt(
        'timeout',
        default=60.0,
        min=0.1,
        help='Seconds that a request to a Docker daemon may take.',
    ),
    cfg.ListOpt(
        'forbidden_networks',
        default=['127.0.0.0/8', '::1/128', '169.254.0.0/16', 'fe80::/10'],
        help='Networks in which no daemon is spoken to: users choose the'
        ' address of a host, by an output of their stack. Here belong those'
        ' that engines can reach and users must not.',
    ),
    cfg.BoolOpt(
        'tls',
        default=False,
        help='Whether daemons are spoken to by TLS, all of them. The profiles'
        ' of containers then name the port for it, usually 2376.',
    ),
    cfg.StrOpt(
        'tls_ca_file',
        help='File with the certificates, PEM, of who may have signed those'
        ' of daemons; without, whom this machine trusts.',
    ),
    cfg.StrOpt(
        'tls_cert_file',
        help='File with the certificate, PEM, that engines show to daemons.',
    ),
    cfg.StrOpt(
        'tls_key_file',
        help='File with the key, PEM, of tls_cert_file.',
    ),
    cfg.BoolOpt(
        'tls_verify',
        default=True,
        help='Whether the certificate of a daemon is checked: who has signed'
        ' it, and that it is for the address of the host. If not, anybody on'
        ' the way can be the daemon.',
    ),
]

EVENTS = cfg.OptGroup('events', 'What is recorded of actions.')

EVENTS_OPTIONS = [
    cfg.ListOpt(
        'dispatchers',
        default=['database'],
        help='Where events go: entry points of the group'
        ' "vobjects.dispatchers". Without "database" the API has none.',
    ),
    cfg.StrOpt(
        'priority',
        default='info',
        choices=['critical', 'error', 'warn', 'info', 'debug'],
        help='The lowest level of an event that is recorded.',
    ),
    cfg.BoolOpt(
        'exclude_derived_actions',
        default=True,
        help='Whether only actions that users asked for have events, and not'
        ' those that other actions derive.',
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Make the engine's options known to ``conf``; harmless when repeated."""
    for group, options in list_opts():
        # By its name: a shared OptGroup would share overridden values
        # between all configurations of a process.
        conf.register_opts(list(options), group=group.name)
    delegations.register(conf)
    oslo_db_options.set_defaults(conf, connection=DEFAULT_CONNECTION)


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return (group, options) pairs, as oslo.config's generator expects.

    Those of ``[database]`` are listed by oslo.db itself.
    """
    return [
        (ENGINE, ENGINE_OPTIONS),
        (EVENTS, EVENTS_OPTIONS),
        (HEALTH, HEALTH_OPTIONS),
        (QUEUES, QUEUES_OPTIONS),
        (HOOKS, HOOKS_OPTIONS),
        (delegations.RECEIVERS, delegations.OPTIONS),
        (SIMULATED, SIMULATED_OPTIONS),
        (openstack_conf.GROUP, openstack_conf.OPTIONS),
        (DOCKER, DOCKER_OPTIONS),
    ]
