# SPDX-License-Identifier: Apache-2.0
"""Stages of cluster actions: derive node actions, wait, evaluate.

Every stage is one transaction, so it takes effect completely or not at all. A
stage without nodes to act on continues with the next stage at once.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import orm

from engine import distribution, names, sizes
from engine.actions import (
    action_run,
    deletion_hooks,
    node_steps,
    policy_checks,
)
from engine.db import clusters, models, nodes, quotas
from vobjects.clustering import errors
from vobjects.clustering.requests import nodes as requests

Step = action_run.Step


def in_transaction(step: Step) -> action_run.Stage:
    """Return the stage that runs a step in a transaction."""

    @functools.wraps(step)
    def stage(run: action_run.ActionRun) -> None:
        run.write(lambda session: step(run, session))

    return stage


# CLUSTER_CREATE


def create(run: action_run.ActionRun, session: orm.Session) -> None:
    """Create the nodes."""
    cluster = begin(run, session, 'CREATING', 'Creation in progress')
    grow(run, session, cluster, cluster.desired_capacity, created)


def created(run: action_run.ActionRun, session: orm.Session) -> None:
    """Evaluate the new nodes, and end the action."""
    finish(run, session, 'Cluster creation succeeded.', 'creating')


# CLUSTER_DELETE


def delete(run: action_run.ActionRun, session: orm.Session) -> None:
    """Delete the nodes."""
    cluster = clusters.get(session, run.action.target)
    if cluster is None:
        run.succeed(session, 'The cluster was gone already.')
        return
    clusters.set_status(cluster, 'DELETING', 'Deletion in progress')
    members = nodes.of_cluster(session, cluster.id)
    wait(run, session, deletions(run, members), deleted)


def deleted(run: action_run.ActionRun, session: orm.Session) -> None:
    """Delete the cluster if it has no nodes left."""
    cluster = clusters.lock(session, run.action.target)
    if cluster is None:
        run.succeed(session, 'The cluster was gone already.')
    elif nodes.count_of_cluster(session, cluster.id):
        finish(run, session, '', 'deleting', counts=True)
    else:
        session.delete(cluster)
        session.flush()
        run.succeed(session, 'Cluster deletion succeeded.')


# CLUSTER_RESIZE, CLUSTER_SCALE_IN, CLUSTER_SCALE_OUT


def resize(run: action_run.ActionRun, session: orm.Session) -> None:
    """Change the size limits, and create or delete nodes."""
    _resize(run, session, sizes.Resize.from_request(run.request))


def scale_in(run: action_run.ActionRun, session: orm.Session) -> None:
    """Delete ``count`` nodes, or all nodes if there are fewer."""
    count = _count(run, 'deletion')
    present = nodes.count_of_cluster(session, run.action.target)
    _resize(
        run,
        session,
        sizes.Resize('CHANGE_IN_CAPACITY', -min(count, present)),
    )


def scale_out(run: action_run.ActionRun, session: orm.Session) -> None:
    """Create ``count`` nodes."""
    count = _count(run, 'creation')
    _resize(run, session, sizes.Resize('CHANGE_IN_CAPACITY', count))


def resized(run: action_run.ActionRun, session: orm.Session) -> None:
    """Evaluate the remaining nodes, and end the action."""
    finish(run, session, 'Cluster resize succeeded.', 'resizing')


def scaled(run: action_run.ActionRun, session: orm.Session) -> None:
    """Evaluate the remaining nodes, and end the action."""
    finish(run, session, 'Cluster scaling succeeded.', 'scaling')


def _count(run: action_run.ActionRun, topic: str) -> int:
    """Return the number of nodes to add or delete.

    A policy's decision takes precedence over the request; the default is 1.
    The decision is 0 if the cluster is already at its limit.

    :param topic: the topic of the policies' decision
    """
    for count in (
        policy_checks.decisions(run, topic).get('count'),
        run.request.get('count'),
    ):
        if count is not None:
            return int(count)
    return 1


def _resize(
    run: action_run.ActionRun, session: orm.Session, change: sizes.Resize
) -> None:
    cluster = lock_cluster(run, session)
    members = nodes.of_cluster(session, cluster.id)
    try:
        size, bounds = change.apply(len(members), run.runtime.bounds(cluster))
        _check_quota(run, session, cluster, size - len(members))
    except (errors.BadRequest, errors.OverQuota) as error:
        run.fail(session, str(error))  # the cluster has not changed
        return
    clusters.set_status(cluster, 'RESIZING', 'Cluster resize started.')
    cluster.min_size, cluster.max_size = bounds.minimum, bounds.maximum
    surplus = len(members) - size
    decided = policy_checks.decisions(run, 'deletion')
    if surplus <= 0 or decided.get('reduce_desired_capacity', True):
        cluster.desired_capacity = size
    after = resized if run.action.action == 'CLUSTER_RESIZE' else scaled
    if surplus > 0:
        shrink(run, session, members, surplus, after)
    else:
        grow(run, session, cluster, -surplus, after)


# Ending an action

#: Actions that reduce the desired capacity before the nodes are deleted.
SHRINKING = ('CLUSTER_RESIZE', 'CLUSTER_SCALE_IN')


def mark_failed(
    session: orm.Session, action: models.Action, reason: str
) -> None:
    """Set the cluster's status after an action ended without success."""
    cluster = clusters.get(session, action.target)
    # An action that no engine has claimed has changed nothing.
    if cluster is None or (action.claims == 0 and cluster.status != 'INIT'):
        return
    remaining = nodes.count_of_cluster(session, cluster.id)
    if action.action == 'CLUSTER_DELETE' or (
        action.action in SHRINKING and cluster.desired_capacity < remaining
    ):
        cluster.desired_capacity = remaining
    clusters.set_status(cluster, 'ERROR', f'{action.action}: {reason}')
    session.flush()


