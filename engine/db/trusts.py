# SPDX-License-Identifier: Apache-2.0
"""Trusts by which engines act for a user in a project.

There is one trust for each user and project. A row is valid until Keystone
rejects its trust. It is in use while the user owns a resource in the project
or has an unfinished action there. An unused trust becomes a credential without
a receiver, and is revoked like the credentials of deleted receivers
(:mod:`engine.db.credentials`).
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.db import actions, clock, credentials, models, statements

#: Tables of the resources that users own.
_OWNED = (models.Cluster, models.Node, models.Receiver)

#: Seconds for which ``used_at`` may lag, so that not every request writes.
PRECISION = 300


def get(
    session: orm.Session, user: str | None, project: str | None
) -> models.ProjectTrust | None:
    """Return the trust of a user for a project."""
    return session.scalar(
        sqlalchemy.select(models.ProjectTrust).where(
            models.ProjectTrust.user == user,
            models.ProjectTrust.project == project,
        )
    )


def replace(
    session: orm.Session, replaced_id: str | None, row: models.ProjectTrust
) -> bool:
    """Store a trust in place of another one, which is then revoked.

    :param replaced_id: the ID of the replaced trust; None: there was none
    :returns: whether the trust was stored; False if another engine was faster
    :raises oslo_db.exception.DBDuplicateEntry: another engine was faster
    """
    if replaced_id is not None and not _retire(session, replaced_id):
        return False
    session.add(row)
    session.flush()
    return True


def touch(session: orm.Session, id_: str) -> bool:
    """Record the use of a trust, and tell whether it still exists."""
    statement = (
        sqlalchemy.update(models.ProjectTrust)
        .where(models.ProjectTrust.id == id_)
        .values(used_at=clock.utcnow())
    )
    return statements.change(session, statement) > 0


def mark_refused(session: orm.Session, id_: str) -> None:
    """Record that Keystone rejects a trust, so that it gets replaced."""
    statements.change(
        session,
        sqlalchemy.update(models.ProjectTrust)
        .where(models.ProjectTrust.id == id_)
        .values(refused=True),
    )


def retire_unused(session: orm.Session, seconds: float) -> int:
    """Retire a batch of unused trusts, so that they are revoked.

    :param seconds: the time without a request after which a trust is unused
    :returns: the number of retired trusts
    """
    before = clock.now(session) - datetime.timedelta(seconds=seconds)
    ids: Sequence[str] = session.scalars(
        sqlalchemy.select(models.ProjectTrust.id)
        .where(_is_unused(before))
        .limit(credentials.BATCH)
    ).all()
    return sum(_retire(session, id_, _is_unused(before)) for id_ in ids)


def _retire(
    session: orm.Session, id_: str, *conditions: sqlalchemy.ColumnElement[bool]
) -> bool:
    row = session.scalar(
        sqlalchemy.select(models.ProjectTrust)
        .where(models.ProjectTrust.id == id_, *conditions)
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
            model.user == models.ProjectTrust.user,
            model.project == models.ProjectTrust.project,
            *more,
        )

    action = models.Action
    return sqlalchemy.and_(
        models.ProjectTrust.used_at < before,
        *(~used(model) for model in _OWNED),
        ~used(action, action.status.in_(actions.UNFINISHED)),
    )
