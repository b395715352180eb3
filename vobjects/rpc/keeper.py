# SPDX-License-Identifier: Apache-2.0
"""Serve the ledger to processes that have no database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vobjects.rpc import objects
from vobjects.rpc.ledger import Ledger
from vobjects.rpc.server import handles


class Keeper:
    """Handlers for the requests of :mod:`vobjects.rpc.objects`.

    :param kept: the ledger
    :param announce: called after a request other than a report changed the
        ledger
    """

    def __init__(self, kept: Ledger, announce: Callable[[], None]) -> None:
        self._ledger = kept
        self._announce = announce

    @handles(objects.FleetReport)
    def report(self, context: Any, request: Any) -> objects.FleetView:
        """Record the heartbeat of a process."""
        view = self._ledger.report(objects.member_of(request))
        return objects.resource_of(view)

    @handles(objects.FleetLeave)
    def leave(self, context: Any, request: Any) -> None:
        """Remove a process from the ledger."""
        self._ledger.leave(request.id)
        self._announce()

    @handles(objects.FleetGet)
    def get(self, context: Any, request: Any) -> objects.FleetView:
        """Return the ledger."""
        return objects.resource_of(self._ledger.get())

    @handles(objects.FleetClock)
    def clock(self, context: Any, request: Any) -> objects.FleetTime:
        """Return the time on the ledger's clock."""
        return objects.FleetTime(now=self._ledger.get().now)

    @handles(objects.FleetHold)
    def hold(self, context: Any, request: Any) -> objects.FleetView:
        """Keep the cap of a topic at its current value."""
        view = self._ledger.hold(request.topic)
        self._announce()
        return objects.resource_of(view)

    @handles(objects.FleetFinalize)
    def finalize(self, context: Any, request: Any) -> objects.FleetView:
        """End a hold."""
        view = self._ledger.finalize()
        self._announce()
        return objects.resource_of(view)
