# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.loadbalance``: nodes behind a load balancer.

The balancer is made when the policy is attached, unless the policy names one
that is there. Each node is put into its pool when the node has come, and
taken out of it before the node goes, by the action on the node: so a node
that waits to be deleted serves until then. A node remembers its member in
``data['lb_member']``, the cluster its address in ``data['loadbalancers']``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from oslo_config import cfg
from sqlalchemy import orm

from engine.db import clusters, models
from engine.policies import base
from engine.profiles import schema
from engine.profiles.schema import Property
from engine.providers import balancing
from engine.providers import base as providers
from vobjects.clustering import consts, errors

MEMBER = 'lb_member'
BALANCERS = 'loadbalancers'

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
    targets: Mapping[str, tuple[str, ...]] = {}
    follows_nodes = True
    label = 'LoadBalancingPolicy'
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

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Refuse what no load balancer can be like."""
        pool, vip = _pool(properties), _vip(properties)
        if properties['pool'] is None:
            raise errors.InvalidSpec('properties.pool is required')
        for path, value in (
            ('pool.protocol_port', pool['protocol_port']),
            ('vip.protocol_port', vip['protocol_port']),
        ):
            if not 1 <= value <= 65535:
                raise errors.InvalidSpec(
                    f'properties.{path}: {value} is not a port'
                )
        if properties['lb_status_timeout'] < 1:
            raise errors.InvalidSpec(
                'properties.lb_status_timeout must be > 0'
            )
        if properties['loadbalancer'] and not pool['id']:
            raise errors.InvalidSpec(
                'properties.pool.id is required with a loadbalancer that is'
                ' there'
            )
        sticky = pool['session_persistence'] or {}
        if sticky.get('type') == 'APP_COOKIE' and not sticky['cookie_name']:
            raise errors.InvalidSpec(
                'properties.pool.session_persistence.cookie_name is required'
                ' with APP_COOKIE'
            )

    def plan(self, target: base.Target) -> dict[str, Any]:
        """Refuse what the cloud does not have."""
        balancers, properties = _balancers(target.cloud), target.properties
        if properties['loadbalancer']:
            _get(balancers, properties)
            return {}
        for name in ('pool', 'health_monitor'):
            if (properties[name] or {}).get('id'):
                raise base.PolicyRefusal(
                    f'{name}.id needs the loadbalancer that it belongs to'
                )
        vip = _vip(properties)
        if not vip['subnet'] and not vip['network']:
            raise base.PolicyRefusal(
                'At least one of VIP Subnet or Network must be defined.'
            )
        balancers.check(_spec(target))
        return {}

    def attach(
        self, target: base.Target, planned: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Make the load balancer, or find it."""
        balancers, properties = _balancers(target.cloud), target.properties
        is_there = bool(properties['loadbalancer'])
        if is_there:
            found = _get(balancers, properties)
        else:
            found = balancers.create(
                target.key,
                _spec(target),
                timeout=properties['lb_status_timeout'],
            )
        return self.wrapped(
            {
                'loadbalancer': found.id,
                'listener': found.listener_id,
                'pool': found.pool_id,
                'healthmonitor': found.monitor_id,
                'vip_address': found.vip_address,
                'preexisting': is_there,
            }
        )

    def detach(self, target: base.Target, data: Mapping[str, Any]) -> None:
        """Remove the load balancer, if it was made for the policy."""
        own = self.unwrapped(data)
        if own and not own['preexisting']:
            _balancers(target.cloud).delete(
                _balancer(own),
                timeout=target.properties['lb_status_timeout'],
            )

    def bound(
        self,
        session: orm.Session,
        attached: base.Attached,
        conf: cfg.ConfigOpts,
    ) -> None:
        """Tell the cluster its address."""
        own = self.unwrapped(attached.binding.data)
        _announce(session, attached, {'vip_address': own['vip_address']})

    def unbound(self, session: orm.Session, attached: base.Attached) -> None:
        """Take the address from the cluster."""
        _announce(session, attached, None)

    def arrive(
        self,
        cloud: providers.Provider,
        attached: base.Attached,
        node: models.Node,
    ) -> dict[str, Any]:
        """Put a node into the pool, if it has a server."""
        if not node.physical_id or node.data.get(MEMBER):
            return {}
        pool = attached.properties['pool']
        try:
            member = _balancers(cloud).add_member(
                _balancer(self.unwrapped(attached.binding.data)),
                node.physical_id,
                port=pool['protocol_port'],
                subnet=pool['subnet'],
                timeout=attached.properties['lb_status_timeout'],
            )
        except providers.ServerNotFound:
            # It comes again when it has been recovered.
            return {}
        return {MEMBER: member}

    def depart(
        self,
        cloud: providers.Provider,
        attached: base.Attached,
        node: models.Node,
    ) -> dict[str, Any]:
        """Take a node out of the pool."""
        member = node.data.get(MEMBER)
        if not member:
            return {}
        _balancers(cloud).remove_member(
            _balancer(self.unwrapped(attached.binding.data)),
            member,
            timeout=attached.properties['lb_status_timeout'],
        )
        return {MEMBER: None}

    def depart_all(
        self,
        cloud: providers.Provider,
        attached: base.Attached,
        members: Iterable[models.Node],
    ) -> dict[str, dict[str, Any]]:
        """Take nodes out of a pool that stays; others go with their pool."""
        if self.unwrapped(attached.binding.data)['preexisting']:
            return super().depart_all(cloud, attached, members)
        return {node.id: {MEMBER: None} for node in members}


