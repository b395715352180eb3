# SPDX-License-Identifier: Apache-2.0
"""Run operations of profile types on a node or on a cluster's nodes."""

from __future__ import annotations

from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine import plugins
from engine.actions import action_run, node_steps
from engine.actions import clusters as cluster_actions
from engine.db import find, models, nodes
from engine.providers import base as providers
from vobjects.clustering.requests import nodes as requests

# NODE_OPERATION


def operate(run: action_run.ActionRun) -> None:
    """Run an operation on a node's cloud object."""
    request = run.request
    node = node_steps.begin(
        run, 'OPERATING', f"Operation '{request.operation}' in progress"
    )
    try:
        parameters = run.runtime.profile_types.check_operation(
            plugins.type_name(node.profile_type),
            request.operation,
            request.get('params') or {},
        )
        node.profile_type.operate(
            node.cloud(run.cloud), node.view, request.operation, parameters
        )
    except providers.ProviderError as error:
        node_steps.fail(run, str(error))
        return

    def finish(session: orm.Session) -> None:
        row = node_steps.get_node(run, session)
        nodes.set_status(
            row, 'ACTIVE', f"Operation '{request.operation}' succeeded"
        )
        node_steps.evaluate_own_cluster(run, session, row.cluster_id)
        run.succeed(
            session, f"Node operation '{request.operation}' succeeded."
        )

    run.write(finish)


# CLUSTER_OPERATION


def operate_all(run: action_run.ActionRun, session: orm.Session) -> None:
    """Derive operations on the nodes that match the filters."""
    request = run.request
    cluster = cluster_actions.begin(
        run,
        session,
        'OPERATING',
        f"Operation '{request.operation}' in progress",
    )
    filters = request.get('filters') or {}
    children = run.children(
        'NODE_OPERATION',
        requests.NodeOperationRequest,
        matching_nodes(session, cluster.id, filters),
        operation=request.operation,
        params=request.get('params') or {},
    )
    cluster_actions.wait(run, session, children, operated)


def operated(run: action_run.ActionRun, session: orm.Session) -> None:
    """Evaluate the nodes, and end the action."""
    operation = run.request.operation
    cluster_actions.finish(
        run,
        session,
        f"Cluster operation '{operation}' completed.",
        f"operation '{operation}' on",
    )


def matching_nodes(
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
    for name, node_ids in filters.items():
        values = node_ids if isinstance(node_ids, list) else [node_ids]
        # The API shows '' for a node without a role.
        column = sqlalchemy.func.coalesce(getattr(models.Node, name), '')
        query = query.where(
            column.in_([text for text in values if find.is_storable(text)])
        )
    return list(session.scalars(query))
