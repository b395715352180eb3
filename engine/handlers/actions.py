# SPDX-License-Identifier: Apache-2.0
"""Actions, to be looked at and cancelled."""

from __future__ import annotations

from typing import Any

from oslo_utils import strutils
from sqlalchemy import orm

from engine.actions import checks, endings
from engine.db import actions, find, models, related
from engine.handlers import common, shown
from vobjects import base, exceptions
from vobjects.clustering import consts, errors, resources
from vobjects.clustering.requests import actions as requests
from vobjects.rpc.server import handles

ACTION = models.Action


class ActionHandlers(common.Handlers):
    """See the module's docstring."""

    @handles(requests.ActionListRequest)
    def list(
        self, context: Any, request: requests.ActionListRequest
    ) -> list[resources.Action]:
        """Return the caller's actions."""
        with self.run.database.columns() as connection:
            clusters = common.given(request, 'cluster_id')
            return SHOWN.page(
                connection,
                context,
                request,
                cluster_id=common.cluster_ids(connection, context, clusters),
            )

    @handles(requests.ActionGetRequest)
    def get(
        self, context: Any, request: requests.ActionGetRequest
    ) -> resources.Action:
        """Return an action."""
        with self.run.database.columns() as connection:
            found: resources.Action = SHOWN.one(
                connection, context, request.identity
            )
            return found

    @handles(requests.ActionUpdateRequest)
    def update(
        self, context: Any, request: requests.ActionUpdateRequest
    ) -> resources.Accepted:
        """Cancel an action, with everything that it waits for.

        What a worker has begun with the cloud is not called back; its
        outcome is looked at no more. So there is nothing left to force.
        """
        if request.status != 'CANCELLED':
            raise errors.BadRequest.advised(
                f'Unknown status {exceptions.cut(request.status)} for action'
                f' {exceptions.cut(request.identity)}.',
                'It can become CANCELLED.',
            )

        def body(session: orm.Session) -> resources.Accepted:
            row = find.find(
                session, ACTION, request.identity, context.project_id
            )
            current = actions.lock(session, row.id)
            if current is None:
                raise find.not_found(ACTION, request.identity)
            if current.status in consts.ACTION_ENDS:
                raise errors.ActionImmutable(
                    f'Action ({row.id[:8]}) is in status ({current.status})'
                    ' while expected status must be one of'
                    f' ({", ".join(actions.UNFINISHED)}).'
                )
            endings.end(self.run, session, row.id, 'CANCEL')
            return resources.Accepted(action=row.id, cluster=None, node=None)

        accepted = self.commit(body)
        self.run.wake()
        return accepted


def _inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return what an action was told, without the envelope.

    It may be newer than what this engine reads, so it is not read.
    """
    data = inputs.get(f'{base.Object.OBJ_SERIAL_NAMESPACE}.data') or {}
    shown = {
        name: value
        for name, value in data.items()
        if value is not None and name not in ('identity', 'refuse_conflict')
    }
    # An operation may have been told a password.
    masked: dict[str, Any] = strutils.mask_dict_password(shown)
    return masked


def _decisions(data: dict[str, Any]) -> dict[str, Any]:
    """Return what policies have decided, of all that an action notes."""
    decisions: dict[str, Any] = data.get(checks.DECISIONS) or {}
    return decisions


SHOWN = shown.Shown(
    resources.Action,
    ACTION,
    sort=consts.ACTION_SORT_KEYS,
    filters=('name', 'action', 'target', 'status'),
    made={
        'status_reason': shown.or_empty,
        'cluster_id': shown.or_empty,
        'inputs': _inputs,
        'data': _decisions,
    },
    related=related.of_actions,
    beside=('depends_on', 'depended_by'),
)
