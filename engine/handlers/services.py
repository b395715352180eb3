# SPDX-License-Identifier: Apache-2.0
"""Handlers for the service itself: its processes and its build."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import sqlalchemy

from engine.db import models
from engine.handlers import common
from vobjects.clustering import resources, topics
from vobjects.clustering.requests import services as requests
from vobjects.rpc.server import handles

_MEMBER = models.LEDGER.members.c

#: The engine processes.
ENGINES = (
    sqlalchemy.select(models.LEDGER.members)
    .where(_MEMBER.topic == topics.ENGINE)
    .order_by(_MEMBER.created_at, _MEMBER.id)
)


class ServiceHandlers(common.Handlers):
    """Handle requests for the processes and the build of the service."""

    @handles(requests.ServiceListRequest)
    def list(
        self, context: Any, request: requests.ServiceListRequest
    ) -> list[resources.Service]:
        """Return the engine processes."""
        with self.runtime.database.reader() as session:
            rows = session.execute(ENGINES).all()
        return [
            resources.Service(
                id=row.id,
                binary=row.binary,
                host=row.host,
                topic=row.topic,
                state='up' if row.state == 'up' else 'down',
                status='disabled' if row.disabled else 'enabled',
                disabled_reason=row.disabled_reason,
                updated_at=row.heartbeat,
            )
            for row in rows
        ]

    @handles(requests.BuildInfoRequest)
    def build_info(
        self, context: Any, request: requests.BuildInfoRequest
    ) -> resources.BuildInfo:
        """Return the release of this engine."""
        release = importlib.metadata.version('vobjects')
        return resources.BuildInfo(api=None, engine={'revision': release})
