# SPDX-License-Identifier: Apache-2.0
"""The provider for one region of the simulated cloud."""

from __future__ import annotations

from oslo_config import cfg

from engine import storage
from engine.providers import base, server_events
from vobjects_simulated import containers, servers, stacks, state, tables
from vobjects_simulated.load_balancing import LoadBalancers
from vobjects_simulated.locations import Hosts, Places, ServerGroups


class SimulatedProvider(base.Provider):
    """One region of the simulated cloud.

    :param region: the name of the region; None: the first one
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        target: storage.Database,
        region: str | None = None,
    ) -> None:
        self._conf = conf
        self._database = target
        self.lifecycle = server_events.EventStore(
            target, tables.SimulatedEvent
        )
        cloud = state.Simulation(
            conf.simulated,
            target,
            region or conf.simulated.regions[0],
            self.lifecycle,
        )
        self.servers = servers.SimulatedServers(cloud)
        self.stacks = stacks.Stacks(cloud)
        self.containers = containers.Containers(cloud)
        self.server_groups = ServerGroups(cloud)
        self.places = Places(cloud)
        self.hosts = Hosts(cloud)
        self.load_balancers = LoadBalancers(cloud)

    def in_region(self, name: str) -> base.Provider:
        if name not in self._conf.simulated.regions:
            return super().in_region(name)
        return SimulatedProvider(self._conf, self._database, name)
