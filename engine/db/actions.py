# SPDX-License-Identifier: Apache-2.0
"""Statements about actions.

::

            submit                claim              end
    (none) -------> READY -----------------> RUNNING ---> SUCCEEDED
                     ^  ^                      |   |      FAILED
      last child     |  | give_back, requeue   |   |      CANCELLED
      ended  WAITING-'  '----------------------'   |
                ^            wait_for              |
                '----------------------------------'

``pause`` leads from RUNNING to READY as well, with a time before which nobody
claims the action; or to WAITING_LIFECYCLE_COMPLETION, out of which the action
is claimed when that time has come, and which ``let_go`` makes READY before.

Each arrow is one conditional UPDATE: who finds the action in another status
than expected changes nothing. A :class:`Claim` says who is running an action
and for the how-many-eth time: a worker whose engine was given up finds its
claim void, whatever it does next.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.db import clock, dependencies, locks, models, statements
from vobjects.clustering import consts

#: Statuses of an action that has not ended.
UNFINISHED = ('INIT', 'WAITING', 'READY', 'RUNNING', consts.WAITING_LIFECYCLE)

#: Those in which an action that is due is claimed.
CLAIMABLE = ('READY', consts.WAITING_LIFECYCLE)


class ClaimLostError(Exception):
    """The action is not this worker's any more: stop working on it."""


_ACTION = statements.table(models.Action)
_SERVICE = statements.table(models.Service)


@dataclasses.dataclass(frozen=True, slots=True)
class Condition:
    """What an action must fulfil to be changed.

    :ivar change: an UPDATE of those that fulfil it; made at import
    :ivar values: of its parameters
    """

    change: sqlalchemy.Update
    values: Mapping[str, Any]


def _change(*clauses: sqlalchemy.ColumnElement[bool]) -> sqlalchemy.Update:
    return (
        sqlalchemy.update(_ACTION)
        .where(*clauses)
        .values(updated_at=clock.utcnow())
    )


#: The parameters are not called as a column is: those are what is set.
_IS_CLAIMED = sqlalchemy.and_(
    _ACTION.c.id == sqlalchemy.bindparam('_id'),
    _ACTION.c.status == 'RUNNING',
    _ACTION.c.owner == sqlalchemy.bindparam('_owner'),
    _ACTION.c.claims == sqlalchemy.bindparam('_number'),
)

_CHANGE_CLAIMED = _change(_IS_CLAIMED)

