# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.loadbalance``: put nodes behind a load balancer.

Attaching the policy creates the load balancer, unless the policy names an
existing one. A new node joins the pool, and leaves it before it is removed.
The node's action does this, so that a node that waits for its deletion still
serves requests. The node's ``data['lb_member']`` holds its member ID, the
cluster's ``data['loadbalancers']`` the address.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from oslo_config import cfg
from sqlalchemy import orm

from engine import spec_schema
from engine.db import clusters, models
from engine.policies import base
from engine.providers import base as providers
from engine.providers import load_balancing
from vobjects.clustering import errors

_PATH = spec_schema.PROPERTIES

MEMBER_ID = 'lb_member'
LOAD_BALANCERS = 'loadbalancers'

SCHEMA = spec_schema.load(__package__, 'load_balancing')
_VIP = spec_schema.part(SCHEMA.properties, 'vip')


class LoadBalancingPolicy(base.PolicyType):
    """Version 1.0 of the load balancing policy."""

    name = 'senlin.policy.loadbalance'
    version = '1.0'
    priority = 500
    targets: Mapping[str, tuple[str, ...]] = {}
    tracks_nodes = True
    data_key = 'LoadBalancingPolicy'
    profile_types = ('os.nova.server',)
    support_status = SCHEMA.support_status
    properties = SCHEMA.properties

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Check that required properties are present."""
        pool = properties['pool']
        if pool is None:
            raise errors.InvalidSpec(f'{_PATH}.pool is required')
        if properties['loadbalancer'] and not pool['id']:
            raise errors.InvalidSpec(
                f'{_PATH}.pool.id is required with an existing loadbalancer'
            )
        persistence = pool['session_persistence'] or {}
        if (
            persistence.get('type') == 'APP_COOKIE'
            and not persistence['cookie_name']
        ):
            raise errors.InvalidSpec(
                f'{_PATH}.pool.session_persistence.cookie_name is required'
                ' with APP_COOKIE'
            )

    def plan(self, target: base.AttachmentTarget) -> dict[str, Any]:
        """Check that the cloud has everything that the policy names."""
        balancers, properties = _balancers(target.cloud), target.properties
        if properties['loadbalancer']:
            _get(balancers, properties)
            return {}
        for name in ('pool', 'health_monitor'):
            if (properties[name] or {}).get('id'):
                raise base.PolicyCheckError(
                    f'{name}.id needs the loadbalancer that it belongs to'
                )
        vip = _vip(properties)
        if not vip['subnet'] and not vip['network']:
            raise base.PolicyCheckError(
                'At least one of VIP Subnet or Network must be defined.'
            )
        balancers.check(_spec(target))
        return {}

    def attach(
        self, target: base.AttachmentTarget, plan: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Create the load balancer, or look up the existing one."""
        balancers, properties = _balancers(target.cloud), target.properties
        preexisting = bool(properties['loadbalancer'])
        if preexisting:
            balancer = _get(balancers, properties)
        else:
            balancer = balancers.create(
                target.key,
                _spec(target),
                timeout=properties['lb_status_timeout'],
            )
        return self.wrap_data(
            {
                'loadbalancer': balancer.id,
                'listener': balancer.listener_id,
                'pool': balancer.pool_id,
                'healthmonitor': balancer.monitor_id,
                'vip_address': balancer.vip_address,
                'preexisting': preexisting,
            }
        )

    def detach(
        self, target: base.AttachmentTarget, data: Mapping[str, Any]
    ) -> None:
        """Delete the load balancer, if the policy created it."""
        data = self.unwrap_data(data)
        if data and not data['preexisting']:
            _balancers(target.cloud).delete(
                _balancer(data),
                timeout=target.properties['lb_status_timeout'],
            )

    def after_bind(
        self,
        session: orm.Session,
        attached: base.AttachedPolicy,
        conf: cfg.ConfigOpts,
    ) -> None:
        """Store the load balancer's address in the cluster's data."""
        data = self.unwrap_data(attached.binding.data)
        _set_address(
            session,
            attached,
            {'vip_address': data['vip_address']},
        )

    def before_unbind(
        self, session: orm.Session, attached: base.AttachedPolicy
    ) -> None:
        """Remove the load balancer's address from the cluster's data."""
        _set_address(session, attached, None)

    def add_node(
        self,
        cloud: providers.Provider,
        attached: base.AttachedPolicy,
        node: models.Node,
    ) -> dict[str, Any]:
        """Add a node to the pool, if it has a server."""
        if not node.physical_id or node.data.get(MEMBER_ID):
            return {}
        pool = attached.properties['pool']
        try:
            member = _balancers(cloud).add_member(
                _balancer(self.unwrap_data(attached.binding.data)),
                node.physical_id,
                port=pool['protocol_port'],
                subnet=pool['subnet'],
                timeout=attached.properties['lb_status_timeout'],
            )
        except providers.ServerNotFound:
            # This is called again after the node's recovery.
            return {}
        return {MEMBER_ID: member}

    def remove_node(
        self,
        cloud: providers.Provider,
        attached: base.AttachedPolicy,
        node: models.Node,
    ) -> dict[str, Any]:
        """Remove a node from the pool."""
        member = node.data.get(MEMBER_ID)
        if not member:
            return {}
        _balancers(cloud).remove_member(
            _balancer(self.unwrap_data(attached.binding.data)),
            member,
            timeout=attached.properties['lb_status_timeout'],
        )
        return {MEMBER_ID: None}

    def remove_nodes(
        self,
        cloud: providers.Provider,
        attached: base.AttachedPolicy,
        members: Iterable[models.Node],
    ) -> dict[str, dict[str, Any]]:
        """Remove nodes from an existing pool; a created pool is deleted."""
        if self.unwrap_data(attached.binding.data)['preexisting']:
            return super().remove_nodes(cloud, attached, members)
        return {node.id: {MEMBER_ID: None} for node in members}


