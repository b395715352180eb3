# SPDX-License-Identifier: Apache-2.0
"""Query and change clusters."""

from __future__ import annotations

import sqlalchemy
from sqlalchemy import orm

from engine.db import clock, models, statements

_CLUSTER = statements.table(models.Cluster)


def get(session: orm.Session, cluster_id: str) -> models.Cluster | None:
    """Return the committed state of a cluster."""
    return statements.row(session, models.Cluster, cluster_id)


def lock(session: orm.Session, cluster_id: str) -> models.Cluster | None:
    """Return a cluster and lock its row until the transaction ends."""
    return statements.locked(session, models.Cluster, cluster_id)


def count_of_profile(session: orm.Session, profile_id: str) -> int:
    """Return the number of clusters that use a profile."""
    return (
        session.scalar(
            sqlalchemy.select(sqlalchemy.func.count())
            .select_from(models.Cluster)
            .where(models.Cluster.profile_id == profile_id)
        )
        or 0
    )


def set_status(cluster: models.Cluster, status: str, reason: str) -> None:
    """Set the status of a cluster and its reason."""
    cluster.status = status
    cluster.status_reason = reason
    cluster.updated_at = clock.utcnow()
