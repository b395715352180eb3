# SPDX-License-Identifier: Apache-2.0
"""Query the dependencies between actions.

A row of ``action_dependencies`` stays after the wait has ended, because the
API shows it.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy
from sqlalchemy import orm

from engine.db import clock, models, statements
from vobjects.clustering import consts

_ACTION = statements.table(models.Action)
_DEPENDENCY = statements.table(models.ActionDependency)

#: Ordered, so that two transactions lock the same parents in the same order.
_LOCK_PARENTS = (
    sqlalchemy.select(_ACTION.c.id)
    .join(_DEPENDENCY, _DEPENDENCY.c.dependent == _ACTION.c.id)
    .where(_DEPENDENCY.c.depended == sqlalchemy.bindparam('child'))
    .order_by(_ACTION.c.id)
    .with_for_update(of=_ACTION)
)

_LOCK = (
    sqlalchemy.select(_ACTION.c.id)
    .where(_ACTION.c.id == sqlalchemy.bindparam('parent'))
    .with_for_update()
)

_UNFINISHED = (
    sqlalchemy.select(_ACTION.c.id)
    .join(_DEPENDENCY, _DEPENDENCY.c.depended == _ACTION.c.id)
    .where(
        _DEPENDENCY.c.dependent == sqlalchemy.bindparam('parent'),
        _ACTION.c.status.not_in(consts.ACTION_ENDS),
    )
)

_ANY_UNFINISHED = _UNFINISHED.limit(1)

_RESUME = (
    sqlalchemy.update(_ACTION)
    .where(
        _ACTION.c.id == sqlalchemy.bindparam('parent'),
        _ACTION.c.status == 'WAITING',
    )
    .values(status='READY', not_before=None, updated_at=clock.utcnow())
)


def resume_if_done(session: orm.Session, action_id: str) -> bool:
    """Make a waiting action ready if all its dependencies have ended.

    :returns: whether the action became ready
    """
    session.execute(_LOCK, {'parent': action_id})
    return resume_locked_if_done(session, action_id)


def resume_locked_if_done(session: orm.Session, action_id: str) -> bool:
    """Make a waiting action ready if all its dependencies have ended.

    The last two children may end at the same time. The second to lock the
    parent's row sees that the first has ended.

    :param action_id: its row is locked by this transaction
    :returns: whether the action became ready
    """
    parent = {'parent': action_id}
    if session.scalar(_ANY_UNFINISHED, parent) is not None:
        return False
    return statements.change(session, _RESUME, parent) > 0


def lock_parents(session: orm.Session, action: models.Action) -> Sequence[str]:
    """Lock the actions that wait or waited for an action.

    :returns: their IDs
    """
    if action.cause == consts.CAUSE_REQUEST:
        return ()  # no action waits for a user's request
    return session.scalars(_LOCK_PARENTS, {'child': action.id}).all()


def children(session: orm.Session, action_id: str) -> Sequence[models.Action]:
    """Return all actions that an action waits or waited for."""
    return session.scalars(
        sqlalchemy.select(models.Action)
        .join(
            models.ActionDependency,
            models.ActionDependency.depended == models.Action.id,
        )
        .where(models.ActionDependency.dependent == action_id)
        .order_by(models.Action.created_at, models.Action.id)
        .execution_options(populate_existing=True)
    ).all()


def unfinished_children(session: orm.Session, action_id: str) -> list[str]:
    """Return the IDs of an action's unfinished dependencies."""
    return list(session.scalars(_UNFINISHED, {'parent': action_id}))


def resumable(session: orm.Session) -> list[str]:
    """Return the IDs of WAITING actions without unfinished dependencies."""
    child = orm.aliased(models.Action)
    pending = (
        sqlalchemy.exists()
        .where(
            models.ActionDependency.dependent == models.Action.id,
            models.ActionDependency.depended == child.id,
            child.status.not_in(consts.ACTION_ENDS),
        )
        .correlate(models.Action)
    )
    return list(
        session.scalars(
            sqlalchemy.select(models.Action.id).where(
                models.Action.status == 'WAITING', ~pending
            )
        )
    )
