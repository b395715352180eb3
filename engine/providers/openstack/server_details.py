# SPDX-License-Identifier: Apache-2.0
"""Convert Nova's description of a server, for users and for adoption."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Keys of Nova's description that users see unchanged.
SHOWN = (
    'OS-DCF:diskConfig',
    'OS-EXT-AZ:availability_zone',
    'OS-EXT-STS:power_state',
    'OS-EXT-STS:vm_state',
    'accessIPv4',
    'accessIPv6',
    'addresses',
    'config_drive',
    'created',
    'hostId',
    'id',
    'key_name',
    'locked',
    'metadata',
    'name',
    'progress',
    'status',
    'updated',
)

#: Keys that users see as '-' if they have no value.
DASHED = (
    'OS-EXT-STS:task_state',
    'OS-SRV-USG:launched_at',
    'OS-SRV-USG:terminated_at',
)

_VOLUMES = 'os-extended-volumes:volumes_attached'


def image_id(server: Mapping[str, Any]) -> str:
    """Return the ID of a server's image; empty if it boots from a volume."""
    image = server.get('image') or {}
    return str(image['id']) if image else ''


def flavor_id(server: Mapping[str, Any]) -> str:
    """Return the ID of a server's flavor."""
    return str(server['flavor']['id'])


def details(server: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a server for users, in Senlin's format.

    :param server: Nova's description, in a microversion before 2.47
    """
    volumes = [volume['id'] for volume in server.get(_VOLUMES) or ()]
    groups = _security_groups(server)
    description = {
        'image': image_id(server),
        'flavor': flavor_id(server),
        'attached_volumes': volumes,
        'security_groups': groups[0] if len(groups) == 1 else groups or '',
    }
    for key in SHOWN:
        if key in server:
            description[key] = server[key]
    for key in DASHED:
        if key in server:
            description[key] = server[key] or '-'
    if server.get('fault'):
        description['fault'] = server['fault']
    return dict(sorted(description.items()))


def profile_properties(server: Mapping[str, Any]) -> dict[str, Any]:
    """Return the profile properties that describe a server."""
    networks = [
        {'network': name}
        for name, addresses in (server.get('addresses') or {}).items()
        if any(_is_fixed(address) for address in addresses)
    ]
    properties = {
        'name': server['name'],
        'flavor': flavor_id(server),
        'image': image_id(server) or None,
        'key_name': server.get('key_name'),
        'metadata': dict(server.get('metadata') or {}),
        'networks': networks,
        'security_groups': _security_groups(server),
        'availability_zone': server.get('OS-EXT-AZ:availability_zone'),
        'auto_disk_config': server.get('OS-DCF:diskConfig') == 'AUTO',
        'config_drive': bool(server.get('config_drive')),
    }
    return {k: v for k, v in properties.items() if v not in (None, '', [], {})}


def _is_fixed(address: Mapping[str, Any]) -> bool:
    return bool(address.get('OS-EXT-IPS:type', 'fixed') == 'fixed')


def _security_groups(server: Mapping[str, Any]) -> list[str]:
    """Return the names without duplicates; Nova lists them for each port."""
    groups = server.get('security_groups') or ()
    return sorted({group['name'] for group in groups})
