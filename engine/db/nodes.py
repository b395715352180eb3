# SPDX-License-Identifier: Apache-2.0
"""Query and change nodes."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy
from sqlalchemy import orm

from engine.db import clock, models, statements

_NODE = statements.table(models.Node)

_COUNT = (
    sqlalchemy.select(sqlalchemy.func.count())
    .select_from(_NODE)
    .where(_NODE.c.cluster_id == sqlalchemy.bindparam('cluster'))
)

_COUNT_OF_STATUS = _COUNT.where(
    _NODE.c.status == sqlalchemy.bindparam('wanted')
)

_OF_CLUSTER = (
    sqlalchemy.select(models.Node)
    .where(models.Node.cluster_id == sqlalchemy.bindparam('cluster'))
    .order_by(models.Node.index, models.Node.id)
    .execution_options(populate_existing=True)
)


def get(session: orm.Session, node_id: str) -> models.Node | None:
    """Return the committed state of a node."""
    return statements.row(session, models.Node, node_id)


def lock(session: orm.Session, node_id: str) -> models.Node | None:
    """Return a node and lock its row until the transaction ends."""
    return statements.locked(session, models.Node, node_id)


def of_cluster(session: orm.Session, cluster_id: str) -> Sequence[models.Node]:
    """Return the nodes of a cluster, sorted by index."""
    return session.scalars(_OF_CLUSTER, {'cluster': cluster_id}).all()


def with_other_profile(
    session: orm.Session, cluster_id: str, profile_id: str | None
) -> Sequence[models.Node]:
    """Return the nodes of a cluster that have another profile.

    :param profile_id: None for no nodes
    """
    if profile_id is None:
        return []
    return [
        node
        for node in of_cluster(session, cluster_id)
        if node.profile_id != profile_id
    ]


def count_of_cluster(
    session: orm.Session, cluster_id: str, *, status: str | None = None
) -> int:
    """Return the number of nodes in a cluster.

    Changes that the session has not flushed do not count.

    :param status: count only nodes in this status
    """
    query = _COUNT if status is None else _COUNT_OF_STATUS
    values = {'cluster': cluster_id, 'wanted': status}
    with session.no_autoflush:
        return session.scalar(query, values) or 0


def set_status(node: models.Node, status: str, reason: str) -> None:
    """Set the status of a node and its reason."""
    if status == 'ACTIVE' and node.created_at is None:
        node.created_at = clock.utcnow()
    node.status = status
    node.status_reason = reason
    node.updated_at = clock.utcnow()


def select_for_removal(
    members: Sequence[models.Node], count: int
) -> list[models.Node]:
    """Select the nodes to remove when a cluster shrinks.

    Nodes in a bad status and tainted nodes come first, then nodes that were
    never completed, then the newest.

    :param count: how many nodes to select
    """

    def worth(node: models.Node) -> tuple[bool, bool, int]:
        is_bad = node.status in ('ERROR', 'WARNING') or node.tainted
        return (not is_bad, node.created_at is not None, -node.index)

    return sorted(members, key=worth)[:count]
