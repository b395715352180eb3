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
from engine.spec_schema import Property
from vobjects import phrases
from vobjects.clustering import consts, errors

LOG = logging.getLogger(__name__)

_BLOCK_DEVICE: spec_schema.Schema = {
    'uuid': Property('String', 'ID of the image, snapshot or volume.'),
    'source_type': Property(
        'String',
        'Source of the device.',
        required=True,
        allowed=('image', 'snapshot', 'volume', 'blank'),
    ),
    'destination_type': Property(
        'String',
        'Destination of the device.',
        required=True,
        allowed=('volume', 'local'),
    ),
    'disk_bus': Property('String', 'Bus of the device.'),
    'device_name': Property('String', 'Name of the device, such as vda.'),
    'volume_size': Property(
        'Integer',
        'Size in GB; for a swap device in MB.',
        required=True,
    ),
    'guest_format': Property('String', 'File system, such as swap.'),
    'boot_index': Property('Integer', 'Position in the boot order.'),
    'device_type': Property('String', 'Type of device, such as disk.'),
    'delete_on_termination': Property(
        'Boolean', 'Whether the volume is deleted with the server.'
    ),
    'volume_type': Property('String', 'Name or ID of a volume type.'),
}

_NETWORK: spec_schema.Schema = {
    'network': Property('String', 'Name or ID of a network to join.'),
    'port': Property('String', 'ID of a port to use.'),
    'vnic_type': Property('String', 'Type of the virtual interface.'),
    'fixed_ip': Property('String', 'Fixed IP address in the network.'),
    'security_groups': Property(
        'List',
        'Security groups of the port.',
        items=Property('String', 'Name of a security group.', required=True),
    ),
    'floating_network': Property(
        'String', 'Network of the floating IP address.'
    ),
    'floating_ip': Property('String', 'Floating IP address of the port.'),
    'subnet': Property('String', 'Subnet of the address.'),
}

PROPERTIES: spec_schema.Schema = {
    'context': Property('Map', 'Security context for the operations.'),
    'admin_pass': Property('String', "The administrator's password."),
    'auto_disk_config': Property(
        'Boolean',
        'Whether the disk is partitioned automatically.',
        default=True,
    ),
    'availability_zone': Property(
        'String', 'Availability zone of the server.'
    ),
    'block_device_mapping_v2': Property(
        'List',
        'Block devices of the server.',
        items=Property('Map', 'A block device.', keys=_BLOCK_DEVICE),
    ),
    'config_drive': Property(
        'Boolean', 'Whether the server has a config drive.'
    ),
    'flavor': Property(
        'String',
        'Name or ID of the flavor.',
        required=True,
        updatable=True,
    ),
    'image': Property(
        'String',
        'Name or ID of the image, unless a block device contains it.',
        updatable=True,
    ),
    'key_name': Property('String', 'Name of a key pair for the server.'),
    'metadata': Property(
        'Map', 'Metadata of the server, as keys and values.', updatable=True
    ),
    'name': Property(
        'String',
        "Name of the server. Defaults to the node's name.",
        updatable=True,
        max_length=spec_schema.MAX_NAME_LENGTH,
    ),
    'networks': Property(
        'List',
        'Networks of the server.',
        updatable=True,
        items=Property('Map', 'A network.', keys=_NETWORK),
    ),
    'personality': Property(
        'List',
        'Files to inject into the server.',
        items=Property(
            'Map',
            'A file.',
            keys={
                'path': Property('String', 'Path of the file.', required=True),
                'contents': Property(
                    'String', 'Contents of the file.', required=True
                ),
            },
        ),
    ),
    'scheduler_hints': Property('Map', 'Hints for the scheduler.'),
    'security_groups': Property(
        'List',
        'Security groups of the server.',
        items=Property('String', 'Name of a security group.', required=True),
    ),
    'user_data': Property(
        'String',
        'User data for the server, such as a cloud-init configuration.',
    ),
}


OPERATIONS: Mapping[str, spec_schema.Operation] = {
    'reboot': spec_schema.Operation(
        'Reboot the server.',
        {
            'type': Property(
                'String',
                "Type of reboot, which can be 'SOFT' or 'HARD'.",
                default='SOFT',
                allowed=('SOFT', 'HARD'),
            )
        },
    ),
    'rebuild': spec_schema.Operation(
        'Rebuild the server with its image and password.'
    ),
    'change_password': spec_schema.Operation(
        "Change the administrator's password.",
        {
            'admin_pass': Property(
                'String', 'New password of the administrator.'
            )
        },
    ),
    'pause': spec_schema.Operation('Pause the server.'),
    'unpause': spec_schema.Operation('Unpause the server.'),
    'suspend': spec_schema.Operation('Suspend the server.'),
    'resume': spec_schema.Operation('Resume a suspended server.'),
    'lock': spec_schema.Operation('Lock the server.'),
    'unlock': spec_schema.Operation('Unlock the server.'),
    'start': spec_schema.Operation('Start the server.'),
    'stop': spec_schema.Operation('Stop the server.'),
    'rescue': spec_schema.Operation(
        'Start the server from a rescue image.',
        {'image_ref': Property('String', 'Name or ID of the image.')},
    ),
    'unrescue': spec_schema.Operation('Start the server from its own image.'),
    'evacuate': spec_schema.Operation(
        'Rebuild the server on another host.',
        {
            'host': Property('String', 'Name of the host.'),
            'force': Property(
                'String',
                'Whether to skip the check of the host by the scheduler.',
            ),
        },
    ),
    'migrate': spec_schema.Operation('Migrate the server to another host.'),
    'snapshot': spec_schema.Operation(
        'Create an image of the server.',
        {'name': Property('String', 'Name of the image.')},
    ),
    'restore': spec_schema.Operation(
        'Rebuild the server from an image of it.',
        {
            'image': Property(
                'String', 'Name or ID of the image.', required=True
            )
        },
    ),
}

#: Supported types of a port's virtual interface.
VNIC_TYPES = ('normal', 'direct', 'macvtap')

#: Statuses of a server that has failed.
FAILED = ('ERROR', 'SHUTOFF', 'DELETED')


class NovaServer(base.ProfileType):
    """The profile type of servers."""

    name = 'os.nova.server'
    version = '1.0'
    noun = 'server'
    support_status: Mapping[str, list[dict[str, str]]] = {
        '1.0': [{'status': consts.SUPPORTED, 'since': '2016.04'}]
    }
    properties = PROPERTIES
    operations = OPERATIONS
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
        if operation == 'REBOOT':
            hard = str(parameters.get('type', 'HARD')).upper() == 'HARD'
            return provider.servers.reboot(
                node.require_physical_id(), hard=hard
            ).id
        if operation == 'REBUILD':
            return provider.servers.rebuild(node.require_physical_id()).id
        options = base.Recreation.of(parameters)
        try:
            self._delete(
                provider, node, force=options.fence, timeout=options.timeout
            )
        except providers.ProviderError as error:
            if not options.force:
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
            PROPERTIES, provider.servers.profile_properties(physical_id)
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
    """Remove the membership of another node from the metadata."""
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
