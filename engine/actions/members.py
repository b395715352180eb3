# SPDX-License-Identifier: Apache-2.0
"""Add, remove and replace the members of a cluster."""

from __future__ import annotations

import logging

from sqlalchemy import orm

from engine.actions import (
    action_run,
    deletion_hooks,
    node_steps,
    policy_checks,
)
from engine.actions import clusters as cluster_actions
from engine.db import clusters, models, nodes
from engine.providers import base as providers
from vobjects.clustering import errors
from vobjects.clustering.requests import nodes as requests

LOG = logging.getLogger(__name__)

# NODE_JOIN, NODE_LEAVE


def join(run: action_run.ActionRun) -> None:
    """Add a node to a cluster."""
    run.write(lambda session: _join(run, session))
    _update_metadata(run)
    run.write(
        lambda session: run.succeed(
            session, 'Node successfully joined cluster.'
        )
    )


def _join(run: action_run.ActionRun, session: orm.Session) -> None:
    cluster = clusters.lock(session, run.request.cluster_id)
    node = nodes.lock(session, run.action.target)
    if cluster is None or node is None:
        raise errors.ResourceNotFound('The node or the cluster is gone.')
    if node.cluster_id not in (None, cluster.id):
        raise errors.ResourceInUse(
            f'Nodes {[node.id]} already owned by some cluster.'
        )
    if node.cluster_id is None:
        node.cluster_id = cluster.id
        node.index = cluster.next_index
        cluster.next_index += 1
        nodes.set_status(node, node.status, 'Node joined a cluster')


def leave(run: action_run.ActionRun) -> None:
    """Remove a node from its cluster."""
    run.write(lambda session: _leave(run, session))
    _update_metadata(run)
    run.write(
        lambda session: run.succeed(session, 'Node successfully left cluster.')
    )


def _leave(run: action_run.ActionRun, session: orm.Session) -> None:
    node = nodes.lock(session, run.action.target)
    if node is None:
        raise errors.ResourceNotFound('The node is gone.')
    if node.cluster_id == run.action.cluster_id:
        node.cluster_id = None
        node.index = -1
        nodes.set_status(node, node.status, 'Node left its cluster')


def _update_metadata(run: action_run.ActionRun) -> None:
    """Update the cluster metadata of the node's cloud object.

    A failure is only logged, because the membership has changed already.
    """
    node = node_steps.begin(run)
    if not node.view.physical_id:
        return
    try:
        node.profile_type.update_membership(node.cloud(run.cloud), node.view)
    except providers.ProviderError as error:
        LOG.warning(
            'Could not update the cluster metadata of node %s: %s',
            node.view.id,
            error,
        )


# CLUSTER_ADD_NODES


def add(run: action_run.ActionRun, session: orm.Session) -> None:
    """Derive actions that add the nodes."""
    cluster = cluster_actions.begin(run, session, 'RESIZING', 'Adding nodes')
    cluster_actions.wait(
        run, session, _joins(run, cluster.id, run.request.nodes), added
    )


def added(run: action_run.ActionRun, session: orm.Session) -> None:
    """Evaluate the nodes, and end the action."""
    cluster_actions.finish(
        run, session, 'Completed adding nodes.', 'adding', counts=True
    )


# CLUSTER_DEL_NODES


def remove(run: action_run.ActionRun, session: orm.Session) -> None:
    """Derive actions that remove or delete the nodes."""
    cluster = cluster_actions.begin(run, session, 'RESIZING', 'Removing nodes')
    node_ids = set(run.request.nodes)
    members = [
        node
        for node in nodes.of_cluster(session, cluster.id)
        if node.id in node_ids
    ]
    decided = policy_checks.decisions(run, 'deletion')
    destroys = run.request.get('destroy_after_deletion')
    if decided.get('destroy_after_deletion', destroys):
        children = cluster_actions.deletions(run, members)
    else:
        children = cluster_actions.removals(run, members)
    deletion_hooks.delay_children(run, session, children)
    cluster_actions.wait(run, session, children, removed)


def removed(run: action_run.ActionRun, session: orm.Session) -> None:
    """Evaluate the remaining nodes, and end the action."""
    decided = policy_checks.decisions(run, 'deletion')
    cluster_actions.finish(
        run,
        session,
        'Completed deleting nodes.',
        'deleting',
        counts=decided.get('reduce_desired_capacity', True),
    )


# CLUSTER_REPLACE_NODES


def replace(run: action_run.ActionRun, session: orm.Session) -> None:
    """Derive actions that remove the old nodes."""
    cluster = cluster_actions.begin(
        run, session, 'RESIZING', 'Replacing nodes'
    )
    leaving = [
        node
        for node in nodes.of_cluster(session, cluster.id)
        if node.id in run.request.nodes
    ]
    cluster_actions.wait(
        run, session, cluster_actions.removals(run, leaving), refill
    )


def refill(run: action_run.ActionRun, session: orm.Session) -> None:
    """Derive actions that add the new nodes."""
    failures = run.failures(session)
    if failures:
        cluster_actions.finish(run, session, '', 'replacing')
        return
    joining = list(run.request.nodes.values())
    cluster_actions.wait(
        run, session, _joins(run, run.action.target, joining), replaced
    )


def replaced(run: action_run.ActionRun, session: orm.Session) -> None:
    """Evaluate the nodes, and end the action."""
    cluster_actions.finish(
        run, session, 'Completed replacing nodes.', 'replacing'
    )


def _joins(
    run: action_run.ActionRun, cluster_id: str, node_ids: list[str]
) -> list[models.Action]:
    return run.children(
        'NODE_JOIN',
        requests.NodeJoinRequest,
        node_ids,
        cluster_id=cluster_id,
    )
