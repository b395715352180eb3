# SPDX-License-Identifier: Apache-2.0
"""Registry of the clusters whose node health is monitored.

A cluster has a row while a health policy is attached to it. When a check is
due, an engine claims the row with one statement, and releases it after the
check. A row whose owner is no longer in the ledger is free again.
"""

from __future__ import annotations

import datetime

import sqlalchemy
from sqlalchemy import ForeignKey, Index, String, orm

from engine.db import actions, clock, models, statements


class HealthRegistration(models.Base):
    """A cluster whose nodes are checked periodically.

    :ivar interval: seconds between two checks
    :ivar due: the time of the next check
    :ivar owner: the ID of the service that runs the check
    """

    __tablename__ = 'health_registry'
    __table_args__ = (Index(None, 'enabled', 'due'), models.TABLE_OPTIONS)

    cluster_id: orm.Mapped[str] = orm.mapped_column(
        ForeignKey('clusters.id', ondelete='CASCADE'), primary_key=True
    )
    policy_id: orm.Mapped[str] = orm.mapped_column(String(36))
    enabled: orm.Mapped[bool]
    interval: orm.Mapped[float] = orm.mapped_column(sqlalchemy.Double)
    due: orm.Mapped[models.Time]
    owner: orm.Mapped[str | None] = orm.mapped_column(String(36))


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
    row = get(session, cluster_id) or HealthRegistration(cluster_id=cluster_id)
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
        sqlalchemy.delete(HealthRegistration).where(
            HealthRegistration.cluster_id == cluster_id
        ),
    )


def get(session: orm.Session, cluster_id: str) -> HealthRegistration | None:
    """Return the row of a cluster and lock it until the transaction ends."""
    return session.get(
        HealthRegistration,
        cluster_id,
        populate_existing=True,
        with_for_update=True,
    )


def due(session: orm.Session) -> str | None:
    """Return the ID of the cluster that has been due for longest."""
    return session.scalar(
        sqlalchemy.select(HealthRegistration.cluster_id)
        .where(_is_free())
        .order_by(HealthRegistration.due)
        .limit(1)
    )


def seconds_to_next(session: orm.Session) -> float | None:
    """Return the seconds until the next check is due.

    :returns: None if no cluster is enabled
    """
    time: datetime.datetime | None = session.scalar(
        sqlalchemy.select(sqlalchemy.func.min(HealthRegistration.due)).where(
            HealthRegistration.enabled.is_(True)
        )
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
    alive = sqlalchemy.exists().where(models.Service.id == owner)
    next_ = actions.later(clock.now(session), row.interval)
    claimed = statements.change(
        session,
        sqlalchemy.update(HealthRegistration)
        .where(HealthRegistration.cluster_id == cluster_id, _is_free(), alive)
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
    condition = HealthRegistration.owner == owner
    if cluster_id is not None:
        condition &= HealthRegistration.cluster_id == cluster_id
    statements.change(
        session,
        sqlalchemy.update(HealthRegistration)
        .where(condition)
        .values(owner=None),
    )


def _is_free() -> sqlalchemy.ColumnElement[bool]:
    living = sqlalchemy.select(models.Service.id)
    return sqlalchemy.and_(
        HealthRegistration.enabled.is_(True),
        HealthRegistration.due <= clock.utcnow(),
        sqlalchemy.or_(
            HealthRegistration.owner.is_(None),
            HealthRegistration.owner.not_in(living),
        ),
    )
