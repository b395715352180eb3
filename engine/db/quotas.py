# SPDX-License-Identifier: Apache-2.0
"""What a project may have at most, however many ask at the same time."""

from __future__ import annotations

import sqlalchemy
from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine.db import clusters, models, statements
from vobjects.clustering import errors

_PROJECT = statements.table(models.Project)

_LOCK = (
    sqlalchemy.select(_PROJECT.c.id)
    .where(_PROJECT.c.id == sqlalchemy.bindparam('project'))
    .with_for_update()
)


def check_clusters(
    session: orm.Session, project: str | None, limit: int
) -> None:
    """Refuse to commit one cluster too many.

    Call it at the end of the transaction that adds one: others of the same
    project wait from here to its commit.

    :param limit: most clusters a project may have
    :raises vobjects.clustering.errors.OverQuota: naming both numbers
    """
    _lock(session, project)
    present = clusters.count_of_project(session, project)
    if present > limit:
        raise errors.OverQuota(
            'Quota exceeded for resources. The project has'
            f' {present - 1} clusters; it may have {limit}.'
        )


def _lock(session: orm.Session, project: str | None) -> None:
    """Let no other transaction pass here for the project until we commit."""
    id_ = project or ''
    if session.scalar(_LOCK, {'project': id_}) is not None:
        return
    try:
        with session.begin_nested():
            session.add(models.Project(id=id_))
    except oslo_db_exception.DBDuplicateEntry:
        # Who was faster has committed: its row can be locked.
        session.scalar(_LOCK, {'project': id_})