class LoadBalancingPolicy11(LoadBalancingPolicy):
    """Version 1.1, with existing pools and monitors."""

    version = '1.1'


class LoadBalancingPolicy12(LoadBalancingPolicy):
    """Version 1.2, with an availability zone."""

    version = '1.2'


class LoadBalancingPolicy13(LoadBalancingPolicy):
    """Version 1.3, with a flavor."""

    version = '1.3'


def _vip(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return properties['vip'] or spec_schema.with_defaults(_VIP, {})


def _balancers(cloud: providers.Provider) -> load_balancing.LoadBalancers:
    if cloud.load_balancers is None:
        raise base.PolicyCheckError('the cloud has no load balancers')
    return cloud.load_balancers


def _get(
    balancers: load_balancing.LoadBalancers, properties: Mapping[str, Any]
) -> load_balancing.Balancer:
    """Return the existing load balancer that a policy names."""
    monitor = properties['health_monitor'] or {}
    return balancers.get(
        properties['loadbalancer'],
        properties['pool']['id'],
        monitor.get('id'),
    )


def _spec(target: base.AttachmentTarget) -> load_balancing.Spec:
    properties = target.properties
    return load_balancing.Spec(
        name=f'senlin-lb-{target.cluster.name}',
        vip=_vip(properties),
        pool=properties['pool'],
        monitor=properties['health_monitor'],
        availability_zone=properties['availability_zone'],
        flavor_id=properties['flavor_id'],
    )


def _balancer(data: Mapping[str, Any]) -> load_balancing.Balancer:
    return load_balancing.Balancer(
        id=data['loadbalancer'],
        pool_id=data['pool'],
        listener_id=data['listener'],
        monitor_id=data['healthmonitor'],
        vip_address=data['vip_address'],
    )


def _set_address(
    session: orm.Session,
    attached: base.AttachedPolicy,
    address: Mapping[str, Any] | None,
) -> None:
    cluster = clusters.lock(session, attached.binding.cluster_id)
    if cluster is None:
        return
    addresses = dict(cluster.data.get(LOAD_BALANCERS) or {})
    addresses.pop(attached.policy.id, None)
    if address is not None:
        addresses[attached.policy.id] = dict(address)
    others = {k: v for k, v in cluster.data.items() if k != LOAD_BALANCERS}
    cluster.data = (
        {**others, LOAD_BALANCERS: addresses} if addresses else others
    )
    session.flush()
