# SPDX-License-Identifier: Apache-2.0
"""The interface for server groups, zones, regions and hosts."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Protocol


@dataclasses.dataclass(frozen=True, slots=True)
class ServerGroup:
    """Servers that are kept on the same host, or on different hosts.

    :ivar policy: a policy of Nova: affinity, anti-affinity, soft-affinity or
        soft-anti-affinity
    """

    id: str
    name: str
    policy: str


class ServerGroups(Protocol):
    """The server groups of a cloud. Every method may raise ProviderError."""

    def find(self, name_or_id: str) -> ServerGroup | None:
        """Return a group; None if it does not exist."""

    def create(self, name: str, policy: str) -> ServerGroup:
        """Create a group, or return the one with that name and policy.

        :raises engine.providers.base.ProviderError: also if a group of that
            name has another policy
        """

    def delete(self, group_id: str) -> None:
        """Delete a group, if it exists."""


class Places(Protocol):
    """The locations of a cloud. Every method may raise ProviderError."""

    def zones(self) -> Collection[str]:
        """Return the names of the available zones."""

    def regions(self) -> Collection[str]:
        """Return the names of the regions."""


class Hosts(Protocol):
    """The hosts of servers."""

    def problem(self, server_id: str) -> str:
        """Return why a server's host fails; empty if it is up.

        :raises engine.providers.base.ServerNotFound: the server does not exist
        :raises engine.providers.base.ProviderError: the status is unknown
        """
