# SPDX-License-Identifier: Apache-2.0
"""Serves the ledger to processes that have no database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vobjects.rpc import objects
from vobjects.rpc.ledger import Ledger
from vobjects.rpc.server import handles


class Keeper:
    """Handlers of :mod:`vobjects.rpc.objects`.

    :param kept: where the ledger is
    :param announce: called when somebody else's doing changed it
    """

    def __init__(self, kept: Ledger, announce: Callable[[], None]) -> None:
        self._ledger = kept
        self._announce = announce

    @handles(objects.FleetReport)
    def report(self, context: Any, request: Any) -> objects.FleetView:
        """Record a process's heartbeat."""
        view = self._ledger.report(objects.member_of(request))
        return objects.resource_of(view)

    @handles(objects.FleetLeave)
    def leave(self, context: Any, request: Any) -> None:
        """Forget a process."""
        self._ledger.leave(request.id)
        self._announce()

    @handles(objects.FleetGet)
    def get(self, context: Any, request: Any) -> objects.FleetView:
        """Tell who lives."""
        return objects.resource_of(self._ledger.get())

    @handles(objects.FleetHold)
    def hold(self, context: Any, request: Any) -> objects.FleetView:
        """Keep a topic's cap where it is."""
        view = self._ledger.hold(request.topic)
        self._announce()
        return objects.resource_of(view)

    @handles(objects.FleetFinalize)
    def finalize(self, context: Any, request: Any) -> objects.FleetView:
        """Let the cap follow the live members."""
        view = self._ledger.finalize()
        self._announce()
        return objects.resource_of(view)
