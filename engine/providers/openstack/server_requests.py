# SPDX-License-Identifier: Apache-2.0
"""Requests to Nova: new servers, and operations with awaited statuses."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from engine.providers import base
from engine.providers.openstack import ports, sdk_errors
from engine.providers.openstack.connection import Cloud

#: Properties that have the same name in Nova.
_SAME = ('availability_zone', 'config_drive', 'key_name', 'personality')


def tag(key: str) -> str:
    """Return the tag of the server that is created for a key."""
    return f'vobjects-{key}'


def server_body(
    cloud: Cloud, key: str, name: str, properties: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the body for creating a server, and create its ports.

    :raises engine.providers.base.ProviderError: a resource does not exist
    """
    auto = properties.get('auto_disk_config', True)
    server: dict[str, Any] = {
        'name': name,
        'flavorRef': flavor_id(cloud, properties['flavor']),
        'tags': [tag(key)],
        'networks': 'auto',
        'OS-DCF:diskConfig': 'MANUAL' if auto is False else 'AUTO',
        'metadata': metadata_texts(properties.get('metadata') or {}),
    }
    server.update(
        (field, properties[field])
        for field in _SAME
        if properties.get(field) is not None
    )
    if properties.get('image'):
        server['imageRef'] = image_id(cloud, properties['image'])
    if properties.get('admin_pass'):
        server['adminPass'] = properties['admin_pass']
    if properties.get('user_data'):
        data = properties['user_data'].encode()
        server['user_data'] = base64.b64encode(data).decode()
    if properties.get('security_groups'):
        server['security_groups'] = [
            {'name': group} for group in properties['security_groups']
        ]
    if properties.get('block_device_mapping_v2'):
        server['block_device_mapping_v2'] = [
            {k: v for k, v in device.items() if v is not None}
            for device in properties['block_device_mapping_v2']
        ]
    if properties.get('networks'):
        # Last, so that an error above leaves no ports behind.
        server['networks'] = [
            {'port': port}
            for port in ports.ensure_ports(cloud, key, properties['networks'])
        ]
    return server


def flavor_id(cloud: Cloud, name_or_id: str) -> str:
    """Return the ID of a flavor."""
    with sdk_errors.converted(f'find the flavor {name_or_id}'):
        flavor = cloud.compute.find_flavor(name_or_id, ignore_missing=False)
        return str(flavor.id)


def image_id(cloud: Cloud, name_or_id: str) -> str:
    """Return the ID of an image."""
    with sdk_errors.converted(f'find the image {name_or_id}'):
        image = cloud.image.find_image(name_or_id, ignore_missing=False)
        return str(image.id)


def metadata_texts(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return metadata with all keys and values converted to text."""
    return {
        str(key): value if isinstance(value, str) else str(value)
        for key, value in metadata.items()
    }


Parameters = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """An operation on a server.

    :ivar action: Nova's name of the action
    :ivar content: creates the content of the request from the parameters
    :ivar status: the status to wait for; None: any but ERROR
    :ivar is_lasting: whether a server that has this status needs no request
    """

    action: str
    content: Callable[[Parameters], Any] = lambda _parameters: None
    status: str | None = None
    is_lasting: bool = False


def _reboot(parameters: Parameters) -> dict[str, Any]:
    return {'type': str(parameters.get('type') or 'SOFT').upper()}


def _password(parameters: Parameters) -> dict[str, Any]:
    password = parameters.get('admin_pass')
    if not password:
        raise base.ProviderError('change_password needs admin_pass')
    return {'adminPass': password}


def _rescue(parameters: Parameters) -> dict[str, Any] | None:
    image = parameters.get('image_ref')
    return {'rescue_image_ref': image} if image else None


def _evacuate(parameters: Parameters) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if parameters.get('host'):
        arguments['host'] = parameters['host']
    if parameters.get('force') is not None:
        word = str(parameters['force']).strip().lower()
        arguments['force'] = word in ('1', 'on', 't', 'true', 'y', 'yes')
    return arguments


#: Operations that are a single action of Nova. For the others, see
#: :meth:`engine.providers.openstack.servers.Servers.operate`.
OPERATIONS: Mapping[str, Operation] = {
    'reboot': Operation('reboot', _reboot, 'ACTIVE'),
    'change_password': Operation('changePassword', _password),
    'pause': Operation('pause', status='PAUSED', is_lasting=True),
    'unpause': Operation('unpause', status='ACTIVE', is_lasting=True),
    'suspend': Operation('suspend', status='SUSPENDED', is_lasting=True),
    'resume': Operation('resume', status='ACTIVE', is_lasting=True),
    'lock': Operation('lock'),
    'unlock': Operation('unlock'),
    'start': Operation('os-start', status='ACTIVE', is_lasting=True),
    'stop': Operation('os-stop', status='SHUTOFF', is_lasting=True),
    'rescue': Operation('rescue', _rescue, 'RESCUE', is_lasting=True),
    'unrescue': Operation('unrescue', status='ACTIVE', is_lasting=True),
    'evacuate': Operation('evacuate', _evacuate, 'ACTIVE'),
}
