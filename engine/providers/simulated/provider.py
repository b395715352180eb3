# SPDX-License-Identifier: Apache-2.0
"""The provider for one region of the simulated cloud."""

from __future__ import annotations

from collections.abc import Callable

from oslo_config import cfg

from engine.db import database, models
from engine.providers import base, load_balancing, server_events
from engine.providers.simulated import containers, servers, stacks, state
from engine.providers.simulated.load_balancing import LoadBalancers
from engine.providers.simulated.locations import Hosts, Places, ServerGroups


class SimulatedProvider:
    """One region of the simulated cloud.

    :param region: the name of the region; None: the first one
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        target: database.Database,
        region: str | None = None,
    ) -> None:
        self._conf = conf
        self._database = target
        cloud = state.Simulation(
            conf.simulated, target, region or conf.simulated.regions[0]
        )
        self.servers: base.Servers = servers.SimulatedServers(cloud)
        self.stacks: base.Stacks = stacks.Stacks(cloud)
        self.containers: base.Containers = containers.Containers(cloud)
        self.server_groups: base.ServerGroups | None = ServerGroups(cloud)
        self.places: base.Places | None = Places(cloud)
        self.hosts: base.Hosts | None = Hosts(cloud)
        self.load_balancers: load_balancing.LoadBalancers | None = (
            LoadBalancers(cloud)
        )
        self.lifecycle: server_events.Events | None = server_events.EventStore(
            target, models.SimulatedEvent
        )
        self.for_user: Callable[[base.Authorization], base.Provider] | None
        self.for_user = None

    def in_region(self, name: str) -> base.Provider:
        """Return another region of the same cloud."""
        if name not in self._conf.simulated.regions:
            raise base.RegionNotFound(f'there is no region {name}')
        return SimulatedProvider(self._conf, self._database, name)
