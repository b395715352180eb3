# SPDX-License-Identifier: Apache-2.0
"""End actions from outside: deadlines, forced deletions, lost engines.

An action and everything it waits for end in one transaction. The claim of a
worker that runs one of them becomes void.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import orm

from engine.actions import runtime, table
from engine.db import actions, clock, dependencies, models
from vobjects.clustering import consts

#: Cause -> the final status and status reason.
CAUSES = {
    'CANCEL': ('CANCELLED', 'cancelled by request'),
    'SUPERSEDE': ('CANCELLED', 'gave way to a forced deletion'),
    'TIMEOUT': ('FAILED', 'not done within {timeout} seconds'),
}


def end(
    run: runtime.Runtime, session: orm.Session, action_id: str, cause: str
) -> bool:
    """End an action and everything it waits for.

    :param cause: a key of :data:`CAUSES`
    :returns: whether another action became ready
    """
    action = actions.lock(session, action_id)
    if action is None or action.status in consts.ACTION_ENDS:
        return False
    woken = False
    for child in dependencies.unfinished_children(session, action_id):
        woken |= end(run, session, child, cause)
    status, reason = CAUSES[cause]
    reason = reason.format(timeout=action.timeout)
    return abandon(run, session, action, status, reason) or woken


def abandon(
    run: runtime.Runtime,
    session: orm.Session,
    action: models.Action,
    status: str,
    reason: str,
) -> bool:
    """End an action that has no unfinished children.

    :returns: whether another action became ready
    """
    kind = table.KINDS.get(action.action)
    if kind is not None:
        kind.abandon(session, action, reason)
    now = clock.now(session)
    ended, woken = actions.end(
        session,
        action,
        actions.is_unfinished(action.id),
        status,
        reason,
        now,
    )
    if ended:
        run.events.ended(session, action, status, reason, now)
        run.metrics.ended(session, action, status)
    return woken


def supersede(
    run: runtime.Runtime,
    session: orm.Session,
    others: Iterable[models.Action],
) -> bool:
    """End the actions that block a forced deletion.

    :returns: whether another action became ready
    """
    woken = False
    for action in others:
        woken |= end(run, session, action.id, 'SUPERSEDE')
    return woken
