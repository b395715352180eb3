# SPDX-License-Identifier: Apache-2.0
"""Clusters whose node health is monitored, and events about their servers.

A cluster has a row while a health policy is attached to it. When a check is
due, an engine claims the row with one statement, and releases it after the
check. A row whose owner is no longer in the ledger is free again.
"""

from __future__ import annotations

import datetime
import functools
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.db import actions, clock, models, statements

#: Seconds after which an unhandled event is deleted.
EVENT_RETENTION = 3600


def register(
    session: orm.Session,
    cluster_id: str,
    policy_id: str,
    *,
    interval: float,
    enabled: bool,
) -> None:
    """Register a cluster for health checks, starting after one interval.

    :param interval: seconds between two checks
    :param enabled: whether engines run the checks
    """
    row = get(session, cluster_id) or models.HealthRegistration(
        cluster_id=cluster_id
    )
    row.due = actions.later(clock.now(session), interval)
    row.policy_id = policy_id
    row.enabled = enabled
    row.interval = interval
    session.add(row)
    session.flush()


def unregister(session: orm.Session, cluster_id: str) -> None:
    """Stop the health checks of a cluster."""
    statements.change(
        session,
        sqlalchemy.delete(models.HealthRegistration).where(
            models.HealthRegistration.cluster_id == cluster_id
        ),
    )


def get(
    session: orm.Session, cluster_id: str
) -> models.HealthRegistration | None:
    """Return the row of a cluster and lock it until the transaction ends."""
    return session.get(
        models.HealthRegistration,
        cluster_id,
        populate_existing=True,
        with_for_update=True,
    )


def due(session: orm.Session, owner: str, most: int) -> str | None:
    """Return the ID of a cluster that is due for a check by a service.

    Of the projects, the one with the fewest claims of the service comes first,
    so that slow checks of one project do not delay those of others. Of its
    clusters, the one that has been due for longest comes first.

    :param owner: the ID of the service
    :param most: the maximum number of its claims for a project
    """
    cluster_id: str | None = session.scalar(
        _due(), {'owner': owner, 'most': most}
    )
    return cluster_id


@functools.cache
def _due() -> sqlalchemy.Select[Any]:
    """Return the statement of :func:`due`; to build it takes milliseconds."""
    row, cluster = models.HealthRegistration, models.Cluster
    claimed_row, claimed_cluster = orm.aliased(row), orm.aliased(cluster)
    claims = (
        sqlalchemy.select(sqlalchemy.func.count())
        .select_from(claimed_row)
        .join(claimed_cluster, claimed_cluster.id == claimed_row.cluster_id)
        .where(
            claimed_row.owner == sqlalchemy.bindparam('owner'),
            claimed_cluster.project.is_not_distinct_from(cluster.project),
        )
        .correlate(cluster)
        .scalar_subquery()
    )
    return (
        sqlalchemy.select(row.cluster_id)
        .join(cluster, cluster.id == row.cluster_id)
        .where(_is_free(), claims < sqlalchemy.bindparam('most'))
        .order_by(claims, row.due)
        .limit(1)
    )


def seconds_to_next(session: orm.Session) -> float | None:
    """Return the seconds until the next check is due.

    :returns: None if no cluster is enabled
    """
    time: datetime.datetime | None = session.scalar(
        sqlalchemy.select(
            sqlalchemy.func.min(models.HealthRegistration.due)
        ).where(models.HealthRegistration.enabled.is_(True))
    )
    if time is None:
        return None
    return (time - clock.now(session)).total_seconds()


def claim(session: orm.Session, cluster_id: str, owner: str) -> bool:
    """Claim a due cluster for a service, unless another one was faster.

    :param owner: the ID of a service; a service that the ledger does not list
        cannot claim anything
    :returns: whether the claim succeeded
    """
    row = get(session, cluster_id)
    if row is None:
        return False
    alive = sqlalchemy.exists().where(models.LEDGER.members.c.id == owner)
    next_ = actions.later(clock.now(session), row.interval)
    claimed = statements.change(
        session,
        sqlalchemy.update(models.HealthRegistration)
        .where(
            models.HealthRegistration.cluster_id == cluster_id,
            _is_free(),
            alive,
        )
        .values(owner=owner, due=next_),
    )
    return claimed > 0


def is_owned(session: orm.Session, cluster_id: str, owner: str) -> bool:
    """Tell whether a cluster is enabled and still claimed by ``owner``."""
    row = get(session, cluster_id)
    return row is not None and row.enabled and row.owner == owner


def release(
    session: orm.Session, owner: str, cluster_id: str | None = None
) -> None:
    """Release a service's claim on one cluster, or on all of them."""
    condition = models.HealthRegistration.owner == owner
    if cluster_id is not None:
        condition &= models.HealthRegistration.cluster_id == cluster_id
    statements.change(
        session,
        sqlalchemy.update(models.HealthRegistration)
        .where(condition)
        .values(owner=None),
    )


def _is_free() -> sqlalchemy.ColumnElement[bool]:
    living = sqlalchemy.select(models.LEDGER.members.c.id)
    return sqlalchemy.and_(
        models.HealthRegistration.enabled.is_(True),
        models.HealthRegistration.due <= clock.utcnow(),
        sqlalchemy.or_(
            models.HealthRegistration.owner.is_(None),
            models.HealthRegistration.owner.not_in(living),
        ),
    )


def add_event(session: orm.Session, server_id: str, type_: str) -> bool:
    """Store an event if it concerns a node under health monitoring.

    :returns: whether the event was stored
    """
    row = models.HealthRegistration
    concerned = session.scalar(
        sqlalchemy.select(models.Node.id)
        .join(row, row.cluster_id == models.Node.cluster_id)
        .where(models.Node.physical_id == server_id, row.enabled.is_(True))
        .limit(1)
    )
    if concerned is None:
        return False
    delete_old_events(session, models.LifecycleEvent)
    session.add(models.LifecycleEvent(server_id=server_id, type=type_))
    session.flush()
    return True


def delete_old_events(session: orm.Session, model: Any) -> None:
    """Delete the events that are older than :data:`EVENT_RETENTION` seconds.

    :param model: the mapped class of the events
    """
    since = clock.now(session) - datetime.timedelta(seconds=EVENT_RETENTION)
    statements.change(
        session, sqlalchemy.delete(model).where(model.created_at < since)
    )
