# SPDX-License-Identifier: Apache-2.0
"""Nodes that are servers: the profile type ``os.nova.server-1.0``.

The properties are those of Senlin's type of the same name.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from engine.profiles import base, schema
from engine.profiles.schema import Property
from engine.providers import base as providers
from vobjects import exceptions
from vobjects.clustering import consts, errors

LOG = logging.getLogger(__name__)

_BLOCK_DEVICE: schema.Schema = {
    'uuid': Property('String', 'ID of the image, snapshot or volume.'),
    'source_type': Property(
        'String',
        'What the device is made from.',
        required=True,
        allowed=('image', 'snapshot', 'volume', 'blank'),
    ),
    'destination_type': Property(
        'String',
        'Where the device is.',
        required=True,
        allowed=('volume', 'local'),
    ),
    'disk_bus': Property('String', 'Bus of the device.'),
    'device_name': Property('String', 'Name of the device, such as vda.'),
    'volume_size': Property(
        'Integer',
        'Size in GB; of a swap device in MB.',
        required=True,
    ),
    'guest_format': Property('String', 'File system, such as swap.'),
    'boot_index': Property('Integer', 'Position in the boot order.'),
    'device_type': Property('String', 'Kind of device, such as disk.'),
    'delete_on_termination': Property(
        'Boolean', 'Whether the volume goes with the server.'
    ),
    'volume_type': Property('String', 'Name or ID of a volume type.'),
}

_NETWORK: schema.Schema = {
    'network': Property('String', 'Name or ID of a network to join.'),
    'port': Property('String', 'ID of a port to use.'),
    'vnic_type': Property('String', 'Type of the virtual interface.'),
    'fixed_ip': Property('String', 'Address in the network.'),
    'security_groups': Property(
        'List',
        'Security groups of the port.',
        items=Property('String', 'Name of a security group.', required=True),
    ),
    'floating_network': Property(
        'String', 'Network that a floating address is taken from.'
    ),
    'floating_ip': Property('String', 'Floating address of the port.'),
    'subnet': Property('String', 'Subnet that the address is taken from.'),
}

PROPERTIES: schema.Schema = {
    'context': Property('Map', 'Security context for the operations.'),
    'admin_pass': Property('String', "The administrator's password."),
    'auto_disk_config': Property(
        'Boolean', 'Whether the disk is partitioned by itself.', default=True
    ),
    'availability_zone': Property(
        'String', 'Availability zone that the server runs in.'
    ),
    'block_device_mapping_v2': Property(
        'List',
        'Block devices of the server.',
        items=Property('Map', 'A block device.', keys=_BLOCK_DEVICE),
    ),
    'config_drive': Property('Boolean', 'Whether there is a config drive.'),
    'flavor': Property(
        'String',
        'Name or ID of the flavor.',
        required=True,
        updatable=True,
    ),
    'image': Property(
        'String',
        'Name or ID of the image, unless a block device has it.',
        updatable=True,
    ),
    'key_name': Property('String', 'Name of a key pair for the server.'),
    'metadata': Property(
        'Map', 'Keys and values that the server carries.', updatable=True
    ),
    'name': Property(
        'String',
        "Name of the server; the node's name, if left out.",
        updatable=True,
        longest=schema.LONGEST_NAME,
    ),
    'networks': Property(
        'List',
        'Networks of the server.',
        updatable=True,
        items=Property('Map', 'A network.', keys=_NETWORK),
    ),
    'personality': Property(
        'List',
        'Files to put into the server.',
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
    'user_data': Property('String', 'Data that the server can ask for.'),
}


OPERATIONS: Mapping[str, schema.Operation] = {
    'reboot': schema.Operation(
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
    'rebuild': schema.Operation(
        'Rebuild the server with its image and password.'
    ),
    'change_password': schema.Operation(
        "Change the administrator's password.",
        {
            'admin_pass': Property(
                'String', 'New password of the administrator.'
            )
        },
    ),
    'pause': schema.Operation('Pause the server.'),
    'unpause': schema.Operation('Let a paused server run again.'),
    'suspend': schema.Operation('Suspend the server.'),
    'resume': schema.Operation('Resume a suspended server.'),
    'lock': schema.Operation('Lock the server.'),
    'unlock': schema.Operation('Unlock the server.'),
    'start': schema.Operation('Start the server.'),
    'stop': schema.Operation('Stop the server.'),
    'rescue': schema.Operation(
        'Start the server from a rescue image.',
        {'image_ref': Property('String', 'Name or ID of the image.')},
    ),
    'unrescue': schema.Operation('Start the server from its own image.'),
    'evacuate': schema.Operation(
        'Make the server anew on another host.',
        {
            'host': Property('String', 'Name of the host.'),
            'force': Property(
                'String', 'Whether the scheduler is not asked about the host.'
            ),
        },
    ),
    'migrate': schema.Operation('Move the server to another host.'),
    'snapshot': schema.Operation(
        'Make an image of the server.',
        {'name': Property('String', 'Name of the image.')},
    ),
    'restore': schema.Operation(
        'Rebuild the server with an image that was made of it.',
        {
            'image': Property(
                'String', 'Name or ID of the image.', required=True
            )
        },
    ),
}

#: Types of virtual interfaces that a port can be asked for.
VNIC_TYPES = ('normal', 'direct', 'macvtap')

#: Kinds of reboot.
REBOOTS = ('SOFT', 'HARD')


#: Statuses of a server that works no more.
FAILED = ('ERROR', 'SHUTOFF', 'DELETED')


class NovaServer:
    """See :class:`engine.profiles.base.ProfileType`."""

    name = 'os.nova.server'
    version = '1.0'
    support_status: Mapping[str, list[dict[str, str]]] = {
        '1.0': [{'status': consts.SUPPORTED, 'since': '2016.04'}]
    }
    properties = PROPERTIES
    operations = OPERATIONS
    on_hosts = False

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Refuse networks that name no network, or too much."""
        for position, network in enumerate(properties.get('networks') or ()):
            _check_network(network, f'properties.networks[{position}]')

    def create(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        properties: Mapping[str, Any],
    ) -> str:
        """Make the node's server and return its ID."""
        name = properties.get('name') or node.name
        told = _placed(_told(node, properties), node.placement)
        return provider.servers.create(node.id, name, told).id

    def update(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> None:
        """Bring the server from one spec to another."""
        base.refuse_fixed(PROPERTIES, old, new, 'a server')
        if old != new:
            provider.servers.update(
                node.id,
                node.known_id(),
                new.get('name') or node.name,
                _told(node, old),
                _told(node, new),
            )

    def tell(self, provider: providers.Provider, node: base.NodeView) -> None:
        """Tell the server which cluster its node is in now."""
        none = dict.fromkeys(base.MEMBERSHIP)
        told = {**none, **node.membership()}
        provider.servers.tell(node.known_id(), told)

    def delete(
        self, provider: providers.Provider, node: base.NodeView
    ) -> None:
        """Remove the server, whether or not its ID is known."""
        self._delete(provider, node)

    def _delete(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        *,
        force: bool = False,
        timeout: float | None = None,
    ) -> None:
        for id_ in node.objects(provider.servers.find):
            provider.servers.delete(id_, force=force, timeout=timeout)
        provider.servers.release(node.id)

    def check(self, provider: providers.Provider, node: base.NodeView) -> str:
        """Return '' if the server is ACTIVE, else what is wrong with it."""
        return _wrong(provider, node, lambda status: status != 'ACTIVE')

    def failed(self, provider: providers.Provider, node: base.NodeView) -> str:
        """Return why the server works no more; '': it does, or may again."""
        return _wrong(provider, node, FAILED.__contains__)

    def recover(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        properties: Mapping[str, Any],
        operation: str,
        parameters: Mapping[str, Any],
    ) -> str:
        """Bring the server back and return its (new) ID."""
        if operation == 'REBOOT':
            hard = str(parameters.get('type', 'HARD')).upper() == 'HARD'
            return provider.servers.reboot(node.known_id(), hard=hard).id
        if operation == 'REBUILD':
            return provider.servers.rebuild(node.known_id()).id
        how = base.Recreation.of(parameters)
        try:
            self._delete(provider, node, force=how.fences, timeout=how.timeout)
        except providers.ProviderError as error:
            if not how.insists:
                raise
            LOG.warning('Node %s gets another server: %s', node.id, error)
            provider.servers.disown(node.id)
        return self.create(provider, node, properties)

    def operate(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        operation: str,
        parameters: Mapping[str, Any],
    ) -> None:
        """Do something to the server."""
        provider.servers.operate(node.known_id(), operation, parameters)

    def adopt(
        self, provider: providers.Provider, physical_id: str, *, snapshot: bool
    ) -> dict[str, Any]:
        """Return properties by which the server could be made."""
        found = schema.given(
            PROPERTIES, provider.servers.described(physical_id)
        )
        _forget_membership(found)
        if snapshot:
            found['image'] = provider.servers.snapshot(
                physical_id, f'snapshot-{physical_id}'
            )
        return found

    def details(
        self, provider: providers.Provider, node: base.NodeView
    ) -> dict[str, Any]:
        """Return what the cloud says about the server."""
        return dict(provider.servers.get(node.known_id()).details)


def _wrong(
    provider: providers.Provider,
    node: base.NodeView,
    is_wrong: Callable[[str], bool],
) -> str:
    """Return what is wrong with a node's server, or ''.

    :param is_wrong: tells it from a status
    """
    if not node.physical_id:
        return 'it has no server'
    try:
        server = provider.servers.get(node.physical_id)
    except providers.ServerNotFound:
        return f'its server {node.physical_id} is gone'
    if is_wrong(server.status):
        return f'its server {server.id} is {server.status}'
    return ''


def _told(
    node: base.NodeView, properties: Mapping[str, Any]
) -> dict[str, Any]:
    """Return properties with the node's place in the server's metadata."""
    metadata = {**(properties.get('metadata') or {}), **node.membership()}
    return {**properties, 'metadata': metadata}


def _forget_membership(found: dict[str, Any]) -> None:
    """Take what a server was told of another node from its metadata."""
    kept = {
        key: value
        for key, value in (found.pop('metadata', None) or {}).items()
        if key not in base.MEMBERSHIP
    }
    if kept:
        found['metadata'] = kept


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
            f'{path}.vnic_type: {exceptions.cut(vnic_type)} is not one of'
            f' {", ".join(VNIC_TYPES)}'
        )


def _placed(
    properties: Mapping[str, Any], placement: Mapping[str, str]
) -> Mapping[str, Any]:
    """Return properties by which a server goes where policies put it."""
    found = dict(properties)
    if 'zone' in placement:
        found['availability_zone'] = placement['zone']
    if 'servergroup' in placement:
        hints = properties.get('scheduler_hints') or {}
        found['scheduler_hints'] = {**hints, 'group': placement['servergroup']}
    return found
