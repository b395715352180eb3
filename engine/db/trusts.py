# SPDX-License-Identifier: Apache-2.0
"""By which trust engines act for a user in a project, one for both.

A row is good until Keystone refuses its trust, and in use while the user has
something there or somebody waits for an action of the user's. What is not
used any more becomes a credential without a receiver, which is revoked as
those are (:mod:`engine.db.credentials`).
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import sqlalchemy
from sqlalchemy import String, orm

from engine.db import actions, clock, credentials, models, statements, types


class ProjectTrust(models.Base):
    """A trust of a user for a project.

    :ivar sealed: the trust, for :mod:`engine.delegations.box`
    :ivar roles: what it hands on, by name
    :ivar refused: whether Keystone did not honour it when last asked
    :ivar used_at: when the user asked for something, more or less
    """

    __tablename__ = 'project_trusts'
    __table_args__ = (
        sqlalchemy.UniqueConstraint('user', 'project'),
        models.TABLE_OPTIONS,
    )

    id: orm.Mapped[str] = orm.mapped_column(
        String(36), primary_key=True, default=models.new_id
    )
    user: orm.Mapped[str] = orm.mapped_column(String(64))
    project: orm.Mapped[str] = orm.mapped_column(String(64))
    sealed: orm.Mapped[str] = orm.mapped_column(String(1024))
    roles: orm.Mapped[Any] = orm.mapped_column(types.Json, nullable=False)
    refused: orm.Mapped[bool] = orm.mapped_column(default=False)
    used_at: orm.Mapped[models.Time] = orm.mapped_column(
        default=clock.utcnow()
    )


#: Where a user's things are.
_OWNED = (models.Cluster, models.Node, models.Receiver)

#: Seconds: not every request writes that there was one.
PRECISION = 300


def get(
    session: orm.Session, user: str | None, project: str | None
) -> ProjectTrust | None:
    """Return the trust of a user for a project."""
    return session.scalar(
        sqlalchemy.select(ProjectTrust).where(
            ProjectTrust.user == user, ProjectTrust.project == project
        )
    )


def replace(
    session: orm.Session, known: str | None, row: ProjectTrust
) -> bool:
    """Keep a trust in the place of another one, which is revoked.

    :param known: the ID of the other one; None: there was none
    :returns: whether it is kept: not if another engine was faster
    :raises oslo_db.exception.DBDuplicateEntry: likewise
    """
    if known is not None and not _retire(session, known):
        return False
    session.add(row)
    session.flush()
    return True


def touch(session: orm.Session, id_: str) -> bool:
    """Say that a trust is used now; tell whether there is it still."""
    statement = (
        sqlalchemy.update(ProjectTrust)
        .where(ProjectTrust.id == id_)
        .values(used_at=clock.utcnow())
    )
    return statements.change(session, statement) > 0


def refuse(session: orm.Session, id_: str) -> None:
    """Say that Keystone does not honour a trust: the next one is a new one."""
    statements.change(
        session,
        sqlalchemy.update(ProjectTrust)
        .where(ProjectTrust.id == id_)
        .values(refused=True),
    )


def retire_unused(session: orm.Session, seconds: float) -> int:
    """Have some trusts revoked that nothing uses.

    :param seconds: for which nobody has asked for anything with them
    :returns: how many there were
    """
    before = clock.now(session) - datetime.timedelta(seconds=seconds)
    found: Sequence[str] = session.scalars(
        sqlalchemy.select(ProjectTrust.id)
        .where(_is_unused(before))
        .limit(credentials.BATCH)
    ).all()
    return sum(_retire(session, id_, _is_unused(before)) for id_ in found)


def _retire(
    session: orm.Session, id_: str, *conditions: sqlalchemy.ColumnElement[bool]
) -> bool:
    row = session.scalar(
        sqlalchemy.select(ProjectTrust)
        .where(ProjectTrust.id == id_, *conditions)
        .with_for_update()
    )
    if row is None:
        return False
    credentials.add(session, row.id, row.sealed)
    session.delete(row)
    session.flush()
    return True


def _is_unused(before: datetime.datetime) -> sqlalchemy.ColumnElement[bool]:
    def used(model: Any, *more: Any) -> sqlalchemy.ColumnElement[bool]:
        return sqlalchemy.exists().where(
            model.user == ProjectTrust.user,
            model.project == ProjectTrust.project,
            *more,
        )

    action = models.Action
    return sqlalchemy.and_(
        ProjectTrust.used_at < before,
        *(~used(model) for model in _OWNED),
        ~used(action, action.status.in_(actions.UNFINISHED)),
    )
