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


@dataclasses.dataclass(frozen=True, slots=True)
class Claim:
    """The right to run an action.

    :ivar owner: the ID of the service
    :ivar number: how often the action has been claimed
    """

    action_id: str
    owner: str
    number: int

    def condition(self) -> sqlalchemy.ColumnElement[bool]:
        """Return the condition under which the claim is good."""
        return sqlalchemy.and_(
            models.Action.id == self.action_id,
            models.Action.status == 'RUNNING',
            models.Action.owner == self.owner,
            models.Action.claims == self.number,
        )


def update(
    session: orm.Session,
    condition: sqlalchemy.ColumnElement[bool],
    **values: Any,
) -> bool:
    """Change actions that fulfil a condition; tell whether one did."""
    changed = statements.change(
        session,
        sqlalchemy.update(models.Action)
        .where(condition)
        .values(updated_at=clock.utcnow(), **values),
    )
    return changed > 0


def get(session: orm.Session, action_id: str) -> models.Action | None:
    """Return an action as the database has it now."""
    return session.get(models.Action, action_id, populate_existing=True)


def lock(session: orm.Session, action_id: str) -> models.Action | None:
    """Return an action that nobody else changes before we commit."""
    return session.get(
        models.Action, action_id, populate_existing=True, with_for_update=True
    )


# Finding work


def candidates(
    session: orm.Session, limit: int, excluded: Collection[str] = ()
) -> list[str]:
    """Return IDs of actions that may be claimed now, the oldest first.

    :param excluded: IDs that the caller does not want
    """
    query = (
        sqlalchemy.select(models.Action.id)
        .where(models.Action.status.in_(CLAIMABLE), _is_due())
        .order_by(models.Action.created_at, models.Action.id)
        .limit(limit)
    )
    if excluded:
        query = query.where(models.Action.id.not_in(list(excluded)))
    return list(session.scalars(query))


def claim(
    session: orm.Session, action_id: str, owner: str
) -> tuple[Claim, models.Action] | None:
    """Make a ready action ``owner``'s, if nobody was faster.

    :param owner: the ID of a service that the ledger knows; one that was
        given up gets nothing
    """
    alive = sqlalchemy.exists().where(models.Service.id == owner)
    is_mine = update(
        session,
        sqlalchemy.and_(
            models.Action.id == action_id,
            models.Action.status.in_(CLAIMABLE),
            _is_due(),
            alive,
        ),
        status='RUNNING',
        owner=owner,
        claims=models.Action.claims + 1,
        not_before=None,
        blocked_on=None,
    )
    if not is_mine:
        return None
    action = get(session, action_id)
    assert action is not None
    return Claim(action_id, owner, action.claims), action


def start(session: orm.Session, action: models.Action) -> bool:
    """Let an action's time run; tell whether it did not run yet."""
    if action.start_time is not None:
        return False
    now = clock.now(session)
    action.start_time = now.timestamp()
    if action.deadline is None:
        action.deadline = later(now, action.timeout)
    session.flush()
    return True


def _is_due() -> sqlalchemy.ColumnElement[bool]:
    return sqlalchemy.or_(
        models.Action.not_before.is_(None),
        models.Action.not_before <= clock.utcnow(),
    )


def later(time: datetime.datetime, seconds: float) -> datetime.datetime:
    """Return a time so many seconds later, or the last one there is."""
    try:
        return time + datetime.timedelta(seconds=seconds)
    except OverflowError:
        return datetime.datetime.max.replace(tzinfo=datetime.UTC)


# With a claim


def hold(session: orm.Session, claimed: Claim) -> None:
    """Keep the action from being taken away until the transaction ends.

    :raises ClaimLostError: it has been taken away
    """
    if not update(session, claimed.condition()):
        raise ClaimLostError(claimed.action_id)


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
        sqlalchemy.and_(
            models.Action.id == action_id,
            models.Action.status == consts.WAITING_LIFECYCLE,
        ),
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
    ids = []
    for child in children:
        session.add(child)
        ids.append(child.id)
    session.flush()
    session.add_all(
        models.ActionDependency(depended=id_, dependent=claimed.action_id)
        for id_ in ids
    )
    session.flush()


# Ends


def end(
    session: orm.Session,
    action_id: str,
    condition: sqlalchemy.ColumnElement[bool],
    status: str,
    reason: str,
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
        sqlalchemy.and_(models.Action.id == action_id, condition),
        status=status,
        status_reason=reason,
        owner=None,
        blocked_on=None,
        not_before=None,
        end_time=clock.now(session).timestamp(),
        **values,
    )
    if not ended:
        return False, False
    woken = locks.release(session, action_id)
    for parent in dependencies.parents(session, action_id):
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
