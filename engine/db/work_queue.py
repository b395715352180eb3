# SPDX-License-Identifier: Apache-2.0
"""Find actions that are ready to run, and claim them."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.db import actions, clock, models, statements

_ACTION = statements.table(models.Action)
_SERVICE = models.LEDGER.members


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
            _ACTION.c.status.in_(actions.CLAIMABLE),
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
        _ACTION.c.status.in_(actions.CLAIMABLE),
        _is_due(),
        sqlalchemy.exists().where(
            _SERVICE.c.id == sqlalchemy.bindparam('_owner')
        ),
    )
    .with_for_update(skip_locked=True)
    .execution_options(populate_existing=True)
)

#: Changes an action whose row this transaction has locked.
_CHANGE_LOCKED = actions.conditional_update(
    _ACTION.c.id == sqlalchemy.bindparam('_id')
)


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
) -> actions.Claim:
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
        values['deadline'] = action.deadline or actions.later(
            now, action.timeout
        )
    for name, value in values.items():
        orm.attributes.set_committed_value(action, name, value)
    statements.change(session, _CHANGE_LOCKED, {'_id': action.id, **values})
    return actions.Claim(action.id, owner, action.claims)


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
