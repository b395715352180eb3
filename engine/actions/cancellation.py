# SPDX-License-Identifier: Apache-2.0
"""End actions from outside: deadlines, forced deletions, lost engines.

An action and everything it waits for end in one transaction. The claim of a
worker that runs one of them becomes void. An action that must be reverted
first keeps its claim and its locks, and ends after that; see
:attr:`engine.actions.action_run.ActionType.undo`.
"""

from __future__ import annotations

from sqlalchemy import orm

from engine.actions import action_run, action_types
from engine.actions.runtime import Runtime
from engine.db import actions, clock, dependencies, models
from vobjects.clustering import consts, errors

#: Cause -> the final status and status reason.
CAUSES = {
    'CANCEL': ('CANCELLED', 'cancelled by request'),
    'SUPERSEDE': ('CANCELLED', 'gave way to a forced deletion'),
    'TIMEOUT': ('FAILED', 'not done within {timeout} seconds'),
}


def end_tree(
    runtime: Runtime, session: orm.Session, action_id: str, cause: str
) -> bool:
    """End an action and everything it waits for.

    :param cause: a key of :data:`CAUSES`
    :returns: whether another action became ready
    """
    action = actions.lock(session, action_id)
    if action is None or action.status in consts.ACTION_ENDS:
        return False
    if action_run.OUTCOME in action.data and cause != 'TIMEOUT':
        return False  # it is being reverted already
    is_any_ready = False
    for child in dependencies.unfinished_children(session, action_id):
        is_any_ready |= end_tree(runtime, session, child, cause)
    status, reason = CAUSES[cause]
    reason = reason.format(timeout=action.timeout)
    return end_action(runtime, session, action, status, reason) or is_any_ready


def end_action(
    runtime: Runtime,
    session: orm.Session,
    action: models.Action,
    status: str,
    reason: str,
) -> bool:
    """End an action that has no unfinished children, or begin to revert it.

    :returns: whether an action became ready
    """
    action_type = action_types.ACTION_TYPES.get(action.action)
    if action_type is not None:
        undo = action_type.undo(action)
        if undo is not None and action_run.OUTCOME not in action.data:
            return actions.request_undo(
                session,
                action,
                undo,
                f'{reason}; its changes are being reverted',
                {**action.data, action_run.OUTCOME: [status, reason]},
            )
        action_type.on_failure(session, action, reason)
    now = clock.now(session)
    ended, is_any_ready = actions.end(
        session,
        action,
        actions.is_unfinished(action.id),
        status,
        reason,
        now,
    )
    if ended:
        runtime.events.ended(session, action, status, reason, now)
        runtime.metrics.ended(session, action, status)
    return is_any_ready


def check_cancellable(action: models.Action) -> None:
    """Reject the cancellation of an action that must complete.

    :raises vobjects.clustering.errors.ActionImmutable: it has begun to delete
        cloud resources
    """
    action_type = action_types.ACTION_TYPES.get(action.action)
    if action_type is not None and not action_type.is_cancellable(action):
        raise errors.ActionImmutable(
            f'Action ({action.id[:8]}) has begun to delete the cloud resources'
            ' of a policy, and can no longer be cancelled.'
        )
