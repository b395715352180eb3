# SPDX-License-Identifier: Apache-2.0
"""The provider for one region of an OpenStack cloud."""

from __future__ import annotations

from oslo_config import cfg

from engine.providers import base, server_events
from engine.providers.docker import containers
from engine.providers.openstack import connection, octavia, servers, stacks
from engine.providers.openstack.locations import Hosts, Places, ServerGroups


class OpenStackProvider(base.Provider):
    """One region; see :class:`engine.providers.base.Provider`.

    :param conf: the configuration, with ``[provider_openstack]``
    :param events: the events of the cloud; None: not configured
    :param account: the cloud, accessed by the account of the service; None:
        the same as ``cloud``
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        cloud: connection.Cloud,
        events: server_events.EventStore | None = None,
        account: connection.Cloud | None = None,
    ) -> None:
        self._conf = conf
        self._cloud = cloud
        self._account = account or cloud
        self._others: dict[str, OpenStackProvider] = {}
        self.servers = servers.Servers(cloud)
        self.stacks = stacks.Stacks(cloud)
        self.containers = containers.Containers(conf)
        self.server_groups = ServerGroups(cloud)
        self.places = Places(cloud)
        self.hosts = Hosts(cloud, self._account)
        self.load_balancers = octavia.LoadBalancers(cloud)
        self.lifecycle = events

    def in_region(self, name: str) -> base.Provider:
        if name not in self._others:
            if name not in self._cloud.regions():
                raise base.RegionNotFound(f'there is no region {name}')
            cloud = account = self._cloud.in_region(name)
            if self._account is not self._cloud:
                account = self._account.in_region(name)
            provider = OpenStackProvider(
                self._conf, cloud, self.lifecycle, account
            )
            # Another thread may have been faster.
            self._others.setdefault(name, provider)
        return self._others[name]

    def as_user(self, authorization: base.Authorization) -> OpenStackProvider:
        """Return the same region, accessed for the user of a authorization."""
        cloud = self._cloud.as_user(authorization.auth)
        return OpenStackProvider(
            self._conf, cloud, self.lifecycle, self._account
        )

    def authenticate(self) -> None:
        """Get a token, unless there is a valid one."""
        self._cloud.authenticate()

    def close(self) -> None:
        """Close idle connections to the cloud, in all regions."""
        self._cloud.close()
