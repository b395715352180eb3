# SPDX-License-Identifier: Apache-2.0
"""What a cloud's load balancers must be able to do.

Changes of a load balancer take time, and only one is made at once: each
method waits until the balancer is in order again, up to ``timeout`` seconds,
and raises ProviderError when it is not by then.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol


@dataclasses.dataclass(frozen=True, slots=True)
class Spec:
    """What a load balancer is to be like.

    :ivar vip: ``subnet`` or ``network``, ``address``, ``connection_limit``,
        ``protocol``, ``protocol_port``, ``admin_state_up``
    :ivar pool: ``protocol``, ``protocol_port``, ``subnet``, ``lb_method``,
        ``admin_state_up``, ``session_persistence``
    :ivar monitor: ``type``, ``delay``, ``timeout``, ``max_retries``,
        ``admin_state_up``, ``http_method``, ``url_path``,
        ``expected_codes``; None: members are not probed
    """

    name: str
    vip: Mapping[str, Any]
    pool: Mapping[str, Any]
    monitor: Mapping[str, Any] | None = None
    availability_zone: str | None = None
    flavor_id: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Balancer:
    """A load balancer that is there: the IDs of its parts."""

    id: str
    pool_id: str
    listener_id: str | None = None
    monitor_id: str | None = None
    vip_address: str | None = None


class LoadBalancers(Protocol):
    """A cloud's load balancers. Every method may raise ProviderError."""

    def check(self, spec: Spec) -> None:
        """Refuse what could not be made.

        :raises engine.providers.base.ProviderError: naming the subnet,
            network, zone or flavor that there is not
        """

    def get(
        self, name_or_id: str, pool_id: str, monitor_id: str | None
    ) -> Balancer:
        """Return a load balancer that somebody else made.

        :raises engine.providers.base.ProviderError: naming what there is not
        """

    def create(self, key: str, spec: Spec, *, timeout: float) -> Balancer:
        """Make a load balancer, or what is missing of that of ``key``.

        If a part cannot be made, the others go.
        """

    def delete(self, balancer: Balancer, *, timeout: float) -> None:
        """Remove a load balancer with its parts; fine if it is gone."""

    def add_member(
        self,
        balancer: Balancer,
        server_id: str,
        *,
        port: int,
        subnet: str,
        timeout: float,
    ) -> str:
        """Put a server into the pool and return the ID of the member.

        One that is there already is returned.

        :param port: where the server serves
        :param subnet: name or ID of the one that the server is reached in
        """

    def remove_member(
        self, balancer: Balancer, member_id: str, *, timeout: float
    ) -> None:
        """Take a member out of the pool; fine if it is gone."""
