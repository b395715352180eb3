# SPDX-License-Identifier: Apache-2.0
"""Where a cloud can put servers: server groups, zones, regions, hosts."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Protocol


@dataclasses.dataclass(frozen=True, slots=True)
class ServerGroup:
    """Servers that are kept together, or apart.

    :ivar policy: Nova's: affinity, anti-affinity, soft-affinity or
        soft-anti-affinity
    """

    id: str
    name: str
    policy: str


class ServerGroups(Protocol):
    """The server groups of a cloud. Every method may raise ProviderError."""

    def find(self, name_or_id: str) -> ServerGroup | None:
        """Return a group; None: there is none."""

    def create(self, name: str, policy: str) -> ServerGroup:
        """Make a group, or return the one of that name and policy.

        :raises engine.providers.base.ProviderError: also when the name
            belongs to a group of another policy
        """

    def delete(self, group_id: str) -> None:
        """Remove a group; fine if it is gone."""


class Places(Protocol):
    """Where a cloud has servers. Every method may raise ProviderError."""

    def zones(self) -> Collection[str]:
        """Return the names of the availability zones that can be used."""

    def regions(self) -> Collection[str]:
        """Return the names of the regions that there are."""


class Hosts(Protocol):
    """What servers run on."""

    def trouble(self, server_id: str) -> str:
        """Return '' if a server's host is up, else what is wrong with it.

        :raises engine.providers.base.ServerNotFound: there is no such server
        :raises engine.providers.base.ProviderError: nobody can tell
        """
