# SPDX-License-Identifier: Apache-2.0
"""Steps that the stages of node actions share."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from sqlalchemy import orm

from engine import distribution, sizes, spec_schema
from engine.actions import action_run, container_hosts
from engine.db import actions, clock, clusters, models, nodes, statements
from engine.profiles import base as profiles
from engine.providers import base as providers
from vobjects.clustering import consts, errors

LOG = logging.getLogger(__name__)


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
    evaluate(run, session, cluster)


def evaluate(
    run: action_run.ActionRun, session: orm.Session, cluster: models.Cluster
) -> None:
    """Set a cluster's status according to its nodes.

    Flush changes of the nodes before you call it.
    """
    status, reason = sizes.cluster_status(
        run.action.action,
        nodes.count_of_cluster(session, cluster.id, status='ACTIVE'),
        cluster.desired_capacity,
        run.runtime.bounds(cluster),
    )
    clusters.set_status(cluster, status, reason)
    if status == 'ACTIVE' and cluster.created_at is None:
        cluster.created_at = clock.utcnow()


def data_of(
    run: action_run.ActionRun,
    node: profiles.NodeObject,
    physical_id: str | None,
) -> dict[str, Any]:
    """Return the data of a node about its object; empty if unknown.

    The policies' choice of a location stays.
    """
    if physical_id is None:
        return {}
    view = node.view
    try:
        cloud = node.cloud(run.cloud)
        data = dict(node.profile_type.node_data(cloud, physical_id))
    except providers.ProviderError as error:
        LOG.warning('The data of node %s lacks its object: %s', view.id, error)
        return {}
    key = distribution.PLACEMENT
    if key in data:
        data[key] = {**data[key], **view.placement}
    return data


@contextlib.contextmanager
def keeping(
    run: action_run.ActionRun, work: profiles.NodeObject
) -> Iterator[list[str]]:
    """Record or delete the new object of an action that ends meanwhile.

    The action may be cancelled, be overdue, or give way to a forced deletion
    while the cloud creates the object. The node then keeps the object, so that
    users see it and delete it with the node. If the node is deleted, too, so
    is the object: the deletion finds no object if the cloud creates it later.

    :returns: a list; append the ID of the object once you know it
    """
    objects: list[str] = []
    view = work.view

    def record(session: orm.Session) -> bool:
        node = nodes.lock(session, view.id)
        if node is None or node.status == 'DELETING':
            return False
        action = actions.get(session, run.action.id)
        # Another engine that took over an unfinished action finds the object.
        has_ended = action is None or action.status in consts.ACTION_ENDS
        if objects and has_ended and node.physical_id == view.physical_id:
            node.physical_id = objects[0]
        return True

    try:
        yield objects
    except actions.ClaimLostError:
        if not run.runtime.database.write(record):
            try:
                work.profile_type.delete(work.cloud(run.cloud), view)
            except providers.ProviderError as error:
                LOG.warning(
                    'Node %s is gone, its object is not: %s', view.id, error
                )
        raise