def finish(
    run: action_run.ActionRun,
    session: orm.Session,
    success: str,
    doing: str,
    *,
    counts: bool = False,
) -> None:
    """End the action according to the outcome of its node actions.

    :param success: the status reason after success
    :param doing: the verb for the status reason after a failure
    :param counts: whether the number of nodes becomes the desired capacity
    """
    cluster = lock_cluster(run, session)
    if counts:
        session.flush()
        cluster.desired_capacity = nodes.count_of_cluster(session, cluster.id)
    node_steps.evaluate(run, session, cluster)
    failures = run.failures(session)
    if failures:
        more = f' (and {len(failures) - 1} more)' if failures[1:] else ''
        run.fail(session, f'Failed in {doing} nodes: {failures[0]}{more}')
    else:
        policy_checks.check_after(run, session, success)


# Parts of the steps


def begin(
    run: action_run.ActionRun, session: orm.Session, status: str, reason: str
) -> models.Cluster:
    """Set the cluster's status before the work, and return the cluster."""
    cluster = lock_cluster(run, session)
    clusters.set_status(cluster, status, reason)
    return cluster


def lock_cluster(
    run: action_run.ActionRun, session: orm.Session
) -> models.Cluster:
    """Return the cluster and lock its row until the transaction ends.

    :raises vobjects.clustering.errors.ResourceNotFound: the cluster was
        deleted
    """
    cluster = clusters.lock(session, run.action.target)
    if cluster is None:
        raise _deleted_error(run)
    return cluster


def _deleted_error(run: action_run.ActionRun) -> errors.ResourceNotFound:
    return errors.ResourceNotFound(f'The cluster {run.action.target} is gone.')


def wait(
    run: action_run.ActionRun,
    session: orm.Session,
    children: Sequence[models.Action],
    then: Step,
    failed: Sequence[models.Action] = (),
) -> None:
    """Run a step after the children, or at once if there are none.

    :param failed: ended children whose failures count, too
    """
    if children:
        run.wait(session, children, then.__name__, failed)
    else:
        then(run, session)


def grow(
    run: action_run.ActionRun,
    session: orm.Session,
    cluster: models.Cluster,
    count: int,
    then: Step,
) -> None:
    """Add nodes to a cluster, and derive the actions that create them.

    :raises vobjects.clustering.errors.OverQuota: the project cannot have as
        many nodes
    """
    _check_quota(run, session, cluster, count)
    children = []
    decided = run.action.data.get(policy_checks.DECISIONS) or {}
    for placement in distribution.new_placements(decided, count):
        node = add_node(
            session,
            cluster,
            name=names.member_name(cluster.config, cluster.next_index),
            profile_id=cluster.profile_id,
            data={distribution.PLACEMENT: placement} if placement else {},
        )
        children.append(
            run.child(
                'NODE_CREATE',
                node.id,
                requests.NodeCreateRequest(
                    name=node.name,
                    profile_id=node.profile_id,
                    cluster_id=cluster.id,
                ),
            )
        )
    wait(run, session, children, then)


def _check_quota(
    run: action_run.ActionRun,
    session: orm.Session,
    cluster: models.Cluster,
    more: int,
) -> None:
    limit = run.runtime.conf.engine.max_nodes_per_project
    quotas.check(session, models.Node, cluster.project, limit, more)


def add_node(
    session: orm.Session,
    cluster: models.Cluster,
    *,
    name: str,
    profile_id: str,
    data: dict[str, Any] | None = None,
) -> models.Node:
    """Add a node in status INIT to a cluster whose row is locked."""
    node = models.Node(
        id=models.new_id(),
        name=name,
        profile_id=profile_id,
        cluster_id=cluster.id,
        index=cluster.next_index,
        status='INIT',
        status_reason='Initializing',
        meta={},
        data=data or {},
        user=cluster.user,
        project=cluster.project,
        domain=cluster.domain,
    )
    session.add(node)
    cluster.next_index += 1
    return node


def deletions(
    run: action_run.ActionRun, members: Sequence[models.Node]
) -> list[models.Action]:
    """Return child actions that delete nodes."""
    ids = [node.id for node in members]
    return run.children('NODE_DELETE', requests.NodeDeleteRequest, ids)


def shrink(
    run: action_run.ActionRun,
    session: orm.Session,
    members: Sequence[models.Node],
    count: int,
    then: Step,
) -> None:
    """Remove nodes from a cluster.

    The policies decide which nodes to remove, whether to delete them, and how
    long to wait. Without such a decision,
    :func:`engine.db.nodes.select_for_removal` chooses the nodes, and they are
    deleted at once.
    """
    decided = policy_checks.decisions(run, 'deletion')
    chosen = set(decided.get('candidates') or ())
    if chosen:
        leaving = [node for node in members if node.id in chosen]
    else:
        leaving = nodes.select_for_removal(members, count)
    if decided.get('destroy_after_deletion', True):
        children = deletions(run, leaving)
    else:
        children = removals(run, leaving)
    deletion_hooks.delay_children(run, session, children)
    wait(run, session, children, then)


def removals(
    run: action_run.ActionRun, members: Iterable[models.Node]
) -> list[models.Action]:
    """Return child actions that remove nodes from their cluster."""
    ids = [node.id for node in members]
    return run.children('NODE_LEAVE', requests.NodeLeaveRequest, ids)
