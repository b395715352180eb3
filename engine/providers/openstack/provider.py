# SPDX-License-Identifier: Apache-2.0
"""One region of the cloud, with all that it can do."""

from __future__ import annotations

from oslo_config import cfg

from engine.providers import balancing, base, docker, lifecycle, placing
from engine.providers.openstack import (
    connection,
    octavia,
    placement,
    servers,
    stacks,
)


class OpenStackProvider:
    """See :class:`engine.providers.base.Provider`."""

    def __init__(self, conf: cfg.ConfigOpts, cloud: connection.Cloud) -> None:
        self._conf = conf
        self._cloud = cloud
        self._others: dict[str, OpenStackProvider] = {}
        self.servers: base.Servers = servers.Servers(cloud)
        self.stacks: base.Stacks = stacks.Stacks(cloud)
        self.containers: base.Containers = docker.Containers(conf)
        self.server_groups: placing.ServerGroups | None = (
            placement.ServerGroups(cloud)
        )
        self.places: placing.Places | None = placement.Places(cloud)
        self.hosts: placing.Hosts | None = placement.Hosts(cloud)
        self.load_balancers: balancing.LoadBalancers | None = (
            octavia.LoadBalancers(cloud)
        )
        # Nova tells of events by its message bus alone.
        self.lifecycle: lifecycle.Events | None = None

    def in_region(self, name: str) -> base.Provider:
        """Return another region of the same cloud."""
        if name not in self._others:
            if name not in self._cloud.regions():
                raise base.ProviderError(f'there is no region {name}')
            other = OpenStackProvider(self._conf, self._cloud.in_region(name))
            # Another thread may have been faster.
            self._others.setdefault(name, other)
        return self._others[name]
