# SPDX-License-Identifier: Apache-2.0
"""Serve the ledger to processes that have no database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vobjects.rpc import fleet_types
from vobjects.rpc.ledger import Ledger
from vobjects.rpc.server import handles


class LedgerEndpoint:
    """Handlers for the requests of :mod:`vobjects.rpc.fleet_types`.

    :param ledger: the ledger
    :param announce: called after a request other than a report changed the
        ledger
    """

    def __init__(self, ledger: Ledger, announce: Callable[[], None]) -> None:
        self._ledger = ledger
        self._announce = announce

    @handles(fleet_types.FleetReport)
    def report(self, context: Any, request: Any) -> fleet_types.FleetView:
        """Record the heartbeat of a process."""
        view = self._ledger.report(fleet_types.to_member(request))
        return fleet_types.to_resource(view)

    @handles(fleet_types.FleetLeave)
    def leave(self, context: Any, request: Any) -> None:
        """Remove a process from the ledger."""
        self._ledger.leave(request.id)
        self._announce()

    @handles(fleet_types.FleetGet)
    def get(self, context: Any, request: Any) -> fleet_types.FleetView:
        """Return the ledger."""
        return fleet_types.to_resource(self._ledger.get())

    @handles(fleet_types.FleetClock)
    def clock(self, context: Any, request: Any) -> fleet_types.FleetTime:
        """Return the time on the ledger's clock."""
        return fleet_types.FleetTime(now=self._ledger.get().now)

    @handles(fleet_types.FleetHold)
    def hold(self, context: Any, request: Any) -> fleet_types.FleetView:
        """Keep the cap of a topic at its current value."""
        view = self._ledger.hold(request.topic)
        self._announce()
        return fleet_types.to_resource(view)

    @handles(fleet_types.FleetFinalize)
    def finalize(self, context: Any, request: Any) -> fleet_types.FleetView:
        """End a hold."""
        view = self._ledger.finalize()
        self._announce()
        return fleet_types.to_resource(view)
