# SPDX-License-Identifier: Apache-2.0
"""Query and change actions.

::

                submit                claim              end
        (none) -------> READY -----------------> RUNNING ---> SUCCEEDED
                         ^  ^                      |   |      FAILED
          last child     |  |   give_back, pause   |   |      CANCELLED
          ended  WAITING-'  '----------------------'   |
                    ^            wait_for              |
                    '----------------------------------'

``pause`` sets a time before which no engine claims the action again. It can
also move the action to WAITING_LIFECYCLE_COMPLETION. An engine claims such an
action when that time has come; ``resume`` makes it READY earlier.

Each arrow is one conditional UPDATE, which changes nothing if the action is in
another status than expected; ``claim`` (:mod:`engine.db.work_queue`) locks the
row before it decides. A
:class:`Claim` identifies the engine that runs an action, and counts the claims
on it. The claim of a worker whose engine was declared dead is therefore void,
whatever the worker does next.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.db import clock, dependencies, locks, models, statements
from vobjects.clustering import consts

#: Statuses of an action that has not ended.
UNFINISHED = ('INIT', 'WAITING', 'READY', 'RUNNING', consts.WAITING_LIFECYCLE)

#: Statuses in which an engine may claim an action that is due.
CLAIMABLE = ('READY', consts.WAITING_LIFECYCLE)


class ClaimLostError(Exception):
    """Raised when another worker owns the action: stop working on it."""


class UndoRequestedError(Exception):
    """Raised when the action must be undone: leave it to that stage."""


_ACTION = statements.table(models.Action)


@dataclasses.dataclass(frozen=True, slots=True)
class Condition:
    """The condition under which an action is updated.

    :ivar change: the conditional UPDATE, built at import
    :ivar values: the statement's parameters
    """

    change: sqlalchemy.Update
    values: Mapping[str, Any]


def conditional_update(
    *clauses: sqlalchemy.ColumnElement[bool],
) -> sqlalchemy.Update:
    """Return a statement that changes the actions fulfilling all clauses."""
    return (
        sqlalchemy.update(_ACTION)
        .where(*clauses)
        .values(updated_at=clock.utcnow())
    )


#: Parameter names differ from column names, which SQLAlchemy uses for the
#: values to set.
_IS_CLAIMED = sqlalchemy.and_(
    _ACTION.c.id == sqlalchemy.bindparam('_id'),
    _ACTION.c.status == 'RUNNING',
    _ACTION.c.owner == sqlalchemy.bindparam('_owner'),
    _ACTION.c.claims == sqlalchemy.bindparam('_number'),
)

_CHANGE_CLAIMED = conditional_update(_IS_CLAIMED)

_HOLD = (
    sqlalchemy.select(clock.utcnow(), _ACTION.c.stage)
    .where(_IS_CLAIMED)
    .with_for_update()
)

_CHANGE_UNFINISHED = conditional_update(
    _ACTION.c.id == sqlalchemy.bindparam('_id'),
    _ACTION.c.status.not_in(consts.ACTION_ENDS),
)

_CHANGE_WAITING_LIFECYCLE = conditional_update(
    _ACTION.c.id == sqlalchemy.bindparam('_id'),
    _ACTION.c.status == consts.WAITING_LIFECYCLE,
)


@dataclasses.dataclass(frozen=True, slots=True)
class Claim:
    """The right to run an action.

    :ivar owner: the ID of the service
    :ivar number: how many times the action has been claimed
    """

    action_id: str
    owner: str
    number: int

    def condition(self) -> Condition:
        """Return the condition that holds while the claim is valid."""
        return Condition(_CHANGE_CLAIMED, self.values())

    def values(self) -> dict[str, Any]:
        """Return the parameters that identify the claim."""
        return {
            '_id': self.action_id,
            '_owner': self.owner,
            '_number': self.number,
        }


def is_unfinished(action_id: str) -> Condition:
    """Return the condition that an action has not ended."""
    return Condition(_CHANGE_UNFINISHED, {'_id': action_id})


def update(session: orm.Session, condition: Condition, **values: Any) -> bool:
    """Update an action if it fulfills a condition.

    :param values: new values by column name
    :returns: whether the action fulfilled the condition
    """
    changed = statements.change(
        session, condition.change, {**condition.values, **values}
    )
    return changed > 0


def get(session: orm.Session, action_id: str) -> models.Action | None:
    """Return the committed state of an action."""
    return statements.row(session, models.Action, action_id)


def lock(session: orm.Session, action_id: str) -> models.Action | None:
    """Return an action and lock its row until the transaction ends."""
    return statements.locked(session, models.Action, action_id)


def later(time: datetime.datetime, seconds: float) -> datetime.datetime:
    """Return a time some seconds later, limited to the latest datetime."""
    try:
        return time + datetime.timedelta(seconds=seconds)
    except OverflowError:
        return datetime.datetime.max.replace(tzinfo=datetime.UTC)


# With a claim


def lock_claimed(
    session: orm.Session, claimed: Claim, stage: str
) -> datetime.datetime:
    """Lock a claimed action until the transaction ends.

    :param stage: the stage that the worker runs
    :returns: the current time
    :raises ClaimLostError: another worker owns the action
    :raises UndoRequestedError: :func:`request_undo` changed the stage
    """
    row = session.execute(_HOLD, claimed.values()).one_or_none()
    if row is None:
        raise ClaimLostError(claimed.action_id)
    now, current_stage = row
    if current_stage != stage:
        raise UndoRequestedError(claimed.action_id)
    time: datetime.datetime = now
    return time


def release_claim(session: orm.Session, claimed: Claim) -> bool:
    """Release the claim so that any engine can claim the action.

    :returns: whether the claim was still valid
    """
    return update(
        session,
        claimed.condition(),
        status='READY',
        owner=None,
        not_before=None,
        blocked_on=None,
    )


def pause(
    session: orm.Session,
    claimed: Claim,
    stage: str,
    *,
    status: str = 'READY',
    seconds: float = 0.0,
    **values: Any,
) -> None:
    """Resume the action at ``stage`` after a time, keeping its locks.

    :param status: one of :data:`CLAIMABLE`
    :param seconds: the time until any engine may claim the action
    :param values: other columns to set
    :raises ClaimLostError: another worker owns the action
    """
    is_mine = update(
        session,
        claimed.condition(),
        status=status,
        owner=None,
        stage=stage,
        not_before=later(clock.now(session), seconds),
        **values,
    )
    if not is_mine:
        raise ClaimLostError(claimed.action_id)


def resume(session: orm.Session, action_id: str, reason: str) -> bool:
    """Make an action ready that waits for its lifecycle hook.

    :param reason: the new status reason
    :returns: whether the action was waiting
    """
    return update(
        session,
        Condition(_CHANGE_WAITING_LIFECYCLE, {'_id': action_id}),
        status='READY',
        status_reason=reason,
        not_before=None,
    )


def wait_for(
    session: orm.Session,
    claimed: Claim,
    children: Iterable[models.Action],
    stage: str,
    data: Mapping[str, Any],
) -> None:
    """Start child actions and wait until all of them have ended.

    :param children: new actions in status READY
    :param stage: the stage at which the parent resumes
    :param data: the new ``data`` of the parent
    :raises ClaimLostError: another worker owns the action
    """
    is_mine = update(
        session,
        claimed.condition(),
        status='WAITING',
        owner=None,
        stage=stage,
        data=dict(data),
    )
    if not is_mine:
        raise ClaimLostError(claimed.action_id)
    batch = list(children)
    statements.insert(session, batch)
    statements.insert(
        session,
        [
            models.ActionDependency(
                depended=child.id, dependent=claimed.action_id
            )
            for child in batch
        ],
    )


# Ending an action


def request_undo(
    session: orm.Session,
    action: models.Action,
    stage: str,
    reason: str,
    data: Mapping[str, Any],
) -> bool:
    """Request the stage that reverts an unfinished action.

    A worker that runs the action keeps its claim until its next transaction,
    so that the two stages never run at the same time. The action keeps its
    locks, and gets a new deadline.

    :param reason: the status reason meanwhile
    :param data: the new ``data`` of the action
    :returns: whether the action became ready
    """
    values: dict[str, Any] = {}
    if action.status != 'RUNNING':
        values = {'status': 'READY', 'not_before': None}
    is_changed = update(
        session,
        is_unfinished(action.id),
        stage=stage,
        status_reason=reason,
        data=dict(data),
        deadline=later(clock.now(session), action.timeout),
        deaths=0,
        **values,
    )
    return is_changed and bool(values)


def end(
    session: orm.Session,
    action: models.Action,
    condition: Condition,
    status: str,
    reason: str,
    now: datetime.datetime,
    *,
    has_locks: bool = True,
) -> tuple[bool, bool]:
    """End an action, drop its locks and wake the actions waiting for it.

    :param condition: the condition that the action must fulfill
    :param status: one of ``consts.ACTION_ENDS``
    :param has_locks: False if the action certainly holds no lock
    :returns: whether the action ended, and whether another action became ready
    """
    ended = update(
        session,
        condition,
        status=status,
        status_reason=reason,
        owner=None,
        blocked_on=None,
        not_before=None,
        end_time=now.timestamp(),
    )
    if not ended:
        return False, False
    woken = has_locks and locks.release(
        session, action.id, _lockable_ids(action)
    )
    for parent in dependencies.lock_parents(session, action):
        woken |= dependencies.resume_locked_if_done(session, parent)
    return True, woken


def _lockable_ids(action: models.Action) -> set[str]:
    """Return the IDs of the resources that an action may have locked."""
    # Derived actions leave the lock on the cluster to their parent.
    if action.cluster_id is None or action.cause != consts.CAUSE_REQUEST:
        return {action.target}
    return {action.target, action.cluster_id}


# By target, by owner


def unfinished(session: orm.Session, target: str) -> Sequence[models.Action]:
    """Return the unfinished actions on a target, oldest first."""
    return session.scalars(
        sqlalchemy.select(models.Action)
        .where(
            models.Action.target == target,
            models.Action.status.in_(UNFINISHED),
        )
        .order_by(models.Action.created_at, models.Action.id)
        .execution_options(populate_existing=True)
    ).all()


def blockers(
    session: orm.Session, deletion: models.Action
) -> Sequence[models.Action]:
    """Return the unfinished actions that a forced deletion must end first."""
    concerned = models.Action.target == deletion.target
    if deletion.action == 'CLUSTER_DELETE':
        concerned |= models.Action.cluster_id == deletion.target
    return session.scalars(
        sqlalchemy.select(models.Action)
        .where(
            concerned,
            models.Action.id != deletion.id,
            models.Action.status.in_(UNFINISHED),
        )
        .order_by(models.Action.created_at, models.Action.id)
    ).all()


def unfinished_of(
    session: orm.Session, action_name: str
) -> Sequence[models.Action]:
    """Return the unfinished actions with a name, on any target."""
    return session.scalars(
        sqlalchemy.select(models.Action).where(
            models.Action.action == action_name,
            models.Action.status.in_(UNFINISHED),
        )
    ).all()


def claims_of(session: orm.Session, owner: str) -> list[Claim]:
    """Return the claims of a service."""
    rows = session.execute(
        sqlalchemy.select(models.Action.id, models.Action.claims).where(
            models.Action.status == 'RUNNING', models.Action.owner == owner
        )
    )
    return [Claim(id_, owner, number) for id_, number in rows]


def delete_ended(session: orm.Session, target: str, kind: str) -> None:
    """Delete the succeeded and failed actions of a kind on a target."""
    statements.change(
        session,
        sqlalchemy.delete(models.Action).where(
            models.Action.target == target,
            models.Action.action == kind,
            models.Action.status.in_(('SUCCEEDED', 'FAILED')),
        ),
    )


# For the reaper


def orphans(session: orm.Session) -> Sequence[models.Action]:
    """Return running actions whose owner is not in the ledger."""
    owners = sqlalchemy.select(models.LEDGER.members.c.id)
    return session.scalars(
        sqlalchemy.select(models.Action).where(
            models.Action.status == 'RUNNING',
            models.Action.owner.not_in(owners),
        )
    ).all()


def overdue(session: orm.Session) -> Sequence[models.Action]:
    """Return unfinished actions whose deadline has passed."""
    return session.scalars(
        sqlalchemy.select(models.Action).where(
            models.Action.status.in_(UNFINISHED),
            models.Action.deadline < clock.utcnow(),
        )
    ).all()
