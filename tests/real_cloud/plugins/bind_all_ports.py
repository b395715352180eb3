# SPDX-License-Identifier: Apache-2.0
"""Mechanism driver of Neutron's ML2 plug-in that binds every port.

A bound port is ACTIVE at once: there is no agent. It runs in the virtual
environment of the cloud.
"""

from __future__ import annotations

from neutron_lib import constants
from neutron_lib.api.definitions import portbindings
from neutron_lib.plugins.ml2 import api


class BindAllPorts(api.MechanismDriver):
    """Binds a port to its first segment."""

    @property
    def connectivity(self) -> str:
        return str(portbindings.CONNECTIVITY_L2)

    def initialize(self) -> None:
        """Initialize nothing."""

    def bind_port(self, context: api.PortContext) -> None:
        """Bind a port to the first of its segments."""
        for segment in context.segments_to_bind[:1]:
            context.set_binding(
                segment[api.ID],
                portbindings.VIF_TYPE_OVS,
                {portbindings.CAP_PORT_FILTER: True},
                status=constants.PORT_STATUS_ACTIVE,
            )
