# SPDX-License-Identifier: Apache-2.0
"""Stages of node actions, each with one operation of the cloud.

Each records the beginning in the database, calls the cloud, and records the
result in the transaction that ends the action. If a user requested the action,
it then evaluates the node's cluster. An action derived from a cluster's action
leaves this to its parent.
"""

from __future__ import annotations

import logging
from typing import Any

from oslo_utils import strutils
from sqlalchemy import orm

from engine import sizes
from engine.actions import action_run, checks, hosts, node_policies
from engine.db import actions, clock, clusters, models, nodes, statements
from engine.profiles import base as profiles
from engine.profiles import schema
from engine.providers import base as providers
from vobjects.clustering import consts, errors

LOG = logging.getLogger(__name__)

#: Key in a cluster's config: whether to stop nodes before deleting them.
STOP_BEFORE_DELETE = 'cluster.stop_node_before_delete'

#: Request fields that an update can set without the cloud.
PLAIN_FIELDS = {
    'name': 'name',
    'role': 'role',
    'metadata': 'meta',
    'tainted': 'tainted',
}


def create(job: action_run.Work) -> None:
    """Create the node's cloud object (NODE_CREATE)."""
    try:
        view, profile = begin(
            job, 'CREATING', 'Creation in progress', with_host=True
        )
        kind = job.run.profile_types.get(profile.type)
        physical_id = kind.create(
            cloud_of(job, view, profile), view, _properties(job, profile)
        )
    except providers.ProviderError as error:
        fail(job, str(error))
        return
    news = node_policies.arrived(job, view.id, physical_id)

    def done(session: orm.Session) -> None:
        node = existing(job, session)
        node.physical_id = physical_id
        node.data = node_policies.merged(node.data, news.changes)
        status, reason = news.status('Creation succeeded')
        nodes.set_status(node, status, reason)
        look_at_cluster(job, session, node.cluster_id, counts=True)
        _conclude(job, session, news, 'Node created successfully.')

    try:
        job.write(done)
    except actions.ClaimLostError:
        _remove_if_unwanted(job, view, profile)
        raise


def update(job: action_run.Work) -> None:
    """Update a node, and its object if the profile changes (NODE_UPDATE)."""
    request = job.request
    view, old = begin(job, 'UPDATING', 'Update in progress')
    new_id = request.get('profile_id')
    if new_id is not None and new_id != old.id:
        new = _profile(job, new_id)
        kind = job.run.profile_types.get(new.type)
        try:
            kind.update(
                cloud_of(job, view, old),
                view,
                _properties(job, old),
                _properties(job, new),
            )
        except providers.ProviderError as error:
            fail(job, str(error))
            return

    def done(session: orm.Session) -> None:
        node = existing(job, session)
        if new_id is not None:
            node.profile_id = new_id
        for field, column in PLAIN_FIELDS.items():
            value = request.get(field)
            if value is not None:
                setattr(node, column, value)
        nodes.set_status(node, 'ACTIVE', 'Update succeeded')
        look_at_cluster(job, session, node.cluster_id)
        checks.conclude(job, session, 'Node updated successfully.')

    job.write(done)


def delete(job: action_run.Work) -> None:
    """Delete the cloud object, then the node (NODE_DELETE)."""
    if job.action.cause == consts.CAUSE_REQUEST:
        job.write(lambda session: _check_may_leave(job, session))
    if not node_policies.departs(job, job.action.target):
        return

    def mark(
        session: orm.Session,
    ) -> tuple[profiles.NodeView, models.Profile, bool] | None:
        node = nodes.get(session, job.action.target)
        if node is None:
            job.succeed(session, 'The node was gone already.')
            return None
        decided = checks.decided(job, 'deletion')
        if not decided.get('destroy_after_deletion', True):
            cluster_id, node.cluster_id, node.index = node.cluster_id, None, -1
            counts = decided['reduce_desired_capacity']
            look_at_cluster(job, session, cluster_id, counts=counts)
            checks.conclude(job, session, 'Node left its cluster.')
            return None
        nodes.set_status(node, 'DELETING', 'Deletion in progress')
        return (
            hosts.view(session, node),
            _profile_in(session, node.profile_id),
            _stops_first(job, session, node),
        )

    begun = job.write(mark)
    if begun is None:
        return
    view, profile, is_stopped_first = begun
    try:
        _remove(job, view, profile, is_stopped_first=is_stopped_first)
    except providers.ProviderError as error:
        fail(job, str(error))
        return

    def done(session: orm.Session) -> None:
        node = nodes.get(session, view.id)
        if node is not None:
            cluster_id = node.cluster_id
            hosts.release(session, node)
            session.delete(node)
            session.flush()
            decided = checks.decided(job, 'deletion')
            counts = decided.get('reduce_desired_capacity', True)
            look_at_cluster(job, session, cluster_id, counts=counts)
        checks.conclude(job, session, 'Node deleted successfully.')

    job.write(done)


