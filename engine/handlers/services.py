# SPDX-License-Identifier: Apache-2.0
"""Handlers for the service itself: its processes and its build."""

from __future__ import annotations

import datetime
import importlib.metadata
from typing import Any

import sqlalchemy

from engine.db import actions, clock, models, statements
from engine.handlers import common
from vobjects.clustering import consts, resources, topics
from vobjects.clustering.requests import services as requests
from vobjects.clustering.service import SERVICE
from vobjects.rpc.server import handles

_MEMBER = models.LEDGER.members.c

#: The engine processes, without their manifests.
ENGINES = (
    sqlalchemy.select(
        *(
            column
            for column in _MEMBER
            if column.name not in ('manifest', 'created_at')
        )
    )
    .where(_MEMBER.topic == topics.ENGINE)
    .order_by(_MEMBER.created_at, _MEMBER.id)
)


#: Actions that ended are counted if they were created within this time; the
#: table may have millions of older ones.
RECENT = datetime.timedelta(hours=1)

#: Rows that are counted for each list of versions in stored objects.
MAX_ROWS = 1000

_ACTION = statements.table(models.Action).c

_ENDED = _ACTION.status.in_(consts.ACTION_ENDS)

_UNFINISHED = _ACTION.status.in_(actions.UNFINISHED)


def _count_by_status(
    model: type[models.Base], project: str | None, *conditions: Any
) -> sqlalchemy.Select[Any]:
    columns = statements.table(model).c
    return (
        sqlalchemy.select(
            columns.status, sqlalchemy.func.count().label('number')
        )
        .where(columns.project == project, *conditions)
        .group_by(columns.status)
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

    @handles(requests.SummaryRequest)
    def summary(
        self, context: Any, request: requests.SummaryRequest
    ) -> resources.Summary:
        """Return the numbers of resources of the caller's project."""
        project = context.project_id
        oldest = sqlalchemy.func.min(_ACTION.created_at)
        queue = sqlalchemy.select(oldest).where(
            _ACTION.project == project, _ACTION.status == 'READY'
        )
        with self.runtime.database.reader() as session:
            now = clock.now(session)
            is_recent = _ACTION.created_at >= now - RECENT

            def count(model: type[models.Base], *where: Any) -> dict[str, int]:
                rows = session.execute(
                    _count_by_status(model, project, *where)
                )
                return {row.status: row.number for row in rows}

            queued_at = session.scalar(queue)
            return resources.Summary(
                clusters=count(models.Cluster),
                nodes=count(models.Node),
                actions=count(models.Action, _UNFINISHED)
                | count(models.Action, _ENDED, is_recent),
                queue_age=queued_at
                and max(0.0, (now - queued_at).total_seconds()),
            )

    @handles(requests.RollbackVerdictRequest)
    def rollback_verdict(
        self, context: Any, request: requests.RollbackVerdictRequest
    ) -> resources.RollbackVerdict:
        """Read the stored objects, as ``vobjects fleet can-roll-back``."""
        # Imported here: engines need neither for their other work.
        from engine.db.stored import STORED
        from vobjects.lock import installed_locks
        from vobjects_sql.stored import scan, verdict

        lock = installed_locks.of_service(SERVICE.name)
        older = list(lock.releases)
        own = importlib.metadata.version('vobjects')
        if own in older:
            del older[older.index(own) :]
        if not older:
            return resources.RollbackVerdict(reasons=[])
        release = older[-1]
        with self.runtime.database.reader() as session:
            connection = session.connection()
            answer = verdict.decide(
                release,
                lock.at(release).manifest(),
                [
                    scan.scan(
                        connection, it, limit=MAX_ROWS, count_limit=MAX_ROWS
                    )
                    for it in STORED
                ],
                self.runtime.cap(),
            )
        _, *reasons = answer.lines()
        return resources.RollbackVerdict(
            release=release,
            can_roll_back=answer.can_roll_back,
            reasons=reasons,
        )
