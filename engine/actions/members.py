# SPDX-License-Identifier: Apache-2.0
"""Add, remove and replace the members of a cluster."""

from __future__ import annotations

import logging

from sqlalchemy import orm

from engine.actions import action_run, checks, deletion_hooks
from engine.actions import clusters as steps
from engine.actions import nodes as node_steps
from engine.db import clusters, models, nodes
from engine.providers import base as providers
from vobjects.clustering import errors
from vobjects.clustering.requests import nodes as requests

LOG = logging.getLogger(__name__)

# NODE_JOIN, NODE_LEAVE


def join(job: action_run.Work) -> None:
    """Add a node to a cluster."""
    job.write(lambda session: _join(job, session))
    _tell(job)
    job.write(
        lambda session: job.succeed(
            session, 'Node successfully joined cluster.'
        )
    )


def _join(job: action_run.Work, session: orm.Session) -> None:
    cluster = clusters.lock(session, job.request.cluster_id)
    node = nodes.lock(session, job.action.target)
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


def leave(job: action_run.Work) -> None:
    """Remove a node from its cluster."""
    job.write(lambda session: _leave(job, session))
    _tell(job)
    job.write(
        lambda session: job.succeed(session, 'Node successfully left cluster.')
    )


def _leave(job: action_run.Work, session: orm.Session) -> None:
    node = nodes.lock(session, job.action.target)
    if node is None:
        raise errors.ResourceNotFound('The node is gone.')
    if node.cluster_id == job.action.cluster_id:
        node.cluster_id = None
        node.index = -1
        nodes.set_status(node, node.status, 'Node left its cluster')


def _tell(job: action_run.Work) -> None:
    """Tell the node's cloud object which cluster it belongs to, if possible.

    A failure is only logged: the membership has changed already.
    """
    view, profile = node_steps.begin(job)
    if not view.physical_id:
        return
    kind = job.run.profile_types.get(profile.type)
    try:
        kind.update_membership(node_steps.cloud_of(job, view, profile), view)
    except providers.ProviderError as error:
        LOG.warning('Node %s: its object was not told: %s', view.id, error)


# CLUSTER_ADD_NODES


def add(job: action_run.Work, session: orm.Session) -> None:
    """Derive actions that add the nodes."""
    cluster = steps.begin(job, session, 'RESIZING', 'Adding nodes')
    steps.wait(job, session, _joins(job, cluster.id, job.request.nodes), added)


def added(job: action_run.Work, session: orm.Session) -> None:
    """Evaluate the nodes, and end the action."""
    steps.finish(
        job, session, 'Completed adding nodes.', 'adding', counts=True
    )


# CLUSTER_DEL_NODES


def remove(job: action_run.Work, session: orm.Session) -> None:
    """Derive actions that remove or delete the nodes."""
    cluster = steps.begin(job, session, 'RESIZING', 'Removing nodes')
    wanted = set(job.request.nodes)
    members = [
        node
        for node in nodes.of_cluster(session, cluster.id)
        if node.id in wanted
    ]
    decided = checks.decided(job, 'deletion')
    destroys = job.request.get('destroy_after_deletion')
    if decided.get('destroy_after_deletion', destroys):
        children = steps.deletions(job, members)
    else:
        children = steps.leaves(job, members)
    deletion_hooks.postpone(job, session, children)
    steps.wait(job, session, children, removed)


def removed(job: action_run.Work, session: orm.Session) -> None:
    """Evaluate the remaining nodes, and end the action."""
    decided = checks.decided(job, 'deletion')
    steps.finish(
        job,
        session,
        'Completed deleting nodes.',
        'deleting',
        counts=decided.get('reduce_desired_capacity', True),
    )


# CLUSTER_REPLACE_NODES


def replace(job: action_run.Work, session: orm.Session) -> None:
    """Derive actions that remove the old nodes."""
    cluster = steps.begin(job, session, 'RESIZING', 'Replacing nodes')
    leaving = [
        node
        for node in nodes.of_cluster(session, cluster.id)
        if node.id in job.request.nodes
    ]
    steps.wait(job, session, steps.leaves(job, leaving), refill)


def refill(job: action_run.Work, session: orm.Session) -> None:
    """Derive actions that add the new nodes."""
    failures = job.failures(session)
    if failures:
        steps.finish(job, session, '', 'replacing')
        return
    joining = list(job.request.nodes.values())
    steps.wait(job, session, _joins(job, job.action.target, joining), replaced)


def replaced(job: action_run.Work, session: orm.Session) -> None:
    """Evaluate the nodes, and end the action."""
    steps.finish(job, session, 'Completed replacing nodes.', 'replacing')


def _joins(
    job: action_run.Work, cluster_id: str, node_ids: list[str]
) -> list[models.Action]:
    return [
        job.child(
            'NODE_JOIN',
            node_id,
            requests.NodeJoinRequest(identity=node_id, cluster_id=cluster_id),
        )
        for node_id in node_ids
    ]
