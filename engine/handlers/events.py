# SPDX-License-Identifier: Apache-2.0
"""Handlers that list and show events."""

from __future__ import annotations

from typing import Any

from engine.db import models
from engine.handlers import common, views
from vobjects.clustering import consts, resources
from vobjects.clustering.requests import events as requests
from vobjects.rpc.server import handles

EVENT = models.Event

LEVEL_NAMES = {number: name for name, number in consts.EVENT_LEVELS.items()}


class EventHandlers(common.Handlers):
    """Handle requests for events."""

    @handles(requests.EventListRequest)
    def list(
        self, context: Any, request: requests.EventListRequest
    ) -> list[resources.Event]:
        """Return the caller's events."""
        levels = request.get('level')
        return self.page(
            VIEW,
            context,
            request,
            by_cluster=True,
            level=[*map(_level_number, levels)] if levels else None,
        )

    @handles(requests.EventGetRequest)
    def get(
        self, context: Any, request: requests.EventGetRequest
    ) -> resources.Event:
        """Return an event."""
        return VIEW.get(self.runtime.database, context, request.identity)


def _level_number(level: str) -> int:
    return consts.EVENT_LEVELS.get(level) or int(level)


def _level_name(level: int) -> str:
    return LEVEL_NAMES.get(level, str(level))


VIEW = views.ResourceView(
    resources.Event,
    EVENT,
    sort=consts.EVENT_SORT_KEYS,
    default_sort='timestamp',
    filters=('oid', 'oname', 'otype', 'action'),
    computed={'level': _level_name},
)
