# SPDX-License-Identifier: Apache-2.0
"""Locks of actions on clusters and nodes.

A lock is a row that names its action. An action on a cluster holds the cluster
exclusively. An action that a user requests on a member holds the node
exclusively and shares the cluster. Actions derived from a cluster's action
hold only the node, because their parent holds the cluster for them.

Each decision is made while the transaction locks the target's own row, so that
two decisions never overlap. Locks are deleted only in the transaction that
ends their action.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import sqlalchemy
from sqlalchemy import orm

from engine.db import models, statements

_LOCK = statements.table(models.Lock)
_ACTION = statements.table(models.Action)

#: Locks these rows as well, so that a release in progress has either finished
#: or comes later and then finds the actions blocked on the resource.
_HELD = (
    sqlalchemy.select(_LOCK.c.action_id, _LOCK.c.exclusive)
    .where(_LOCK.c.resource_id == sqlalchemy.bindparam('resource'))
    .with_for_update()
)

_HOLDERS = (
    sqlalchemy.select(models.Action)
    .join(_LOCK, _LOCK.c.action_id == models.Action.id)
    .where(_LOCK.c.resource_id == sqlalchemy.bindparam('resource'))
    .order_by(models.Action.created_at, models.Action.id)
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
class LockRequest:
    """A lock that an action needs.

    :ivar kind: the mapped class of the resource
    :ivar exclusive: whether no other action may hold a lock at the same time
    """

    kind: type[models.Cluster] | type[models.Node]
    resource_id: str
    exclusive: bool = True


class Decision(NamedTuple):
    """Whether an action can take the locks that it needs.

    :ivar blocked_on: the ID of the resource that another action holds; None:
        the action can take all locks
    :ivar missing: rows of the locks that the action does not hold yet
    """

    blocked_on: str | None
    missing: Sequence[models.Lock] = ()


def decide(
    session: orm.Session, action_id: str, requests: Iterable[LockRequest]
) -> Decision:
    """Decide whether an action can take all locks.

    Until the transaction ends, no other transaction decides about these
    resources. A resource that was deleted needs no lock.

    :param requests: ordered as in every action, cluster before node
    """
    missing = []
    for request in requests:
        resource_id = request.resource_id
        if statements.locked(session, request.kind, resource_id) is None:
            continue
        held = session.execute(_HELD, {'resource': request.resource_id}).all()
        if any(holder == action_id for holder, _exclusive in held):
            continue
        if any(request.exclusive or exclusive for _holder, exclusive in held):
            return Decision(request.resource_id)
        missing.append(
            models.Lock(
                resource_id=request.resource_id,
                action_id=action_id,
                exclusive=request.exclusive,
            )
        )
    return Decision(None, missing)


def holders(session: orm.Session, resource_id: str) -> Sequence[models.Action]:
    """Return the actions that hold or share a resource, oldest first."""
    return session.scalars(_HOLDERS, {'resource': resource_id}).all()


def release(
    session: orm.Session, action_id: str, resource_ids: Collection[str]
) -> bool:
    """Delete an action's locks and wake the actions waiting for them.

    :param resource_ids: the resources that the action may have locked
    :returns: whether any action became claimable
    """
    if not statements.change(session, _RELEASE, {'action': action_id}):
        return False
    return wake(session, resource_ids)


def wake(session: orm.Session, resource_ids: Collection[str]) -> bool:
    """Make the actions claimable that are blocked on some resources.

    :returns: whether any action became claimable
    """
    ids = list(resource_ids)
    return statements.change(session, _WAKE, {'ids': ids}) > 0
