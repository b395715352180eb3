# SPDX-License-Identifier: Apache-2.0
"""Steps that the stages of node actions share."""

from __future__ import annotations

from sqlalchemy import orm

from engine import sizes, spec_schema
from engine.actions import action_run, container_hosts
from engine.db import clock, clusters, models, nodes, statements
from engine.profiles import base as profiles
from vobjects.clustering import consts, errors


def begin(
    run: action_run.ActionRun,
    status: str | None = None,
    reason: str = '',
    *,
    with_host: bool = False,
) -> profiles.NodeObject:
    """Record the beginning of an action; return the node with its profile.

    :param status: the new status of the node; None: unchanged
    :param with_host: whether to assign a host, if the profile type needs one
    :raises engine.providers.base.ProviderError: no host is available
    """

    types = run.runtime.profile_types

    def body(session: orm.Session) -> profiles.NodeObject:
        node = get_node(run, session)
        if status is not None:
            nodes.set_status(node, status, reason)
        profile = find_profile(session, node.profile_id)
        profile_type = types.get(profile.type)
        if with_host and profile_type.on_hosts:
            properties = spec_schema.with_defaults(
                profile_type.properties,
                types.properties_of(profile.type, profile.spec),
            )
            container_hosts.assign(session, node, properties)
        return container_hosts.node_object(session, types, node, profile)

    return run.write(body)


def fail(run: action_run.ActionRun, reason: str) -> None:
    """Fail the action, and set the node's status to ERROR."""

    def body(session: orm.Session) -> None:
        node = get_node(run, session)
        nodes.set_status(node, 'ERROR', reason)
        evaluate_own_cluster(run, session, node.cluster_id)
        run.fail(session, reason)

    run.write(body)


def get_node(run: action_run.ActionRun, session: orm.Session) -> models.Node:
    """Return the node.

    :raises vobjects.clustering.errors.ResourceNotFound: the node was deleted
    """
    node = nodes.get(session, run.action.target)
    if node is None:
        raise errors.ResourceNotFound(f'The node {run.action.target} is gone.')
    return node


def find_profile(session: orm.Session, profile_id: str) -> models.Profile:
    """Return a profile.

    :raises vobjects.clustering.errors.ResourceNotFound: it was deleted
    """
    profile = statements.row(session, models.Profile, profile_id)
    if profile is None:
        raise errors.ResourceNotFound(f'The profile {profile_id} is gone.')
    return profile


def evaluate_own_cluster(
    run: action_run.ActionRun,
    session: orm.Session,
    cluster_id: str | None,
    *,
    counts: bool = False,
) -> None:
    """Evaluate the node's cluster, unless a parent action does.

    :param counts: whether the number of nodes becomes the desired capacity
    """
    if cluster_id is None or run.action.cause != consts.CAUSE_REQUEST:
        return
    session.flush()
    cluster = clusters.lock(session, cluster_id)
    if cluster is None:
        return
    if counts:
        cluster.desired_capacity = nodes.count_of_cluster(session, cluster_id)
    evaluate(session, cluster, run.action.action, run.runtime.node_limit())


def evaluate(
    session: orm.Session,
    cluster: models.Cluster,
    operation: str,
    limit: int,
) -> None:
    """Set a cluster's status according to its nodes.

    Flush changes of the nodes before you call it.
    """
    status, reason = sizes.cluster_status(
        operation,
        nodes.count_of_cluster(session, cluster.id, status='ACTIVE'),
        cluster.desired_capacity,
        sizes.Bounds(cluster.min_size, cluster.max_size, limit),
    )
    clusters.set_status(cluster, status, reason)
    if status == 'ACTIVE' and cluster.created_at is None:
        cluster.created_at = clock.utcnow()
