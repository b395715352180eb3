# SPDX-License-Identifier: Apache-2.0
"""Statements about clusters."""

from __future__ import annotations

import sqlalchemy
from sqlalchemy import orm

from engine.db import clock, models, statements

_CLUSTER = statements.table(models.Cluster)

_COUNT = sqlalchemy.select(sqlalchemy.func.count()).select_from(_CLUSTER)

_COUNT_OF_PROJECT = _COUNT.where(
    _CLUSTER.c.project == sqlalchemy.bindparam('project')
)

_COUNT_OF_NOBODY = _COUNT.where(_CLUSTER.c.project.is_(None))


def get(session: orm.Session, cluster_id: str) -> models.Cluster | None:
    """Return a cluster as the database has it now."""
    return statements.row(session, models.Cluster, cluster_id)


def lock(session: orm.Session, cluster_id: str) -> models.Cluster | None:
    """Return a cluster that nobody else changes before we commit."""
    return statements.locked(session, models.Cluster, cluster_id)


def count_of_project(session: orm.Session, project: str | None) -> int:
    """Return how many clusters a project has."""
    query = _COUNT_OF_NOBODY if project is None else _COUNT_OF_PROJECT
    return session.scalar(query, {'project': project}) or 0


def count_of_profile(session: orm.Session, profile_id: str) -> int:
    """Return how many clusters use a profile."""
    return (
        session.scalar(
            sqlalchemy.select(sqlalchemy.func.count())
            .select_from(models.Cluster)
            .where(models.Cluster.profile_id == profile_id)
        )
        or 0
    )


def set_status(cluster: models.Cluster, status: str, reason: str) -> None:
    """Say what state a cluster is in, and why."""
    cluster.status = status
    cluster.status_reason = reason
    cluster.updated_at = clock.utcnow()
