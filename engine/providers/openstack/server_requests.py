# SPDX-License-Identifier: Apache-2.0
"""Convert the properties of a profile to requests for Nova."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

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
