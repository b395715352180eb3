# SPDX-License-Identifier: Apache-2.0
"""The interface of a cloud's load balancers.

Changing a load balancer takes time, and only one change can run at once. Each
method waits until the load balancer is ready again. It raises ProviderError if
that takes longer than ``timeout`` seconds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol


@dataclasses.dataclass(frozen=True, slots=True)
class Spec:
    """The specification of a load balancer.

    :ivar vip: ``subnet`` or ``network``, ``address``, ``connection_limit``,
        ``protocol``, ``protocol_port``, ``admin_state_up``
    :ivar pool: ``protocol``, ``protocol_port``, ``subnet``, ``lb_method``,
        ``admin_state_up``, ``session_persistence``
    :ivar monitor: ``type``, ``delay``, ``timeout``, ``max_retries``,
        ``admin_state_up``, ``http_method``, ``url_path``, ``expected_codes``;
        None: members are not probed
    """

    name: str
    vip: Mapping[str, Any]
    pool: Mapping[str, Any]
    monitor: Mapping[str, Any] | None = None
    availability_zone: str | None = None
    flavor_id: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Balancer:
    """An existing load balancer, with the IDs of its parts."""

    id: str
    pool_id: str
    listener_id: str | None = None
    monitor_id: str | None = None
    vip_address: str | None = None


class LoadBalancers(Protocol):
    """The load balancers of a cloud. Every method may raise ProviderError."""

    def check(self, spec: Spec) -> None:
        """Check that the cloud can create a load balancer.

        :raises engine.providers.base.ProviderError: names the missing subnet,
            network, zone or flavor
        """

    def get(
        self, name_or_id: str, pool_id: str, monitor_id: str | None
    ) -> Balancer:
        """Return a load balancer that was not created by this service.

        :raises engine.providers.base.ProviderError: names the missing part
        """

    def create(self, key: str, spec: Spec, *, timeout: float) -> Balancer:
        """Create the load balancer for ``key``, or its missing parts.

        If the creation of a part fails, the load balancer is deleted.
        """

    def delete(self, balancer: Balancer, *, timeout: float) -> None:
        """Delete a load balancer with its parts, if it exists."""

    def add_member(
        self,
        balancer: Balancer,
        server_id: str,
        *,
        port: int,
        subnet: str,
        timeout: float,
    ) -> str:
        """Add a server to the pool, and return the ID of the member.

        If the server is a member already, returns its ID.

        :param port: the port on which the server listens
        :param subnet: name or ID of the subnet of the server's address
        """

    def remove_member(
        self, balancer: Balancer, member_id: str, *, timeout: float
    ) -> None:
        """Remove a member from the pool, if it exists."""
