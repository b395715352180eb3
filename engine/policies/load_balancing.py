# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.loadbalance``: nodes behind a load balancer."""

from __future__ import annotations

from engine.policies import base
from engine.profiles.schema import Property
from vobjects.clustering import consts

_PROTOCOLS = ('HTTP', 'HTTPS', 'TCP')

_POOL = {
    'protocol': Property(
        'String', 'Protocol of the pool.', default='HTTP', allowed=_PROTOCOLS
    ),
    'protocol_port': Property(
        'Integer', 'Port that the nodes serve on.', default=80
    ),
    'subnet': Property(
        'String', 'Name or ID of the subnet of the nodes.', required=True
    ),
    'lb_method': Property(
        'String',
        'How requests are shared out.',
        default='ROUND_ROBIN',
        allowed=('ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP'),
    ),
    'admin_state_up': Property(
        'Boolean', 'Whether the pool is in service.', default=True
    ),
    'session_persistence': Property(
        'Map',
        'How requests of one session find one node.',
        keys={
            'type': Property(
                'String',
                'What tells sessions apart.',
                allowed=('SOURCE_IP', 'HTTP_COOKIE', 'APP_COOKIE', 'NONE'),
            ),
            'cookie_name': Property(
                'String', 'Name of the cookie of APP_COOKIE.'
            ),
        },
    ),
    'id': Property('String', 'ID of a pool that is there.'),
}

_VIP = {
    'subnet': Property('String', 'Name or ID of the subnet of the address.'),
    'network': Property('String', 'Name or ID of the network, instead.'),
    'address': Property('String', 'The address itself.'),
    'connection_limit': Property(
        'Integer', 'Most connections in a second; -1: any.', default=-1
    ),
    'protocol': Property(
        'String',
        'Protocol of the address.',
        default='HTTP',
        allowed=_PROTOCOLS,
    ),
    'protocol_port': Property('Integer', 'Port to listen on.', default=80),
    'admin_state_up': Property(
        'Boolean', 'Whether the address is in service.', default=True
    ),
}

_MONITOR = {
    'type': Property(
        'String',
        'How nodes are probed.',
        default='PING',
        allowed=('PING', 'TCP', 'HTTP', 'HTTPS'),
    ),
    'delay': Property('Integer', 'Time between two probes.', default=10),
    'timeout': Property('Integer', 'Time a probe may take.', default=5),
    'max_retries': Property(
        'Integer', 'Failures after which a node is out.', default=3
    ),
    'admin_state_up': Property(
        'Boolean', 'Whether the monitor is in service.', default=True
    ),
    'http_method': Property(
        'String',
        'HTTP method of a probe.',
        allowed=('GET', 'POST', 'PUT', 'DELETE'),
    ),
    'url_path': Property('String', 'HTTP path of a probe.'),
    'expected_codes': Property('String', 'HTTP statuses of a node in order.'),
    'id': Property('String', 'ID of a monitor that is there.'),
}


class LoadBalancingPolicy(base.PolicyType):
    """Version 1.0; see the module's docstring."""

    name = 'senlin.policy.loadbalance'
    version = '1.0'
    support_status = {
        '1.0': [{'status': consts.SUPPORTED, 'since': '2016.04'}],
        '1.1': [{'status': consts.SUPPORTED, 'since': '2018.01'}],
        '1.2': [{'status': consts.SUPPORTED, 'since': '2020.02'}],
        '1.3': [{'status': consts.SUPPORTED, 'since': '2020.03'}],
    }
    priority = 500
    targets = {
        base.BEFORE: (
            'CLUSTER_DEL_NODES',
            'CLUSTER_SCALE_IN',
            'CLUSTER_RESIZE',
            'CLUSTER_REPLACE_NODES',
            'NODE_DELETE',
        ),
        base.AFTER: (
            'CLUSTER_ADD_NODES',
            'CLUSTER_SCALE_OUT',
            'CLUSTER_RESIZE',
            'CLUSTER_REPLACE_NODES',
            'NODE_RECOVER',
            'NODE_CREATE',
        ),
    }
    profile_types = ('os.nova.server',)
    properties = {
        'pool': Property('Map', 'The pool of nodes.', keys=_POOL),
        'vip': Property('Map', 'The address of the pool.', keys=_VIP),
        'health_monitor': Property(
            'Map', 'How nodes are found out of order.', keys=_MONITOR
        ),
        'lb_status_timeout': Property(
            'Integer',
            'Seconds that the load balancer may take for a change.',
            default=300,
        ),
        'loadbalancer': Property(
            'String', 'Name or ID of a load balancer that is there.'
        ),
        'availability_zone': Property(
            'String', 'Availability zone of the load balancer.'
        ),
        'flavor_id': Property('String', 'ID of its flavor.'),
    }


class LoadBalancingPolicy11(LoadBalancingPolicy):
    """Version 1.1: pools and monitors that are there."""

    version = '1.1'


class LoadBalancingPolicy12(LoadBalancingPolicy):
    """Version 1.2: an availability zone."""

    version = '1.2'


class LoadBalancingPolicy13(LoadBalancingPolicy):
    """Version 1.3: a flavor."""

    version = '1.3'