_HOLD = (
    sqlalchemy.select(clock.utcnow())
    .select_from(_ACTION)
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
    :ivar number: how often the action has been claimed
    """

    action_id: str
    owner: str
    number: int

    def condition(self) -> Condition:
        """Return the condition under which the claim is good."""
        return Condition(_CHANGE_CLAIMED, self.values())

    def values(self) -> dict[str, Any]:
        """Return what a statement has to know of it."""
        return {
            '_id': self.action_id,
            '_owner': self.owner,
            '_number': self.number,
        }


def is_unfinished(action_id: str) -> Condition:
    """Return the condition of an action's not having ended."""
    return Condition(_CHANGE_UNFINISHED, {'_id': action_id})


def update(session: orm.Session, condition: Condition, **values: Any) -> bool:
    """Change the action that fulfils a condition; tell whether it did.

    :param values: of columns
    """
    changed = statements.change(
        session, condition.change, {**condition.values, **values}
    )
    return changed > 0


def get(session: orm.Session, action_id: str) -> models.Action | None:
    """Return an action as the database has it now."""
    return statements.row(session, models.Action, action_id)


def lock(session: orm.Session, action_id: str) -> models.Action | None:
    """Return an action that nobody else changes before we commit."""
    return statements.locked(session, models.Action, action_id)


# Finding work


def _is_due() -> sqlalchemy.ColumnElement[bool]:
    return sqlalchemy.or_(
        _ACTION.c.not_before.is_(None),
        _ACTION.c.not_before <= clock.utcnow(),
    )


_CANDIDATES = (
    sqlalchemy.select(_ACTION.c.id)
    .where(
        _ACTION.c.status.in_(CLAIMABLE),
        _is_due(),
        _ACTION.c.id.not_in(statements.IDS),
    )
    .order_by(_ACTION.c.created_at, _ACTION.c.id)
    .limit(sqlalchemy.bindparam('most'))
)

_CLAIM = _change(
    _ACTION.c.id == sqlalchemy.bindparam('_id'),
    _ACTION.c.status.in_(CLAIMABLE),
    _is_due(),
    sqlalchemy.exists().where(_SERVICE.c.id == sqlalchemy.bindparam('_owner')),
).values(
    status='RUNNING',
    owner=sqlalchemy.bindparam('_owner'),
    claims=_ACTION.c.claims + 1,
    not_before=None,
    blocked_on=None,
)

#: An action, and the time.
_CLAIMED = (
    sqlalchemy.select(models.Action, clock.utcnow())
    .where(models.Action.id == sqlalchemy.bindparam('_id'))
    .execution_options(populate_existing=True)
)


def candidates(
    session: orm.Session, limit: int, excluded: Collection[str] = ()
) -> list[str]:
    """Return IDs of actions that may be claimed now, the oldest first.

    :param excluded: IDs that the caller does not want
    """
    values = {'most': limit, 'ids': list(excluded)}
    return list(session.scalars(_CANDIDATES, values))


def claim(
    session: orm.Session, action_id: str, owner: str
) -> tuple[Claim, models.Action, datetime.datetime] | None:
    """Make a ready action ``owner``'s, if nobody was faster.

    :param owner: the ID of a service that the ledger knows; one that was
        given up gets nothing
    :returns: also the time of that
    """
    values = {'_id': action_id, '_owner': owner}
    if not statements.change(session, _CLAIM, values):
        return None
    action, now = session.execute(_CLAIMED, values).one()
    return Claim(action_id, owner, action.claims), action, now


def start(
    session: orm.Session,
    claimed: Claim,
    action: models.Action,
    now: datetime.datetime,
) -> bool:
    """Let an action's time run; tell whether it did not run yet."""
    if action.start_time is not None:
        return False
    values = {
        'start_time': now.timestamp(),
        'deadline': action.deadline or later(now, action.timeout),
    }
    for name, value in values.items():
        orm.attributes.set_committed_value(action, name, value)
    return update(session, claimed.condition(), **values)


def later(time: datetime.datetime, seconds: float) -> datetime.datetime:
    """Return a time so many seconds later, or the last one there is."""
    try:
        return time + datetime.timedelta(seconds=seconds)
    except OverflowError:
        return datetime.datetime.max.replace(tzinfo=datetime.UTC)


# With a claim


def hold(session: orm.Session, claimed: Claim) -> datetime.datetime:
    """Keep the action from being taken away until the transaction ends.

    :returns: the time
    :raises ClaimLostError: it has been taken away
    """
    now: datetime.datetime | None = session.scalar(_HOLD, claimed.values())
    if now is None:
        raise ClaimLostError(claimed.action_id)
    return now


def give_back(
    session: orm.Session,
    claimed: Claim,
    *,
    after: float = 0.0,
    blocked_on: str | None = None,
) -> bool:
    """Leave the action to whoever claims it next.

    :param after: seconds before which nobody should
    :param blocked_on: the resource whose release makes it claimable at once
    :returns: whether the claim was still good
    """
    not_before = None
    if after:
        not_before = later(clock.now(session), after)
    return update(
        session,
        claimed.condition(),
        status='READY',
        owner=None,
        not_before=not_before,
        blocked_on=blocked_on,
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
    """Let the action go on at ``stage`` when a time is over, its locks kept.

    :param status: one of :data:`CLAIMABLE`
    :param values: other columns to set
    :raises ClaimLostError: the action was taken away
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


def let_go(session: orm.Session, action_id: str, reason: str) -> bool:
    """End the waiting of an action for somebody to let it go on.

    :returns: whether it waited for that
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
    """Start children; the action goes on at ``stage`` when all have ended.

    :param children: new actions, READY
    :raises ClaimLostError: the action was taken away
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


# Ends


def end(
    session: orm.Session,
    action: models.Action,
    condition: Condition,
    status: str,
    reason: str,
    now: datetime.datetime,
    outputs: Mapping[str, Any] | None = None,
) -> tuple[bool, bool]:
    """End an action, drop its locks and wake who waited for it.

    :param condition: what the action must fulfil
    :param status: one of ``consts.ACTION_ENDS``
    :returns: whether it did, and whether an action became ready by it
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
    woken = locks.release(session, action.id)
    for parent in dependencies.parents(session, action):
        woken |= dependencies.resume_if_done(session, parent)
    return True, woken


# By target, by owner


def unfinished(session: orm.Session, target: str) -> Sequence[models.Action]:
    """Return the actions on a target that have not ended."""
    return session.scalars(
        sqlalchemy.select(models.Action)
        .where(
            models.Action.target == target,
            models.Action.status.in_(UNFINISHED),
        )
        .order_by(models.Action.created_at, models.Action.id)
        .execution_options(populate_existing=True)
    ).all()


def in_the_way(
    session: orm.Session, deletion: models.Action
) -> Sequence[models.Action]:
    """Return what a forced deletion has to end first."""
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


def claims_of(session: orm.Session, owner: str) -> list[Claim]:
    """Return the claims that a service has."""
    rows = session.execute(
        sqlalchemy.select(models.Action.id, models.Action.claims).where(
            models.Action.status == 'RUNNING', models.Action.owner == owner
        )
    )
    return [Claim(id_, owner, number) for id_, number in rows]


def forget(session: orm.Session, target: str, kind: str) -> None:
    """Delete what is recorded of ended actions of a kind on a target."""
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
    """Return running actions whose owner the ledger does not know."""
    owners = sqlalchemy.select(models.Service.id)
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
