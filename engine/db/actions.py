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
another status than expected; ``claim`` locks the row before it decides. A
:class:`Claim` identifies the engine that runs an action, and counts the claims
on it. The claim of a worker whose engine was declared dead is therefore void,
whatever the worker does next.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
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
_SERVICE = models.LEDGER.members


@dataclasses.dataclass(frozen=True, slots=True)
class Condition:
    """The condition under which an action is updated.

    :ivar change: the conditional UPDATE, built at import
    :ivar values: the statement's parameters
    """

    change: sqlalchemy.Update
    values: Mapping[str, Any]


def _change(*clauses: sqlalchemy.ColumnElement[bool]) -> sqlalchemy.Update:
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

_CHANGE_CLAIMED = _change(_IS_CLAIMED)

_HOLD = (
    sqlalchemy.select(clock.utcnow(), _ACTION.c.stage)
    .where(_IS_CLAIMED)
    .with_for_update()
)

_CHANGE_UNFINISHED = _change(
    _ACTION.c.id == sqlalchemy.bindparam('_id'),
    _ACTION.c.status.not_in(consts.ACTION_ENDS),
)

_CHANGE_WAITING_LIFECYCLE = _change(
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


# Finding work


def _is_due() -> sqlalchemy.ColumnElement[bool]:
    return sqlalchemy.or_(
        _ACTION.c.not_before.is_(None),
        _ACTION.c.not_before <= clock.utcnow(),
    )


def _fair_candidates() -> sqlalchemy.Select[Any]:
    """Build the query of :func:`candidates`.

    The position of an action is its place among the ready actions of its
    project, plus the number of actions of that project that run now.
    """
    running = (
        sqlalchemy.select(
            _ACTION.c.project, sqlalchemy.func.count().label('number')
        )
        .where(_ACTION.c.status == 'RUNNING')
        .group_by(_ACTION.c.project)
        .subquery()
    )
    age = _ACTION.c.created_at, _ACTION.c.id
    ready = (
        sqlalchemy.select(
            *age,
            _ACTION.c.project,
            sqlalchemy.func.row_number()
            .over(partition_by=_ACTION.c.project, order_by=age)
            .label('place'),
        )
        .where(
            _ACTION.c.status.in_(CLAIMABLE),
            _is_due(),
            _ACTION.c.id.not_in(statements.IDS),
        )
        .subquery()
    )
    position = (
        ready.c.place + sqlalchemy.func.coalesce(running.c.number, 0)
    ).label('position')
    return (
        sqlalchemy.select(ready.c.id, ready.c.project, position)
        .outerjoin_from(ready, running, ready.c.project == running.c.project)
        .order_by(position, ready.c.created_at, ready.c.id)
        .limit(sqlalchemy.bindparam('most'))
    )


_CANDIDATES = _fair_candidates()

#: Selects a claimable action and the current time. Other engines that look at
#: the action meanwhile skip it instead of waiting.
_LOCK_CLAIMABLE = (
    sqlalchemy.select(models.Action, clock.utcnow())
    .where(
        _ACTION.c.id == sqlalchemy.bindparam('_id'),
        _ACTION.c.status.in_(CLAIMABLE),
        _is_due(),
        sqlalchemy.exists().where(
            _SERVICE.c.id == sqlalchemy.bindparam('_owner')
        ),
    )
    .with_for_update(skip_locked=True)
    .execution_options(populate_existing=True)
)

#: Changes an action whose row this transaction has locked.
_CHANGE_LOCKED = _change(_ACTION.c.id == sqlalchemy.bindparam('_id'))


def candidates(
    session: orm.Session,
    limit: int,
    excluded: Collection[str] = (),
    turns: Mapping[str | None, int] = MappingProxyType({}),
) -> list[str]:
    """Return the IDs of claimable actions, in the order to run them.

    Projects take turns, those with the fewest running actions first. Within a
    project, the oldest action comes first.

    :param limit: the maximum number of IDs
    :param excluded: IDs to leave out
    :param turns: project -> number of its last turn. Of projects with equally
        many running actions, the one with the lowest number comes first
    """
    values = {'most': limit, 'ids': list(excluded)}
    rows = session.execute(_CANDIDATES, values).all()
    in_order = sorted(
        rows, key=lambda row: (row.position, turns.get(row.project, 0))
    )
    return [row.id for row in in_order]


def lock_claimable(
    session: orm.Session, action_id: str, owner: str
) -> tuple[models.Action, datetime.datetime] | None:
    """Lock a ready action, so that :func:`claim` can claim it.

    :param owner: the ID of a service; a service that the ledger does not list
        cannot claim anything
    :returns: the action and the current time; None if the action is not
        claimable, or another engine has locked it
    """
    values = {'_id': action_id, '_owner': owner}
    row = session.execute(_LOCK_CLAIMABLE, values).one_or_none()
    return None if row is None else (row[0], row[1])


def claim(
    session: orm.Session,
    action: models.Action,
    owner: str,
    now: datetime.datetime,
) -> Claim:
    """Claim an action for a service, and start its clock the first time.

    :param action: locked by :func:`lock_claimable`; its attributes are updated
    :param owner: the ID of the service
    :param now: the current time
    """
    values: dict[str, Any] = {
        'status': 'RUNNING',
        'owner': owner,
        'claims': action.claims + 1,
        'not_before': None,
        'blocked_on': None,
    }
    if action.start_time is None:
        values['start_time'] = now.timestamp()
        values['deadline'] = action.deadline or later(now, action.timeout)
    for name, value in values.items():
        orm.attributes.set_committed_value(action, name, value)
    statements.change(session, _CHANGE_LOCKED, {'_id': action.id, **values})
    return Claim(action.id, owner, action.claims)


def block(
    session: orm.Session,
    action_id: str,
    resource_id: str,
    retry_at: datetime.datetime,
) -> None:
    """Delay a locked action because another action holds a resource.

    :param resource_id: the ID of the resource whose release makes the action
        claimable at once
    :param retry_at: the time from which the action is claimable anyway
    """
    values = {'not_before': retry_at, 'blocked_on': resource_id}
    statements.change(session, _CHANGE_LOCKED, {'_id': action_id, **values})


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
    outputs: Mapping[str, Any] | None = None,
    *,
    has_locks: bool = True,
) -> tuple[bool, bool]:
    """End an action, drop its locks and wake the actions waiting for it.

    :param condition: the condition that the action must fulfill
    :param status: one of ``consts.ACTION_ENDS``
    :param has_locks: False if the action certainly holds no lock
    :returns: whether the action ended, and whether another action became ready
    """
    values: dict[str, Any] = {} if outputs is None else {'outputs': outputs}
    ended = update(
        session,
        condition,
        status=status,
        status_reason=reason,
        owner=None,
        blocked_on=None,
        not_before=None,
        end_time=now.timestamp(),
        **values,
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
