# SPDX-License-Identifier: Apache-2.0
"""Which action works on which cluster or node.

A lock is a row that names its action. An action on a cluster holds the
cluster alone; an action that a request asked for on a member holds the node
alone and shares the cluster. Actions that a cluster's action derived hold
the node only: their parent holds the cluster for them.

Every decision is made while the target's own row is locked by the
transaction, so that two of them never overlap. Locks go in the transaction
that ends their action, and never by anything else.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterable
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.db import models, statements

_LOCK = statements.table(models.Lock)
_ACTION = statements.table(models.Action)

#: Locked as well, so that a release under way is either over or comes after,
#: and then finds who is blocked on it.
_HELD = (
    sqlalchemy.select(_LOCK.c.action_id, _LOCK.c.exclusive)
    .where(_LOCK.c.resource_id == sqlalchemy.bindparam('resource'))
    .with_for_update()
)

_MINE = sqlalchemy.select(_LOCK.c.resource_id).where(
    _LOCK.c.action_id == sqlalchemy.bindparam('action')
)

_RELEASE = sqlalchemy.delete(_LOCK).where(
    _LOCK.c.action_id == sqlalchemy.bindparam('action')
)

_WAKE = (
    sqlalchemy.update(_ACTION)
    .where(
        _ACTION.c.blocked_on.in_(statements.IDS), _ACTION.c.status == 'READY'
    )
    .values(blocked_on=None, not_before=None)
)


@dataclasses.dataclass(frozen=True, slots=True)
class Want:
    """A lock that an action needs.

    :ivar kind: the table of the resource
    :ivar exclusive: whether nobody else may hold one at the same time
    """

    kind: type[models.Cluster] | type[models.Node]
    resource_id: str
    exclusive: bool = True


def acquire(
    session: orm.Session, action_id: str, wants: Iterable[Want]
) -> str | None:
    """Take all locks, or none.

    What the action holds already stays as it is; a resource that is gone
    needs no lock.

    :param wants: in the order in which every action asks: cluster, node
    :returns: None, or the ID of the resource that somebody else has
    """
    missing = []
    for want in wants:
        if not _enter(session, want):
            continue
        held = session.execute(_HELD, {'resource': want.resource_id}).all()
        if any(holder == action_id for holder, _exclusive in held):
            continue
        if any(want.exclusive or exclusive for _holder, exclusive in held):
            return want.resource_id
        missing.append(
            models.Lock(
                resource_id=want.resource_id,
                action_id=action_id,
                exclusive=want.exclusive,
            )
        )
    statements.insert(session, missing)
    return None


def release(session: orm.Session, action_id: str) -> bool:
    """Drop an action's locks and let those go on that waited for them.

    :returns: whether an action may go on now
    """
    mine = {'action': action_id}
    held = session.scalars(_MINE, mine).all()
    if not held:
        return False
    statements.change(session, _RELEASE, mine)
    return wake(session, held)


def wake(session: orm.Session, resource_ids: Collection[str]) -> bool:
    """Let actions go on that wait for one of these resources.

    :returns: whether there is one
    """
    ids = list(resource_ids)
    return statements.change(session, _WAKE, {'ids': ids}) > 0


def _enter(session: orm.Session, want: Want) -> bool:
    """Lock the resource's own row until the transaction ends."""
    query = _entrance(want.kind)
    return session.scalar(query, {'resource': want.resource_id}) is not None


@functools.cache
def _entrance(kind: type[Any]) -> sqlalchemy.Select[Any]:
    rows = statements.table(kind)
    return (
        sqlalchemy.select(rows.c.id)
        .where(rows.c.id == sqlalchemy.bindparam('resource'))
        .with_for_update()
    )
