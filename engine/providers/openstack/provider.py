# SPDX-License-Identifier: Apache-2.0
"""The provider for one region of an OpenStack cloud, and for its users."""

from __future__ import annotations

import collections
import threading

from engine.providers import base, server_events
from engine.providers.openstack import connection, octavia, servers, stacks
from engine.providers.openstack.locations import Hosts, Places, ServerGroups

#: Maximum number of authorizations whose connections are cached.
MAX_CACHED = 256


class OpenStackProvider(base.Provider):
    """One region; see :class:`engine.providers.base.Provider`.

    :param containers: containers on any host, which may be a server
    :param events: the events of the cloud; None: not configured
    :param account: the cloud, accessed by the account of the service; None:
        the same as ``cloud``
    """

    def __init__(
        self,
        containers: base.Containers,
        cloud: connection.Cloud,
        events: server_events.EventStore | None = None,
        account: connection.Cloud | None = None,
    ) -> None:
        self._cloud = cloud
        self._account = account or cloud
        self._others: dict[str, OpenStackProvider] = {}
        self.servers = servers.Servers(cloud)
        self.stacks = stacks.Stacks(cloud)
        self.containers = containers
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
                self.containers, cloud, self.lifecycle, account
            )
            # Another thread may have been faster.
            self._others.setdefault(name, provider)
        return self._others[name]

    def as_user(self, authorization: base.Authorization) -> OpenStackProvider:
        """Return the same region, accessed for the user of a authorization."""
        cloud = self._cloud.as_user(authorization.auth)
        return OpenStackProvider(
            self.containers, cloud, self.lifecycle, self._account
        )

    def authenticate(self) -> None:
        """Get a token, unless there is a valid one."""
        self._cloud.authenticate()

    def close(self) -> None:
        """Close idle connections to the cloud, in all regions."""
        self._cloud.close()


class UserClouds:
    """Returns the cloud for an authorization, from a cache of recent ones.

    :param max_cached: the maximum number of cached authorizations
    """

    def __init__(
        self, cloud: OpenStackProvider, max_cached: int = MAX_CACHED
    ) -> None:
        self._cloud = cloud
        self._max_cached = max_cached
        self._lock = threading.Lock()
        self._clouds: collections.OrderedDict[str, OpenStackProvider]
        self._clouds = collections.OrderedDict()

    def __call__(self, authorization: base.Authorization) -> base.Provider:
        """Return the cloud with the permissions of a user in a project.

        :raises engine.providers.base.ProviderError: authentication failed
        """
        cloud = self._cached(authorization)
        # Report a failed authentication early; the token then stays valid for
        # a while.
        cloud.authenticate()
        return cloud

    def _cached(self, authorization: base.Authorization) -> OpenStackProvider:
        evicted = None
        with self._lock:
            cloud = self._clouds.get(authorization.id)
            if cloud is None:
                cloud = self._cloud.as_user(authorization)
                self._clouds[authorization.id] = cloud
            self._clouds.move_to_end(authorization.id)
            if len(self._clouds) > self._max_cached:
                _, evicted = self._clouds.popitem(last=False)
        if evicted is not None:
            evicted.close()
        return cloud
