# SPDX-License-Identifier: Apache-2.0
"""Query and change clusters, and query the policies attached to them."""

from __future__ import annotations

import sqlalchemy
from sqlalchemy import orm

from engine.db import clock, models, statements

#: A binding with its policy.
Bound = tuple[models.ClusterPolicy, models.Policy]

_BINDINGS = (
    sqlalchemy.select(models.ClusterPolicy, models.Policy)
    .join(models.Policy, models.Policy.id == models.ClusterPolicy.policy_id)
    .where(models.ClusterPolicy.cluster_id == sqlalchemy.bindparam('cluster'))
    .order_by(models.ClusterPolicy.priority, models.ClusterPolicy.id)
    .execution_options(populate_existing=True)
)

_ENABLED_BINDINGS = _BINDINGS.where(models.ClusterPolicy.enabled.is_(True))


def get(session: orm.Session, cluster_id: str) -> models.Cluster | None:
    """Return the committed state of a cluster."""
    return statements.row(session, models.Cluster, cluster_id)


def lock(session: orm.Session, cluster_id: str) -> models.Cluster | None:
    """Return a cluster and lock its row until the transaction ends."""
    return statements.locked(session, models.Cluster, cluster_id)


def set_status(cluster: models.Cluster, status: str, reason: str) -> None:
    """Set the status of a cluster and its reason."""
    cluster.status = status
    cluster.status_reason = reason
    cluster.updated_at = clock.utcnow()


def get_binding(
    session: orm.Session, cluster_id: str, policy_id: str
) -> models.ClusterPolicy | None:
    """Return the binding of a policy to a cluster."""
    return session.scalar(
        sqlalchemy.select(models.ClusterPolicy)
        .where(
            models.ClusterPolicy.cluster_id == cluster_id,
            models.ClusterPolicy.policy_id == policy_id,
        )
        .execution_options(populate_existing=True)
    )


def bindings(
    session: orm.Session, cluster_id: str, *, enabled_only: bool = False
) -> list[Bound]:
    """Return the bindings of a cluster, lowest priority number first."""
    query = _ENABLED_BINDINGS if enabled_only else _BINDINGS
    rows = session.execute(query, {'cluster': cluster_id})
    return [(row[0], row[1]) for row in rows]
