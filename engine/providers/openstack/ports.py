# SPDX-License-Identifier: Apache-2.0
"""Ports and floating IPs of servers.

The description of each holds the key of its server. The name of a port holds a
digest of its spec. So another engine can find them, and an update knows which
ports to keep.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import openstack.exceptions

from engine.providers import base
from engine.providers.openstack import sdk_errors
from engine.providers.openstack.connection import Cloud

Spec = Mapping[str, Any]

#: Keys of a spec that can change without replacing the port.
_CHANGEABLE = ('security_groups',)

_VNIC_TYPE = 'binding:vnic_type'


def ensure_ports(cloud: Cloud, key: str, specs: Sequence[Spec]) -> list[str]:
    """Return the IDs of the ports for network specs, creating missing ones.

    :param key: the key of the server
    :raises engine.providers.base.ProviderError: a request failed
    """
    ports = _ports_of(cloud, key)
    return [
        _ensure_port(cloud, key, name, spec, ports)
        for name, spec in _specs_by_name(specs).items()
    ]


def delete_ports(cloud: Cloud, key: str) -> None:
    """Delete the ports and floating IPs created for a server, if any."""
    with sdk_errors.converted(f'remove the ports of node {key}'):
        for address in _addresses_of(cloud, key):
            cloud.network.delete_ip(address, ignore_missing=True)
        for port in _all_ports_of(cloud, key):
            _delete_unused_port(cloud, port.id)


def detach_ports(cloud: Cloud, key: str) -> None:
    """Detach ports and floating IPs from a key, so that they are kept."""
    with sdk_errors.converted(f'leave the ports of node {key}'):
        for address in _addresses_of(cloud, key):
            cloud.network.update_ip(address, description='')
        for port in _all_ports_of(cloud, key):
            cloud.network.update_port(port, description='')


def replace_ports(
    cloud: Cloud,
    key: str,
    server_id: str,
    old: Sequence[Spec],
    new: Sequence[Spec],
) -> None:
    """Replace the ports of a server.

    :param old: the previous specs; some of their ports may be gone already
    :param new: the new specs
    """
    with sdk_errors.converted(f'change the networks of server {server_id}'):
        ports = _ports_of(cloud, key)
        attached = _attached_port_ids(cloud, server_id)
        new_specs = _specs_by_name(new)
        for name, port in ports.items():
            if name not in new_specs:
                _detach(cloud, server_id, port.id, attached)
                _delete_port(cloud, key, port.id)
        new_port_ids = {spec['port'] for spec in new if spec.get('port')}
        for spec in old:
            if spec.get('port') and spec['port'] not in new_port_ids:
                _detach(cloud, server_id, spec['port'], attached)
        for name, spec in new_specs.items():
            if name in ports:
                _set_groups(cloud, ports[name], spec)
            port_id = _ensure_port(cloud, key, name, spec, ports)
            if port_id not in attached:
                _attach(cloud, server_id, port_id)


def _specs_by_name(specs: Sequence[Spec]) -> dict[str, Spec]:
    """Return specs by port name; equal specs are numbered."""
    specs_by_name: dict[str, Spec] = {}
    for spec in specs:
        fixed_part = {
            key: value
            for key, value in spec.items()
            if key not in _CHANGEABLE and value is not None
        }
        text = json.dumps(fixed_part, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        count = sum(name.startswith(f'{digest}-') for name in specs_by_name)
        specs_by_name[f'{digest}-{count}'] = spec
    return specs_by_name


def _ports_of(cloud: Cloud, key: str) -> dict[str, Any]:
    return {port.name: port for port in _all_ports_of(cloud, key)}


def _all_ports_of(cloud: Cloud, key: str) -> list[Any]:
    """Return all ports created for a server.

    Several have the same name if a response was lost and the request repeated.
    """
    return list(cloud.network.ports(description=_description(key)))


def _addresses_of(cloud: Cloud, key: str) -> list[Any]:
    return list(cloud.network.ips(description=_description(key)))


def _description(key: str) -> str:
    return f'vobjects node {key}'


def _ensure_port(
    cloud: Cloud, key: str, name: str, spec: Spec, ports: Mapping[str, Any]
) -> str:
    """Return the ID of the port for a spec, with its floating IP."""
    with sdk_errors.converted(f'create the ports of node {key}'):
        if spec.get('port'):
            port = cloud.network.find_port(spec['port'], ignore_missing=False)
        else:
            port = ports.get(name) or _create(cloud, key, name, spec)
        if spec.get('floating_network') or spec.get('floating_ip'):
            _associate_floating_ip(cloud, key, port.id, spec)
        return str(port.id)


def _create(cloud: Cloud, key: str, name: str, spec: Spec) -> Any:
    network = cloud.network
    values: dict[str, Any] = {
        'name': name,
        'description': _description(key),
        'network_id': network.find_network(
            spec['network'], ignore_missing=False
        ).id,
    }
    fixed = {}
    if spec.get('fixed_ip'):
        fixed['ip_address'] = spec['fixed_ip']
    if spec.get('subnet'):
        fixed['subnet_id'] = network.find_subnet(
            spec['subnet'], ignore_missing=False
        ).id
    if fixed:
        values['fixed_ips'] = [fixed]
    if spec.get('security_groups'):
        values['security_groups'] = _group_ids(cloud, spec)
    if spec.get('vnic_type'):
        values[_VNIC_TYPE] = spec['vnic_type']
    return network.create_port(**values)


def _group_ids(cloud: Cloud, spec: Spec) -> list[str]:
    return [
        cloud.network.find_security_group(name, ignore_missing=False).id
        for name in spec.get('security_groups') or ()
    ]


def _set_groups(cloud: Cloud, port: Any, spec: Spec) -> None:
    group_ids = _group_ids(cloud, spec)
    if group_ids and sorted(port.security_group_ids or ()) != sorted(
        group_ids
    ):
        cloud.network.update_port(port, security_groups=group_ids)


def _associate_floating_ip(
    cloud: Cloud, key: str, port_id: str, spec: Spec
) -> None:
    """Associate a floating IP with a port.

    :raises engine.providers.base.ProviderError: another port uses the address
    """
    network, address = cloud.network, spec.get('floating_ip')
    if address:
        for floating_ip in network.ips(floating_ip_address=address):
            if floating_ip.port_id not in (None, '', port_id):
                raise base.ProviderError(
                    f'the floating address {address} is in use'
                )
            if floating_ip.port_id != port_id:
                network.update_ip(floating_ip, port_id=port_id)
            return
        if not spec.get('floating_network'):
            raise base.ProviderError(
                f'there is no floating address {address}, and no'
                ' floating_network to take it from'
            )
    elif any(
        floating_ip.port_id == port_id
        for floating_ip in _addresses_of(cloud, key)
    ):
        return
    values = {'floating_ip_address': address} if address else {}
    network.create_ip(
        floating_network_id=network.find_network(
            spec['floating_network'], ignore_missing=False
        ).id,
        port_id=port_id,
        description=_description(key),
        **values,
    )


def _interfaces(server_id: str) -> str:
    return f'/servers/{server_id}/os-interface'


def _attached_port_ids(cloud: Cloud, server_id: str) -> set[str]:
    response = cloud.send('GET', 'compute', _interfaces(server_id))
    return {
        attachment['port_id']
        for attachment in response.json()['interfaceAttachments']
    }


def _attach(cloud: Cloud, server_id: str, port_id: str) -> None:
    body = {'interfaceAttachment': {'port_id': port_id}}
    try:
        cloud.send('POST', 'compute', _interfaces(server_id), json=body)
    except openstack.exceptions.ConflictException:
        # Nova may have received the request before, if it did not answer.
        if port_id not in _attached_port_ids(cloud, server_id):
            raise


def _detach(
    cloud: Cloud, server_id: str, port_id: str, attached: set[str]
) -> None:
    if port_id not in attached:
        return
    path = f'{_interfaces(server_id)}/{port_id}'
    cloud.send('DELETE', 'compute', path)
    cloud.wait_until(
        lambda: port_id not in _attached_port_ids(cloud, server_id) or None,
        f'detach port {port_id} of server {server_id}',
    )


def _delete_port(cloud: Cloud, key: str, port_id: str) -> None:
    for address in _addresses_of(cloud, key):
        if address.port_id == port_id:
            cloud.network.delete_ip(address, ignore_missing=True)
    _delete_unused_port(cloud, port_id)


def _delete_unused_port(cloud: Cloud, port_id: str) -> None:
    """Delete a port that no server uses any more."""
    try:
        cloud.network.delete_port(port_id, ignore_missing=True)
    except openstack.exceptions.ForbiddenException:
        # If Neutron or Keystone does not answer Nova, Nova deletes a server
        # without releasing its ports. Users may release a port, but may not
        # delete one that a server uses.
        cloud.network.update_port(port_id, device_id='', device_owner='')
        cloud.network.delete_port(port_id, ignore_missing=True)