def _remove(
    job: action_run.Work,
    view: profiles.NodeView,
    profile: models.Profile,
    *,
    is_stopped_first: bool,
) -> None:
    """Delete a node's cloud object.

    :raises engine.providers.base.ProviderError: the deletion failed
    """
    kind = job.run.profile_types.get(profile.type)
    try:
        cloud = cloud_of(job, view, profile)
    except providers.RegionNotFound:
        if view.physical_id:
            raise
        return  # no object was ever created
    if is_stopped_first:
        _stop(kind, cloud, view)
    kind.delete(cloud, view)


def _stops_first(
    job: action_run.Work, session: orm.Session, node: models.Node
) -> bool:
    """Tell whether to stop a node before an action deletes it.

    The cluster's config does not apply if the user deletes the node directly.
    """
    if job.action.cause == consts.CAUSE_REQUEST or node.cluster_id is None:
        return False
    cluster = clusters.get(session, node.cluster_id)
    return cluster is not None and bool(
        strutils.bool_from_string(cluster.config.get(STOP_BEFORE_DELETE))
    )


def _stop(
    kind: profiles.ProfileType,
    cloud: providers.Provider,
    view: profiles.NodeView,
) -> None:
    """Try to stop an object; a failure does not prevent its deletion."""
    if 'stop' not in kind.operations:
        return
    try:
        kind.operate(cloud, view, 'stop', {})
    except providers.ProviderError as error:
        LOG.warning('Node %s is deleted without a stop: %s', view.id, error)


def check(job: action_run.Work) -> None:
    """Check the health of the cloud object (NODE_CHECK)."""
    view, profile = begin(job)
    kind = job.run.profile_types.get(profile.type)
    try:
        trouble = kind.check(cloud_of(job, view, profile), view)
    except providers.ProviderError as error:
        fail(job, str(error))
        return

    def done(session: orm.Session) -> None:
        node = existing(job, session)
        _set_health(node, trouble)
        look_at_cluster(job, session, node.cluster_id)
        checks.conclude(job, session, 'Node check completed.')

    job.write(done)


def recover(job: action_run.Work) -> None:
    """Recover the cloud object, with RECREATE by default (NODE_RECOVER)."""
    request = job.request
    view, profile = begin(job)
    kind = job.run.profile_types.get(profile.type)
    properties = _properties(job, profile)
    operation = request.get('operation') or 'RECREATE'
    parameters = {
        **(request.get('operation_params') or {}),
        **{
            name: request.get(name)
            for name in ('delete_timeout', 'force_recreate')
        },
    }
    try:
        cloud = cloud_of(job, view, profile)
        is_well = bool(request.get('check')) and not kind.check(cloud, view)
        if is_well:
            physical_id, reason = view.physical_id, 'Recover: Node is ACTIVE.'
        else:
            before = view
            view, profile = begin(
                job,
                'RECOVERING',
                'Recovery in progress',
                with_host=operation == 'RECREATE',
            )
            if view.host != before.host:
                _leave_host(cloud, kind, before)
            physical_id = kind.recover(
                cloud, view, properties, operation, parameters
            )
            reason = 'Recovery succeeded'
    except providers.ProviderError as error:
        fail(job, str(error))
        return
    news = node_policies.arrived(job, view.id, physical_id)

    def done(session: orm.Session) -> None:
        node = existing(job, session)
        node.data = node_policies.merged(node.data, news.changes)
        if node.physical_id != physical_id:
            node.data = {**node.data, 'recovery': operation}
            node.physical_id = physical_id
        status, why = news.status(reason)
        nodes.set_status(node, status, why)
        look_at_cluster(job, session, node.cluster_id)
        _conclude(job, session, news, 'Node recovered successfully.')

    try:
        job.write(done)
    except actions.ClaimLostError:
        _remove_if_unwanted(job, view, profile)
        raise


def abandon(session: orm.Session, action: models.Action, reason: str) -> None:
    """Set the node's status after an action ended without success."""
    node = nodes.get(session, action.target)
    # An action that no engine has claimed has changed nothing.
    if node is None or (action.claims == 0 and node.status != 'INIT'):
        return
    nodes.set_status(node, 'ERROR', f'{action.action}: {reason}')
    session.flush()


def _check_may_leave(job: action_run.Work, session: orm.Session) -> None:
    node = nodes.get(session, job.action.target)
    if node is not None:
        check_may_leave(session, node, job.run.node_limit())


def check_may_leave(
    session: orm.Session, node: models.Node, limit: int
) -> None:
    """Check that a cluster stays above its minimum without a node.

    :raises vobjects.clustering.errors.BadRequest: it does not; the message
        states size and minimum
    """
    if node.cluster_id is None:
        return
    cluster = clusters.lock(session, node.cluster_id)
    if cluster is not None:
        size = nodes.count_of_cluster(session, cluster.id)
        bounds = sizes.Bounds(cluster.min_size, cluster.max_size, limit)
        bounds.check_size(size - 1)


# Parts of the stages


