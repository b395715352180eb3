# SPDX-License-Identifier: Apache-2.0
"""Nova's placement of servers; see :mod:`engine.providers.base`."""

from __future__ import annotations

from typing import Any

from engine.providers import base
from engine.providers.openstack import sdk_errors
from engine.providers.openstack.connection import Cloud

#: Microversion of Nova in which a server group has a single policy.
GROUP_MICROVERSION = '2.64'

_HYPERVISOR = 'OS-EXT-SRV-ATTR:hypervisor_hostname'


class ServerGroups:
    """Server groups; see :class:`engine.providers.base.ServerGroups`."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def find(self, name_or_id: str) -> base.ServerGroup | None:
        with sdk_errors.converted(f'look for the server group {name_or_id}'):
            response = self._cloud.send(
                'GET',
                'compute',
                '/os-server-groups',
                microversion=GROUP_MICROVERSION,
            )
        for group in response.json()['server_groups']:
            if name_or_id in (group['id'], group['name']):
                return _group(group)
        return None

    def create(self, name: str, policy: str) -> base.ServerGroup:
        group = self.find(name)
        if group is None:
            body = {'server_group': {'name': name, 'policy': policy}}
            with sdk_errors.converted(f'create the server group {name}'):
                response = self._cloud.send(
                    'POST',
                    'compute',
                    '/os-server-groups',
                    json=body,
                    microversion=GROUP_MICROVERSION,
                )
            group = _group(response.json()['server_group'])
        if group.policy != policy:
            raise base.ProviderError(
                f'there is a server group {name} of policy {group.policy}'
            )
        return group

    def delete(self, group_id: str) -> None:
        try:
            with sdk_errors.converted(f'delete the server group {group_id}'):
                self._cloud.send(
                    'DELETE', 'compute', f'/os-server-groups/{group_id}'
                )
        except base.NotFound:
            return


class Places:
    """Zones and regions; see :class:`engine.providers.base.Places`."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def zones(self) -> list[str]:
        with sdk_errors.converted('list the availability zones'):
            response = self._cloud.send(
                'GET', 'compute', '/os-availability-zone'
            )
        return [
            zone['zoneName']
            for zone in response.json()['availabilityZoneInfo']
            if zone['zoneState']['available']
        ]

    def regions(self) -> list[str]:
        return self._cloud.regions()


class Hosts:
    """Hypervisors; see :class:`engine.providers.base.Hosts`.

    Nova shows hypervisors only to administrators.

    :param cloud: the cloud that has the servers
    :param account: the same cloud, accessed by the account of the service
    """

    def __init__(self, cloud: Cloud, account: Cloud) -> None:
        self._cloud = cloud
        self._account = account

    def problem(self, server_id: str) -> str:
        """Return why a server's hypervisor fails; empty if it is up."""
        description = f'show server {server_id}'
        with sdk_errors.converted(description, base.ServerNotFound):
            name = _hypervisor(self._cloud, server_id)
        if not name and self._account is not self._cloud:
            # Here, 404 does not mean that the server was deleted.
            with sdk_errors.converted(description):
                name = _hypervisor(self._account, server_id)
        if not name:
            raise base.ProviderError(
                f'the cloud does not say what server {server_id} runs on'
            )
        with sdk_errors.converted(f'show the hypervisor {name}'):
            response = self._account.send('GET', 'compute', '/os-hypervisors')
        for hypervisor in response.json()['hypervisors']:
            if hypervisor['hypervisor_hostname'] == name:
                return _problem(hypervisor)
        return f'its hypervisor {name} is gone'


def _hypervisor(cloud: Cloud, server_id: str) -> str | None:
    response = cloud.send('GET', 'compute', f'/servers/{server_id}')
    name: str | None = response.json()['server'].get(_HYPERVISOR)
    return name


def _problem(hypervisor: dict[str, Any]) -> str:
    name = hypervisor['hypervisor_hostname']
    if hypervisor.get('state') == 'down':
        return f'its hypervisor {name} is down'
    if hypervisor.get('status') == 'disabled':
        return f'its hypervisor {name} is disabled'
    return ''


def _group(group: dict[str, Any]) -> base.ServerGroup:
    return base.ServerGroup(group['id'], group['name'], group['policy'])