class LoadBalancingPolicy11(LoadBalancingPolicy):
    """Version 1.1: pools and monitors that are there."""

    version = '1.1'


class LoadBalancingPolicy12(LoadBalancingPolicy):
    """Version 1.2: an availability zone."""

    version = '1.2'


class LoadBalancingPolicy13(LoadBalancingPolicy):
    """Version 1.3: a flavor."""

    version = '1.3'


def _pool(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return properties['pool'] or schema.filled(_POOL, {})


def _vip(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return properties['vip'] or schema.filled(_VIP, {})


def _balancers(cloud: providers.Provider) -> balancing.LoadBalancers:
    if cloud.load_balancers is None:
        raise base.PolicyRefusal('the cloud has no load balancers')
    return cloud.load_balancers


def _get(
    balancers: balancing.LoadBalancers, properties: Mapping[str, Any]
) -> balancing.Balancer:
    """Return the load balancer that a policy names."""
    monitor = properties['health_monitor'] or {}
    return balancers.get(
        properties['loadbalancer'],
        properties['pool']['id'],
        monitor.get('id'),
    )


def _spec(target: base.Target) -> balancing.Spec:
    properties = target.properties
    return balancing.Spec(
        name=f'senlin-lb-{target.cluster.name}',
        vip=_vip(properties),
        pool=properties['pool'],
        monitor=properties['health_monitor'],
        availability_zone=properties['availability_zone'],
        flavor_id=properties['flavor_id'],
    )


def _balancer(data: Mapping[str, Any]) -> balancing.Balancer:
    return balancing.Balancer(
        id=data['loadbalancer'],
        pool_id=data['pool'],
        listener_id=data['listener'],
        monitor_id=data['healthmonitor'],
        vip_address=data['vip_address'],
    )


def _announce(
    session: orm.Session,
    attached: base.Attached,
    told: Mapping[str, Any] | None,
) -> None:
    cluster = clusters.lock(session, attached.binding.cluster_id)
    if cluster is None:
        return
    known = dict(cluster.data.get(BALANCERS) or {})
    known.pop(attached.policy.id, None)
    if told is not None:
        known[attached.policy.id] = dict(told)
    others = {k: v for k, v in cluster.data.items() if k != BALANCERS}
    cluster.data = {**others, BALANCERS: known} if known else others
    session.flush()
