# SPDX-License-Identifier: Apache-2.0
"""Events, to be looked at."""

from __future__ import annotations

from typing import Any

import sqlalchemy

from engine.db import models
from engine.handlers import common
from vobjects.clustering import consts, resources
from vobjects.clustering.requests import events as requests
from vobjects.rpc.server import handles

EVENT = models.Event

SORT_KEYS = {
    'timestamp': EVENT.timestamp,
    'level': EVENT.level,
    'otype': EVENT.otype,
    'oname': EVENT.oname,
    'action': EVENT.action,
    'status': EVENT.status,
    'oid': EVENT.oid,
    'cluster_id': EVENT.cluster_id,
}

LEVEL_NAMES = {number: name for name, number in consts.EVENT_LEVELS.items()}


class EventHandlers(common.Handlers):
    """See the module's docstring."""

    @handles(requests.EventListRequest)
    def list(
        self, context: Any, request: requests.EventListRequest
    ) -> list[resources.Event]:
        """Return the caller's events."""
        with self.run.database.reader() as session:
            query = sqlalchemy.select(EVENT)
            clusters = common.given(request, 'cluster_id')
            if clusters:
                ids = common.cluster_ids(session, context, clusters)
                query = query.where(EVENT.cluster_id.in_(ids))
            levels = common.given(request, 'level')
            if levels:
                query = query.where(EVENT.level.in_(map(_number, levels)))
            rows = common.listed(
                session,
                query,
                context,
                request,
                SORT_KEYS,
                {
                    'oid': EVENT.oid,
                    'oname': EVENT.oname,
                    'otype': EVENT.otype,
                    'action': EVENT.action,
                },
            )
        return [_resource(row) for row in rows]

    @handles(requests.EventGetRequest)
    def get(
        self, context: Any, request: requests.EventGetRequest
    ) -> resources.Event:
        """Return an event."""
        with self.run.database.reader() as session:
            row = common.shown(session, EVENT, context, request.identity)
        return _resource(row)


def _number(level: str) -> int:
    return consts.EVENT_LEVELS.get(level) or int(level)


def _resource(row: models.Event) -> resources.Event:
    return resources.Event(
        id=row.id,
        timestamp=row.timestamp,
        level=LEVEL_NAMES.get(row.level, str(row.level)),
        oid=row.oid,
        oname=row.oname,
        otype=row.otype,
        cluster_id=row.cluster_id,
        action=row.action,
        status=row.status,
        status_reason=row.status_reason,
        meta_data=row.meta_data,
        user=row.user,
        project=row.project,
    )
