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
from collections.abc import Iterable

import sqlalchemy
from sqlalchemy import orm

from engine.db import models, statements


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
        # Locked as well, so that a release under way is either over or
        # comes after, and then finds who is blocked on it.
        held = session.scalars(
            sqlalchemy.select(models.Lock)
            .where(models.Lock.resource_id == want.resource_id)
            .with_for_update()
        ).all()
        if any(lock.action_id == action_id for lock in held):
            continue
        if any(want.exclusive or lock.exclusive for lock in held):
            return want.resource_id
        missing.append(want)
    for want in missing:
        session.add(
            models.Lock(
                resource_id=want.resource_id,
                action_id=action_id,
                exclusive=want.exclusive,
            )
        )
    session.flush()
    return None


def release(session: orm.Session, action_id: str) -> bool:
    """Drop an action's locks and let those go on that waited for them.

    :returns: whether an action may go on now
    """
    mine = list(
        session.scalars(
            sqlalchemy.select(models.Lock.resource_id).where(
                models.Lock.action_id == action_id
            )
        )
    )
    if not mine:
        return False
    statements.change(
        session,
        sqlalchemy.delete(models.Lock).where(
            models.Lock.action_id == action_id
        ),
    )
    return wake(session, mine)


def wake(session: orm.Session, resource_ids: Iterable[str]) -> bool:
    """Let actions go on that wait for one of these resources.

    :returns: whether there is one
    """
    woken = statements.change(
        session,
        sqlalchemy.update(models.Action)
        .where(
            models.Action.blocked_on.in_(list(resource_ids)),
            models.Action.status == 'READY',
        )
        .values(blocked_on=None, not_before=None),
    )
    return woken > 0


def holders(session: orm.Session, resource_id: str) -> list[str]:
    """Return the IDs of the actions that hold a resource."""
    return list(
        session.scalars(
            sqlalchemy.select(models.Lock.action_id).where(
                models.Lock.resource_id == resource_id
            )
        )
    )


def _enter(session: orm.Session, want: Want) -> bool:
    """Lock the resource's own row until the transaction ends."""
    found = session.scalar(
        sqlalchemy.select(want.kind.id)
        .where(want.kind.id == want.resource_id)
        .with_for_update()
    )
    return found is not None
