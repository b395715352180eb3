# SPDX-License-Identifier: Apache-2.0
"""The profile type ``os.nova.server-1.0``: nodes that are servers.

The properties are those of Senlin's type of the same name.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from engine import spec_schema
from engine.profiles import base
from engine.providers import base as providers
from vobjects import phrases
from vobjects.clustering import consts, errors

LOG = logging.getLogger(__name__)


SCHEMA = spec_schema.load(__package__, 'nova_server')

#: Supported types of a port's virtual interface.
VNIC_TYPES = ('normal', 'direct', 'macvtap')

#: Statuses of a server that has failed.
FAILED = ('ERROR', 'SHUTOFF', 'DELETED')


class NovaServer(base.ProfileType):
    """The profile type of servers."""

    name = 'os.nova.server'
    version = '1.0'
    noun = 'server'
    support_status = SCHEMA.support_status
    properties = SCHEMA.properties
    operations = SCHEMA.operations
    recoveries = consts.RECOVERY_OPERATIONS

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Check that each network is complete and consistent."""
        for position, network in enumerate(properties.get('networks') or ()):
            _check_network(
                network, f'{spec_schema.PROPERTIES}.networks[{position}]'
            )

    def create(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        properties: Mapping[str, Any],
    ) -> str:
        """Create the node's server and return its ID."""
        name = properties.get('name') or node.name
        server_properties = _with_placement(
            _with_membership(node, properties), node.placement
        )
        return provider.servers.create(node.id, name, server_properties).id

    def apply_update(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> None:
        """Update the server from one set of properties to another."""
        provider.servers.update(
            node.id,
            node.require_physical_id(),
            new.get('name') or node.name,
            _with_membership(node, old),
            _with_membership(node, new),
        )

    def update_membership(
        self, provider: providers.Provider, node: base.NodeView
    ) -> None:
        """Store in the server's metadata which cluster the node belongs to."""
        metadata = {**dict.fromkeys(base.MEMBERSHIP), **node.membership()}
        provider.servers.set_metadata(node.require_physical_id(), metadata)

    def delete(
        self, provider: providers.Provider, node: base.NodeView
    ) -> None:
        """Delete the server, even if its ID was not recorded."""
        self._delete(provider, node)

    def _delete(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        *,
        force: bool = False,
        timeout: float | None = None,
    ) -> None:
        for id_ in node.object_ids(provider.servers.find):
            provider.servers.delete(id_, force=force, timeout=timeout)
        provider.servers.delete_related(node.id)

    def check(self, provider: providers.Provider, node: base.NodeView) -> str:
        """Return why the server is not ACTIVE; empty if it is."""
        return _problem(provider, node, lambda status: status != 'ACTIVE')

    def failure(
        self, provider: providers.Provider, node: base.NodeView
    ) -> str:
        """Return why the server has failed; empty if it may still recover."""
        return _problem(provider, node, FAILED.__contains__)

    def recover(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        properties: Mapping[str, Any],
        operation: str,
        parameters: Mapping[str, Any],
    ) -> str:
        """Recover the server and return its (new) ID."""
        if operation in ('REBOOT', 'REBUILD'):
            options = {'type': parameters.get('type', 'HARD')}
            return provider.servers.operate(
                node.require_physical_id(),
                operation.lower(),
                options if operation == 'REBOOT' else {},
            ).id
        timeout = parameters.get('delete_timeout')
        if timeout is not None:
            timeout = min(float(timeout), spec_schema.MAX_OPERATION_TIME)
        fence = bool(parameters.get('fence_compute'))
        try:
            self._delete(provider, node, force=fence, timeout=timeout)
        except providers.ProviderError as error:
            if not parameters.get('force_recreate'):
                raise
            LOG.warning('Node %s gets another server: %s', node.id, error)
            provider.servers.detach(node.id)
        return self.create(provider, node, properties)

    def operate(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        operation: str,
        parameters: Mapping[str, Any],
    ) -> None:
        """Run an operation on the server."""
        provider.servers.operate(
            node.require_physical_id(), operation, parameters
        )

    def adopt(
        self, provider: providers.Provider, physical_id: str, *, snapshot: bool
    ) -> dict[str, Any]:
        """Return the properties that describe an existing server."""
        properties = spec_schema.select_properties(
            SCHEMA.properties, provider.servers.profile_properties(physical_id)
        )
        _remove_membership(properties)
        if snapshot:
            properties['image'] = provider.servers.snapshot(
                physical_id, f'snapshot-{physical_id}'
            )
        return properties

    def node_data(
        self, provider: providers.Provider, physical_id: str
    ) -> Mapping[str, Any]:
        """Return the zone and the ports of the server, if known."""
        node_data = getattr(provider.servers, 'node_data', None)
        return {} if node_data is None else dict(node_data(physical_id))

    def details(
        self, provider: providers.Provider, node: base.NodeView
    ) -> dict[str, Any]:
        """Return the cloud's description of the server."""
        return dict(provider.servers.get(node.require_physical_id()).details)


def _problem(
    provider: providers.Provider,
    node: base.NodeView,
    is_bad_status: Callable[[str], bool],
) -> str:
    """Return why a node's server is unhealthy; empty if it is healthy.

    :param is_bad_status: tells whether a status means unhealthy
    """
    if not node.physical_id:
        return 'it has no server'
    try:
        server = provider.servers.get(node.physical_id)
    except providers.ServerNotFound:
        return f'its server {node.physical_id} is gone'
    if is_bad_status(server.status):
        return f'its server {server.id} is {server.status}'
    return ''


def _with_membership(
    node: base.NodeView, properties: Mapping[str, Any]
) -> dict[str, Any]:
    """Return properties with the node's membership in the metadata."""
    metadata = {**(properties.get('metadata') or {}), **node.membership()}
    return {**properties, 'metadata': metadata}


def _remove_membership(properties: dict[str, Any]) -> None:
    metadata = {
        key: value
        for key, value in (properties.pop('metadata', None) or {}).items()
        if key not in base.MEMBERSHIP
    }
    if metadata:
        properties['metadata'] = metadata


def _check_network(network: Mapping[str, Any], path: str) -> None:
    port, vnic_type = network.get('port'), network.get('vnic_type')
    if not port and not network.get('network'):
        raise errors.InvalidSpec(f"{path}: needs 'port' or 'network'")
    if port and network.get('fixed_ip'):
        raise errors.InvalidSpec(
            f"{path}: 'port' and 'fixed_ip' exclude one another"
        )
    if vnic_type is not None and vnic_type not in VNIC_TYPES:
        raise errors.InvalidSpec(
            f'{path}.vnic_type: {phrases.not_one_of(vnic_type, VNIC_TYPES)}'
        )


def _with_placement(
    properties: Mapping[str, Any], placement: Mapping[str, str]
) -> Mapping[str, Any]:
    """Return properties with the zone and the group chosen by policies."""
    changed = dict(properties)
    if 'zone' in placement:
        changed['availability_zone'] = placement['zone']
    if 'servergroup' in placement:
        hints = properties.get('scheduler_hints') or {}
        changed['scheduler_hints'] = {
            **hints,
            'group': placement['servergroup'],
        }
    return changed
