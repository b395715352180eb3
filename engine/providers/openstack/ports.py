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

from engine.providers import base
from engine.providers.openstack import sdk_errors
from engine.providers.openstack.connection import Cloud

Spec = Mapping[str, Any]

#: Keys of a spec that can change without replacing the port.
_CHANGEABLE = ('security_groups',)

_VNIC_TYPE = 'binding:vnic_type'


def made(cloud: Cloud, key: str, specs: Sequence[Spec]) -> list[str]:
    """Return the IDs of the ports for network specs, creating missing ones.

    :param key: the key of the server
    :raises engine.providers.base.ProviderError: a request failed
    """
    there = _own(cloud, key)
    return [
        _port(cloud, key, name, spec, there)
        for name, spec in _named(specs).items()
    ]


def removed(cloud: Cloud, key: str) -> None:
    """Delete the ports and floating IPs created for a server, if any."""
    with sdk_errors.converted(f'remove the ports of node {key}'):
        for address in _own_addresses(cloud, key):
            cloud.network.delete_ip(address, ignore_missing=True)
        for port in _own(cloud, key).values():
            cloud.network.delete_port(port, ignore_missing=True)


def disowned(cloud: Cloud, key: str) -> None:
    """Detach ports and floating IPs from a key, so that they are kept."""
    with sdk_errors.converted(f'leave the ports of node {key}'):
        for address in _own_addresses(cloud, key):
            cloud.network.update_ip(address, description='')
        for port in _own(cloud, key).values():
            cloud.network.update_port(port, description='')


def changed(
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
        there = _own(cloud, key)
        attached = _attached(cloud, server_id)
        wanted = _named(new)
        for name, port in there.items():
            if name not in wanted:
                _detach(cloud, server_id, port.id, attached)
                _remove(cloud, key, port.id)
        kept = {spec['port'] for spec in new if spec.get('port')}
        for spec in old:
            if spec.get('port') and spec['port'] not in kept:
                _detach(cloud, server_id, spec['port'], attached)
        for name, spec in wanted.items():
            if name in there:
                _set_groups(cloud, there[name], spec)
            port_id = _port(cloud, key, name, spec, there)
            if port_id not in attached:
                sent = {'interfaceAttachment': {'port_id': port_id}}
                sdk_errors.checked(
                    cloud.compute.post(_interfaces(server_id), json=sent)
                )


def _named(specs: Sequence[Spec]) -> dict[str, Spec]:
    """Return specs by port name; equal specs are numbered."""
    named: dict[str, Spec] = {}
    for spec in specs:
        lasting = {
            key: value
            for key, value in spec.items()
            if key not in _CHANGEABLE and value is not None
        }
        text = json.dumps(lasting, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        count = sum(name.startswith(f'{digest}-') for name in named)
        named[f'{digest}-{count}'] = spec
    return named


def _own(cloud: Cloud, key: str) -> dict[str, Any]:
    """Return the ports created for a server, by name."""
    found = cloud.network.ports(description=_mark(key))
    return {port.name: port for port in found}


def _own_addresses(cloud: Cloud, key: str) -> list[Any]:
    return list(cloud.network.ips(description=_mark(key)))


def _mark(key: str) -> str:
    return f'vobjects node {key}'


def _port(
    cloud: Cloud, key: str, name: str, spec: Spec, there: Mapping[str, Any]
) -> str:
    """Return the ID of the port for a spec, with its floating IP."""
    with sdk_errors.converted(f'make the ports of node {key}'):
        if spec.get('port'):
            found = cloud.network.find_port(spec['port'], ignore_missing=False)
        else:
            found = there.get(name) or _create(cloud, key, name, spec)
        if spec.get('floating_network') or spec.get('floating_ip'):
            _float(cloud, key, found.id, spec)
        return str(found.id)


def _create(cloud: Cloud, key: str, name: str, spec: Spec) -> Any:
    network = cloud.network
    values: dict[str, Any] = {
        'name': name,
        'description': _mark(key),
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
    wanted = _group_ids(cloud, spec)
    if wanted and sorted(port.security_group_ids or ()) != sorted(wanted):
        cloud.network.update_port(port, security_groups=wanted)


def _float(cloud: Cloud, key: str, port_id: str, spec: Spec) -> None:
    """Associate a floating IP with a port.

    :raises engine.providers.base.ProviderError: another port uses the address
    """
    network, wanted = cloud.network, spec.get('floating_ip')
    if wanted:
        for found in network.ips(floating_ip_address=wanted):
            if found.port_id not in (None, '', port_id):
                raise base.ProviderError(
                    f'the floating address {wanted} is in use'
                )
            if found.port_id != port_id:
                network.update_ip(found, port_id=port_id)
            return
        if not spec.get('floating_network'):
            raise base.ProviderError(
                f'there is no floating address {wanted}, and no'
                ' floating_network to take it from'
            )
    elif any(
        address.port_id == port_id for address in _own_addresses(cloud, key)
    ):
        return
    values = {'floating_ip_address': wanted} if wanted else {}
    network.create_ip(
        floating_network_id=network.find_network(
            spec['floating_network'], ignore_missing=False
        ).id,
        port_id=port_id,
        description=_mark(key),
        **values,
    )


def _interfaces(server_id: str) -> str:
    return f'/servers/{server_id}/os-interface'


def _attached(cloud: Cloud, server_id: str) -> set[str]:
    """Return the IDs of the ports that are attached to a server."""
    answer = sdk_errors.checked(cloud.compute.get(_interfaces(server_id)))
    return {one['port_id'] for one in answer.json()['interfaceAttachments']}


def _detach(
    cloud: Cloud, server_id: str, port_id: str, attached: set[str]
) -> None:
    if port_id not in attached:
        return
    path = f'{_interfaces(server_id)}/{port_id}'
    sdk_errors.checked(cloud.compute.delete(path))
    sdk_errors.wait_until(
        lambda: port_id not in _attached(cloud, server_id) or None,
        f'detach port {port_id} of server {server_id}',
        timeout=cloud.options.server_timeout,
        interval=cloud.options.poll_interval,
    )


def _remove(cloud: Cloud, key: str, port_id: str) -> None:
    for address in _own_addresses(cloud, key):
        if address.port_id == port_id:
            cloud.network.delete_ip(address, ignore_missing=True)
    cloud.network.delete_port(port_id, ignore_missing=True)
