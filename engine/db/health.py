# SPDX-License-Identifier: Apache-2.0
"""The clusters whose nodes are looked at, and which engine does so now.

A row is there while a health policy is attached. An engine claims it with
one statement when it is due, and gives it back after the look; what an
engine holds that the ledger does not know any more is free again.
"""

from __future__ import annotations

import datetime

import sqlalchemy
from sqlalchemy import ForeignKey, Index, String, orm

from engine.db import actions, clock, models, statements


class Registered(models.Base):
    """A cluster whose nodes are looked at.

    :ivar interval: seconds between two looks
    :ivar due: when the next one is
    :ivar owner: the service that is looking
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
    """Have a cluster looked at from one interval on, or not if disabled."""
    row = get(session, cluster_id) or Registered(cluster_id=cluster_id)
    row.due = actions.later(clock.now(session), interval)
    row.policy_id = policy_id
    row.enabled = enabled
    row.interval = interval
    session.add(row)
    session.flush()


def unregister(session: orm.Session, cluster_id: str) -> None:
    """Have a cluster looked at no more."""
    statements.change(
        session,
        sqlalchemy.delete(Registered).where(
            Registered.cluster_id == cluster_id
        ),
    )


def get(session: orm.Session, cluster_id: str) -> Registered | None:
    """Return the row of a cluster, locked until the transaction ends."""
    return session.get(
        Registered, cluster_id, populate_existing=True, with_for_update=True
    )


def due(session: orm.Session) -> str | None:
    """Return the ID of the cluster that has been due for longest."""
    return session.scalar(
        sqlalchemy.select(Registered.cluster_id)
        .where(_is_free())
        .order_by(Registered.due)
        .limit(1)
    )


def seconds_to_next(session: orm.Session) -> float | None:
    """Return in how many seconds a cluster is due; None: there is none."""
    time: datetime.datetime | None = session.scalar(
        sqlalchemy.select(sqlalchemy.func.min(Registered.due)).where(
            Registered.enabled.is_(True)
        )
    )
    if time is None:
        return None
    return (time - clock.now(session)).total_seconds()


def claim(session: orm.Session, cluster_id: str, owner: str) -> bool:
    """Make a cluster that is due ``owner``'s, if nobody was faster.

    :param owner: the ID of a service; one that was given up gets nothing
    """
    row = get(session, cluster_id)
    if row is None:
        return False
    alive = sqlalchemy.exists().where(models.Service.id == owner)
    next_ = actions.later(clock.now(session), row.interval)
    claimed = statements.change(
        session,
        sqlalchemy.update(Registered)
        .where(Registered.cluster_id == cluster_id, _is_free(), alive)
        .values(owner=owner, due=next_),
    )
    return claimed > 0


def is_owned(session: orm.Session, cluster_id: str, owner: str) -> bool:
    """Tell whether a cluster is still to be looked at, and by ``owner``."""
    row = get(session, cluster_id)
    return row is not None and row.enabled and row.owner == owner


def release(
    session: orm.Session, owner: str, cluster_id: str | None = None
) -> None:
    """Leave a cluster, or all of them, to whoever claims it next."""
    condition = Registered.owner == owner
    if cluster_id is not None:
        condition &= Registered.cluster_id == cluster_id
    statements.change(
        session,
        sqlalchemy.update(Registered).where(condition).values(owner=None),
    )


def _is_free() -> sqlalchemy.ColumnElement[bool]:
    living = sqlalchemy.select(models.Service.id)
    return sqlalchemy.and_(
        Registered.enabled.is_(True),
        Registered.due <= clock.utcnow(),
        sqlalchemy.or_(
            Registered.owner.is_(None), Registered.owner.not_in(living)
        ),
    )
