# SPDX-License-Identifier: Apache-2.0
"""Nova's placement of servers; see :mod:`engine.providers.placing`."""

from __future__ import annotations

from typing import Any

from engine.providers import base, placing
from engine.providers.openstack import asking
from engine.providers.openstack.connection import Cloud

#: Microversion of Nova in which a server group has a single policy.
GROUPS = '2.64'

_HYPERVISOR = 'OS-EXT-SRV-ATTR:hypervisor_hostname'


class ServerGroups:
    """Server groups; see :class:`engine.providers.placing.ServerGroups`."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def find(self, name_or_id: str) -> placing.ServerGroup | None:
        """Return a group; None if it does not exist."""
        with asking.explained(f'look for the server group {name_or_id}'):
            answer = asking.checked(
                self._cloud.compute.get(
                    '/os-server-groups', microversion=GROUPS
                )
            )
        for group in answer.json()['server_groups']:
            if name_or_id in (group['id'], group['name']):
                return _group(group)
        return None

    def create(self, name: str, policy: str) -> placing.ServerGroup:
        """Create a group, or return the one with that name and policy."""
        found = self.find(name)
        if found is None:
            sent = {'server_group': {'name': name, 'policy': policy}}
            with asking.explained(f'create the server group {name}'):
                answer = asking.checked(
                    self._cloud.compute.post(
                        '/os-server-groups', json=sent, microversion=GROUPS
                    )
                )
            found = _group(answer.json()['server_group'])
        if found.policy != policy:
            raise base.ProviderError(
                f'there is a server group {name} of policy {found.policy}'
            )
        return found

    def delete(self, group_id: str) -> None:
        """Delete a group, if it exists."""
        try:
            with asking.explained(f'delete the server group {group_id}'):
                asking.checked(
                    self._cloud.compute.delete(f'/os-server-groups/{group_id}')
                )
        except base.NotFound:
            return


class Places:
    """Zones and regions; see :class:`engine.providers.placing.Places`."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def zones(self) -> list[str]:
        """Return the names of the available zones."""
        with asking.explained('list the availability zones'):
            answer = asking.checked(
                self._cloud.compute.get('/os-availability-zone')
            )
        return [
            zone['zoneName']
            for zone in answer.json()['availabilityZoneInfo']
            if zone['zoneState']['available']
        ]

    def regions(self) -> list[str]:
        """Return the names of the regions."""
        return self._cloud.regions()


class Hosts:
    """Hypervisors; see :class:`engine.providers.placing.Hosts`.

    Nova shows hypervisors only to administrators.

    :param cloud: the cloud that has the servers
    :param account: the same cloud, accessed by the account of the service
    """

    def __init__(self, cloud: Cloud, account: Cloud) -> None:
        self._cloud = cloud
        self._account = account

    def trouble(self, server_id: str) -> str:
        """Return why a server's hypervisor fails; empty if it is up."""
        what = f'show server {server_id}'
        with asking.explained(what, base.ServerNotFound):
            name = _hypervisor(self._cloud, server_id)
        if not name and self._account is not self._cloud:
            # Here, 404 does not mean that the server was deleted.
            with asking.explained(what):
                name = _hypervisor(self._account, server_id)
        if not name:
            raise base.ProviderError(
                f'the cloud does not say what server {server_id} runs on'
            )
        with asking.explained(f'show the hypervisor {name}'):
            answer = asking.checked(
                self._account.compute.get('/os-hypervisors')
            )
        for hypervisor in answer.json()['hypervisors']:
            if hypervisor['hypervisor_hostname'] == name:
                return _trouble(hypervisor)
        return f'its hypervisor {name} is gone'


def _hypervisor(cloud: Cloud, server_id: str) -> str | None:
    answer = asking.checked(cloud.compute.get(f'/servers/{server_id}'))
    name: str | None = answer.json()['server'].get(_HYPERVISOR)
    return name


def _trouble(hypervisor: dict[str, Any]) -> str:
    name = hypervisor['hypervisor_hostname']
    if hypervisor.get('state') == 'down':
        return f'its hypervisor {name} is down'
    if hypervisor.get('status') == 'disabled':
        return f'its hypervisor {name} is disabled'
    return ''


def _group(group: dict[str, Any]) -> placing.ServerGroup:
    return placing.ServerGroup(group['id'], group['name'], group['policy'])