def begin(
    job: action_run.Work,
    status: str | None = None,
    reason: str = '',
    *,
    with_host: bool = False,
) -> tuple[profiles.NodeView, models.Profile]:
    """Record the beginning of an action; return the node and its profile.

    :param status: the new status of the node; None: unchanged
    :param with_host: whether to assign a host, if the profile type needs one
    :raises engine.providers.base.ProviderError: no host is available
    """

    def body(
        session: orm.Session,
    ) -> tuple[profiles.NodeView, models.Profile]:
        node = existing(job, session)
        if status is not None:
            nodes.set_status(node, status, reason)
        profile = _profile_in(session, node.profile_id)
        kind = job.run.profile_types.get(profile.type)
        if with_host and kind.on_hosts:
            properties = _properties(job, profile)
            properties = schema.filled(kind.properties, properties)
            hosts.reserve(session, node, properties)
        return hosts.view(session, node), profile

    return job.write(body)


def fail(job: action_run.Work, reason: str) -> None:
    """Fail the action, and set the node's status to ERROR."""

    def body(session: orm.Session) -> None:
        node = existing(job, session)
        nodes.set_status(node, 'ERROR', reason)
        look_at_cluster(job, session, node.cluster_id)
        job.fail(session, reason)

    job.write(body)


def cloud_of(
    job: action_run.Work, view: profiles.NodeView, profile: models.Profile
) -> providers.Provider:
    """Return the part of the cloud that contains the node.

    :raises engine.providers.base.ProviderError: it does not exist, or must not
        be used
    """
    return view.cloud(job.cloud, _properties(job, profile))


def existing(job: action_run.Work, session: orm.Session) -> models.Node:
    """Return the node.

    :raises vobjects.clustering.errors.ResourceNotFound: the node was deleted
    """
    node = nodes.get(session, job.action.target)
    if node is None:
        raise errors.ResourceNotFound(f'The node {job.action.target} is gone.')
    return node


def _profile(job: action_run.Work, profile_id: str) -> models.Profile:
    with job.run.database.reader() as session:
        return _profile_in(session, profile_id)


def _profile_in(session: orm.Session, profile_id: str) -> models.Profile:
    profile = statements.row(session, models.Profile, profile_id)
    if profile is None:
        raise errors.ResourceNotFound(f'The profile {profile_id} is gone.')
    return profile


def _properties(
    job: action_run.Work, profile: models.Profile
) -> dict[str, Any]:
    return job.run.profile_types.properties_of(profile.type, profile.spec)


def _set_health(node: models.Node, trouble: str) -> None:
    if trouble:
        nodes.set_status(node, 'ERROR', f'Check: {trouble}.')
    elif node.status == 'WARNING':
        reason = f'Check: its object is well. {node.status_reason}'
        nodes.set_status(node, 'WARNING', reason)
    else:
        nodes.set_status(node, 'ACTIVE', 'Check: Node is ACTIVE.')


def look_at_cluster(
    job: action_run.Work,
    session: orm.Session,
    cluster_id: str | None,
    *,
    counts: bool = False,
) -> None:
    """Evaluate the node's cluster, unless a parent action does.

    :param counts: whether the number of nodes becomes the desired capacity
    """
    if cluster_id is None or job.action.cause != consts.CAUSE_REQUEST:
        return
    session.flush()
    cluster = clusters.lock(session, cluster_id)
    if cluster is None:
        return
    if counts:
        cluster.desired_capacity = nodes.count_of_cluster(session, cluster_id)
    evaluate(session, cluster, job.action.action, job.run.node_limit())


def evaluate(
    session: orm.Session,
    cluster: models.Cluster,
    operation: str,
    limit: int,
) -> None:
    """Set a cluster's status according to its nodes.

    Flush changes of the nodes before you call it.
    """
    status, reason = sizes.health(
        operation,
        nodes.count_of_cluster(session, cluster.id, status='ACTIVE'),
        cluster.desired_capacity,
        sizes.Bounds(cluster.min_size, cluster.max_size, limit),
    )
    clusters.set_status(cluster, status, reason)
    if status == 'ACTIVE' and cluster.created_at is None:
        cluster.created_at = clock.utcnow()


def _leave_host(
    cloud: providers.Provider,
    kind: profiles.ProfileType,
    view: profiles.NodeView,
) -> None:
    """Try to delete a node's object from a host that is not healthy."""
    try:
        kind.delete(cloud, view)
    except providers.ProviderError as error:
        LOG.warning('Node %s leaves an object behind: %s', view.id, error)


def _conclude(
    job: action_run.Work,
    session: orm.Session,
    news: node_policies.News,
    success: str,
) -> None:
    """End an action successfully, unless a policy failed."""
    if news.trouble:
        job.fail(session, news.trouble)
    else:
        checks.conclude(job, session, success)


def _remove_if_unwanted(
    job: action_run.Work, view: profiles.NodeView, profile: models.Profile
) -> None:
    """Delete the new object of a node that was deleted meanwhile."""
    with job.run.database.reader() as session:
        if nodes.get(session, view.id) is not None:
            return
    kind = job.run.profile_types.get(profile.type)
    try:
        kind.delete(cloud_of(job, view, profile), view)
    except providers.ProviderError as error:
        LOG.warning('Node %s is gone, its object is not: %s', view.id, error)
