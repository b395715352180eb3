# SPDX-License-Identifier: Apache-2.0
"""Run operations of profile types on a node or on a cluster's nodes."""

from __future__ import annotations

from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.actions import action_run
from engine.actions import clusters as steps
from engine.actions import nodes as node_steps
from engine.db import find, models, nodes
from engine.providers import base as providers
from vobjects.clustering.requests import nodes as requests

# NODE_OPERATION


def operate(job: action_run.Work) -> None:
    """Run an operation on a node's cloud object."""
    request = job.request
    view, profile = node_steps.begin(
        job, 'OPERATING', f"Operation '{request.operation}' in progress"
    )
    parameters = request.get('params') or {}
    try:
        kind, parameters = job.run.profile_types.check_operation(
            profile.type, request.operation, parameters
        )
        kind.operate(
            node_steps.cloud_of(job, view, profile),
            view,
            request.operation,
            parameters,
        )
    except providers.ProviderError as error:
        node_steps.fail(job, str(error))
        return

    def done(session: orm.Session) -> None:
        node = node_steps.existing(job, session)
        nodes.set_status(
            node, 'ACTIVE', f"Operation '{request.operation}' succeeded"
        )
        node_steps.look_at_cluster(job, session, node.cluster_id)
        job.succeed(
            session, f"Node operation '{request.operation}' succeeded."
        )

    job.write(done)


# CLUSTER_OPERATION


def operate_all(job: action_run.Work, session: orm.Session) -> None:
    """Derive operations on the nodes that match the filters."""
    request = job.request
    cluster = steps.begin(
        job,
        session,
        'OPERATING',
        f"Operation '{request.operation}' in progress",
    )
    children = [
        job.child(
            'NODE_OPERATION',
            node_id,
            requests.NodeOperationRequest(
                identity=node_id,
                operation=request.operation,
                params=request.get('params') or {},
            ),
        )
        for node_id in chosen(
            session, cluster.id, request.get('filters') or {}
        )
    ]
    steps.wait(job, session, children, operated)


def operated(job: action_run.Work, session: orm.Session) -> None:
    """Evaluate the nodes, and end the action."""
    operation = job.request.operation
    steps.finish(
        job,
        session,
        f"Cluster operation '{operation}' completed.",
        f"operation '{operation}' on",
    )


def chosen(
    session: orm.Session, cluster_id: str, filters: dict[str, Any]
) -> list[str]:
    """Return the IDs of the members that match the filters.

    :param filters: keys of ``consts.OPERATION_FILTERS``, each with the
        required value or a list of accepted values
    """
    query = (
        sqlalchemy.select(models.Node.id)
        .where(models.Node.cluster_id == cluster_id)
        .order_by(models.Node.index, models.Node.id)
    )
    for name, wanted in filters.items():
        values = wanted if isinstance(wanted, list) else [wanted]
        # The API shows '' for a node without a role.
        column = sqlalchemy.func.coalesce(getattr(models.Node, name), '')
        query = query.where(
            column.in_([text for text in values if find.is_storable(text)])
        )
    return list(session.scalars(query))
