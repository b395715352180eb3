# SPDX-License-Identifier: Apache-2.0
"""Quotas of projects, enforced also for concurrent requests."""

from __future__ import annotations

import functools
from typing import Any

import sqlalchemy
from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine.db import database, models, statements
from vobjects.clustering import errors

_PROJECT = statements.table(models.Project)

#: Key in a session's ``info``: the projects that its transaction has locked.
_LOCKED = 'vobjects_locked_projects'

_LOCK = (
    sqlalchemy.select(_PROJECT.c.id)
    .where(_PROJECT.c.id == sqlalchemy.bindparam('project'))
    .with_for_update()
)


def check(
    session: orm.Session,
    model: type[models.Base],
    project: str | None,
    limit: int,
    more: int | None = None,
) -> None:
    """Enforce a quota.

    From then until the commit, other such transactions of the project wait;
    see :func:`check_last`.

    :param model: the mapped class of the resource
    :param limit: the maximum number of its rows in a project
    :param more: the number of rows to add; None: one has been added
    :raises vobjects.clustering.errors.OverQuota: the quota is exceeded; the
        message states all numbers
    """
    if more is not None and more <= 0:
        return
    _lock(session, project)
    session.flush()
    query = _count(model, is_none=project is None)
    present = session.scalar(query, {'project': project}) or 0
    if present + (more or 0) <= limit:
        return
    needs = '' if more is None else f', and needs {more} more'
    raise errors.OverQuota(
        'Quota exceeded for resources. The project has'
        f' {present - (more is None)} {model.__tablename__}{needs}; it may'
        f' have {limit}.'
    )


def check_last(session: orm.Session, *arguments: Any) -> None:
    """Call :func:`check` at the end of the transaction.

    Other transactions of the project then wait only for the commit.
    """
    database.before_commit(session, lambda last: check(last, *arguments))


@functools.cache
def _count(
    model: type[models.Base], *, is_none: bool
) -> sqlalchemy.Select[Any]:
    """Return the statement that counts the rows of a project."""
    rows = statements.table(model)
    query = sqlalchemy.select(sqlalchemy.func.count()).select_from(rows)
    if is_none:
        return query.where(rows.c.project.is_(None))
    return query.where(rows.c.project == sqlalchemy.bindparam('project'))


def _lock(session: orm.Session, project: str | None) -> None:
    """Lock the project's row until the transaction ends."""
    id_ = project or ''
    locked: set[str] = session.info.setdefault(_LOCKED, set())
    if id_ in locked:
        return
    if session.scalar(_LOCK, {'project': id_}) is None:
        try:
            with session.begin_nested():
                session.add(models.Project(id=id_))
        except oslo_db_exception.DBDuplicateEntry:
            # The transaction that was faster has committed, so its row can be
            # locked.
            session.scalar(_LOCK, {'project': id_})
    locked.add(id_)
