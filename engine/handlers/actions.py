# SPDX-License-Identifier: Apache-2.0
"""Handlers that list, show and cancel actions."""

from __future__ import annotations

from typing import Any

from oslo_utils import strutils
from sqlalchemy import orm

from engine.actions import action_factory, cancellation, policy_checks
from engine.db import actions, find, models, related
from engine.handlers import common, views
from vobjects import exceptions, objects
from vobjects.clustering import consts, errors, resources
from vobjects.clustering.requests import actions as requests
from vobjects.rpc.server import handles
from vobjects_sql import stored

ACTION = models.Action


class ActionHandlers(common.Handlers):
    """Handle requests for actions."""

    @handles(requests.ActionListRequest)
    def list(
        self, context: Any, request: requests.ActionListRequest
    ) -> list[resources.Action]:
        """Return the caller's actions."""
        return self.page(VIEW, context, request, by_cluster=True)

    @handles(requests.ActionGetRequest)
    def get(
        self, context: Any, request: requests.ActionGetRequest
    ) -> resources.Action:
        """Return an action."""
        return VIEW.get(self.runtime.database, context, request.identity)

    @handles(requests.ActionUpdateRequest)
    def update(
        self, context: Any, request: requests.ActionUpdateRequest
    ) -> resources.Accepted:
        """Cancel an action and every action that it waits for.

        Operations already started in the cloud are not reverted; their outcome
        is ignored. ``force`` therefore has no effect. Attaching and enabling
        a policy are reverted instead; detaching it completes once it has
        begun.
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
            cancellation.check_cancellable(current)
            cancellation.end_tree(self.runtime, session, row.id, 'CANCEL')
            return resources.Accepted(action=row.id, cluster=None, node=None)

        accepted = self.commit(body)
        self.runtime.wake()
        return accepted


def _request_fields(
    inputs: stored.StoredText[objects.Request],
) -> dict[str, Any]:
    values = {
        name: value
        for name, value in action_factory.request_fields(inputs).items()
        if value is not None and name not in ('identity', 'refuse_conflict')
    }
    # The inputs of an operation may include a password.
    masked: dict[str, Any] = strutils.mask_dict_password(values)
    return masked


def _policy_decisions(data: dict[str, Any]) -> dict[str, Any]:
    decisions = data.get(policy_checks.DECISIONS)
    return decisions if isinstance(decisions, dict) else {}


VIEW = views.ResourceView(
    resources.Action,
    ACTION,
    sort=consts.ACTION_SORT_KEYS,
    filters=('name', 'action', 'target', 'status'),
    computed={
        'status_reason': views.text_or_empty,
        'cluster_id': views.text_or_empty,
        'inputs': _request_fields,
        'data': _policy_decisions,
    },
    related=related.of_actions,
    related_fields=('depends_on', 'depended_by'),
)
