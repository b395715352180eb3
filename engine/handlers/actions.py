# SPDX-License-Identifier: Apache-2.0
"""Actions, to be looked at and cancelled."""

from __future__ import annotations

from typing import Any

import sqlalchemy
from oslo_utils import strutils
from sqlalchemy import orm

from engine.actions import checks, endings
from engine.db import actions, dependencies, find, models
from engine.handlers import common
from vobjects import base, exceptions
from vobjects.clustering import consts, errors, resources
from vobjects.clustering.requests import actions as requests
from vobjects.rpc.server import handles

ACTION = models.Action

SORT_KEYS = {
    'created_at': ACTION.created_at,
    'name': ACTION.name,
    'target': ACTION.target,
    'action': ACTION.action,
    'status': ACTION.status,
}


class ActionHandlers(common.Handlers):
    """See the module's docstring."""

    @handles(requests.ActionListRequest)
    def list(
        self, context: Any, request: requests.ActionListRequest
    ) -> list[resources.Action]:
        """Return the caller's actions."""
        with self.run.database.reader() as session:
            query = sqlalchemy.select(ACTION)
            identities = common.given(request, 'cluster_id')
            if identities:
                query = query.where(
                    ACTION.cluster_id.in_(
                        common.cluster_ids(session, context, identities)
                    )
                )
            rows = common.listed(
                session,
                query,
                context,
                request,
                SORT_KEYS,
                {
                    'name': ACTION.name,
                    'action': ACTION.action,
                    'target': ACTION.target,
                    'status': ACTION.status,
                },
            )
            return _resources(session, rows)

    @handles(requests.ActionGetRequest)
    def get(
        self, context: Any, request: requests.ActionGetRequest
    ) -> resources.Action:
        """Return an action."""
        with self.run.database.reader() as session:
            row = common.shown(session, ACTION, context, request.identity)
            return _resources(session, [row])[0]

    @handles(requests.ActionUpdateRequest)
    def update(
        self, context: Any, request: requests.ActionUpdateRequest
    ) -> resources.Accepted:
        """Cancel an action, with everything that it waits for.

        What a worker has begun with the cloud is not called back; its
        outcome is looked at no more. So there is nothing left to force.
        """
        if request.status != 'CANCELLED':
            raise errors.BadRequest(
                f'Unknown status {exceptions.cut(request.status)} for action'
                f' {exceptions.cut(request.identity)}; it can become'
                ' CANCELLED.'
            )

        def body(session: orm.Session) -> resources.Accepted:
            row = find.find(
                session, ACTION, request.identity, context.project_id
            )
            current = actions.lock(session, row.id)
            if current is None:
                raise find.not_found(ACTION, request.identity)
            if current.status in consts.ACTION_ENDS:
                raise errors.ActionConflict(
                    f'Action ({row.id[:8]}) is in status ({current.status})'
                    ' while expected status must be one of'
                    f' ({", ".join(actions.UNFINISHED)}).'
                )
            endings.end(self.run, session, row.id, 'CANCEL')
            return resources.Accepted(action=row.id, cluster=None, node=None)

        accepted = self.commit(body)
        self.run.wake()
        return accepted


def _resources(
    session: Any, rows: list[models.Action]
) -> list[resources.Action]:
    depends_on, depended_by = dependencies.relations(
        session, [row.id for row in rows]
    )
    return [
        resources.Action(
            id=row.id,
            name=row.name,
            action=row.action,
            target=row.target,
            cause=row.cause,
            owner=row.owner,
            interval=row.interval,
            start_time=row.start_time,
            end_time=row.end_time,
            timeout=row.timeout,
            status=row.status,
            status_reason=row.status_reason or '',
            inputs=_inputs(row),
            outputs=row.outputs,
            data=row.data.get(checks.DECISIONS) or {},
            depends_on=depends_on[row.id],
            depended_by=depended_by[row.id],
            cluster_id=row.cluster_id or '',
            created_at=row.created_at,
            updated_at=row.updated_at,
            **common.owned(row),
        )
        for row in rows
    ]


def _inputs(row: models.Action) -> dict[str, Any]:
    """Return what an action was told, without the envelope.

    It may be newer than what this engine reads, so it is not read.
    """
    data = row.inputs.get(f'{base.Object.OBJ_SERIAL_NAMESPACE}.data') or {}
    shown = {
        name: value
        for name, value in data.items()
        if value is not None and name not in ('identity', 'refuse_conflict')
    }
    # An operation may have been told a password.
    masked: dict[str, Any] = strutils.mask_dict_password(shown)
    return masked
