# SPDX-License-Identifier: Apache-2.0
"""Query the policies attached to clusters."""

from __future__ import annotations

import sqlalchemy
from sqlalchemy import orm

from engine.db import models

BINDING = models.ClusterPolicy

#: A binding with its policy.
Bound = tuple[models.ClusterPolicy, models.Policy]

_BOUND = (
    sqlalchemy.select(BINDING, models.Policy)
    .join(models.Policy, models.Policy.id == BINDING.policy_id)
    .where(BINDING.cluster_id == sqlalchemy.bindparam('cluster'))
    .order_by(BINDING.priority, BINDING.id)
    .execution_options(populate_existing=True)
)

_ENABLED = _BOUND.where(BINDING.enabled.is_(True))


def get(
    session: orm.Session, cluster_id: str, policy_id: str
) -> models.ClusterPolicy | None:
    """Return the binding of a policy to a cluster."""
    return session.scalar(
        sqlalchemy.select(BINDING)
        .where(
            BINDING.cluster_id == cluster_id, BINDING.policy_id == policy_id
        )
        .execution_options(populate_existing=True)
    )


def of_cluster(
    session: orm.Session, cluster_id: str, *, enabled_only: bool = False
) -> list[Bound]:
    """Return the bindings of a cluster, lowest priority number first."""
    query = _ENABLED if enabled_only else _BOUND
    rows = session.execute(query, {'cluster': cluster_id})
    return [(row[0], row[1]) for row in rows]


def count_of_policy(session: orm.Session, policy_id: str) -> int:
    """Return the number of clusters that a policy is attached to."""
    return (
        session.scalar(
            sqlalchemy.select(sqlalchemy.func.count())
            .select_from(BINDING)
            .where(BINDING.policy_id == policy_id)
        )
        or 0
    )
