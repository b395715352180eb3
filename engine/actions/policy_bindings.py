# SPDX-License-Identifier: Apache-2.0
"""Attach, detach, enable and disable the policies of a cluster.

Each of these is an action, because it locks the cluster. Cloud resources that
a policy needs are created before the policy is bound to the cluster, and
deleted before it is unbound. If an engine dies in between, another engine
starts the action again.

An attachment or an update that is cancelled, superseded or overdue is
reverted. Once a detachment has begun, it cannot be cancelled. If it fails, the
binding stays, so that the user can repeat the request.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import orm

from engine.actions import action_run, attachments, node_policies
from engine.actions import clusters as cluster_actions
from engine.db import actions, clusters, models
from engine.policies import base
from engine.providers import base as providers
from vobjects.clustering import consts

LOG = logging.getLogger(__name__)

#: Key in an action's data: the plan made by the first attempt. It is stored
#: before any cloud resource is created.
PLAN = 'planned'

#: Name of the stage that reverts an attachment.
UNDO = 'undo'


# CLUSTER_ATTACH_POLICY


def attach(run: action_run.ActionRun) -> None:
    """Create the policy's resources, add the nodes, and bind the policy."""
    cloud = run.cloud
    attachment = run.write(lambda session: _prepare(run, session, cloud))
    if attachment is None:
        return
    policy_type, attached = attachment.policy_type, attachment.attached
    changes: node_policies.Changes = {}
    try:
        _create_resources(attachment, _stored_plan(run, attachment), changes)
    except node_policies.ERRORS as error:
        _clean_up(attachment, lambda: _delete_resources(attachment, changes))
        reason = str(error)
        run.write(lambda session: run.fail(session, reason))
        return

    def finish(session: orm.Session) -> None:
        cluster_actions.lock_cluster(run, session)
        node_policies.save_changes(session, changes)
        session.add(attachment.binding)
        session.flush()
        policy_type.after_bind(session, attached, run.runtime.conf)
        run.succeed(session, 'Policy attached.')

    try:
        run.write(finish)
    except actions.ClaimLostError:
        if _is_over(run):
            # The members may be those of the next attachment, whose load
            # balancer can be the same existing one.
            _clean_up(attachment, lambda: _delete_resources(attachment, {}))
        raise


def undo_attach_stage(action: models.Action) -> str | None:
    """Return the stage that deletes the resources, if there may be any."""
    return UNDO if PLAN in action.data else None


def undo_attach(run: action_run.ActionRun) -> None:
    """Delete the resources of an attachment that is ended from outside."""
    cloud = run.cloud
    attachment = run.write(
        lambda session: attachments.load_new(
            run,
            session,
            cloud,
            cluster_actions.lock_cluster(run, session),
            attachments.get_policy(run, session),
        )
    )
    changes: node_policies.Changes = {}
    # Only the creation can find resources that an engine created before its
    # death.
    problem = _clean_up(
        attachment,
        lambda: _create_resources(attachment, run.action.data[PLAN], changes),
    )
    problem = (
        _clean_up(attachment, lambda: _delete_resources(attachment, changes))
        or problem
    )
    run.write(lambda session: run.end_undone(session, problem))


def _prepare(
    run: action_run.ActionRun, session: orm.Session, cloud: providers.Provider
) -> attachments.Attachment | None:
    cluster = cluster_actions.lock_cluster(run, session)
    policy = attachments.get_policy(run, session)
    if clusters.get_binding(session, cluster.id, policy.id) is not None:
        run.succeed(session, 'Policy already attached.')
        return None
    attachment = attachments.load_new(run, session, cloud, cluster, policy)
    try:
        attachments.check_attachable(run, session, attachment)
    except base.PolicyCheckError as refusal:
        run.fail(session, str(refusal))
        return None
    return attachment


def _stored_plan(
    run: action_run.ActionRun, attachment: attachments.Attachment
) -> Mapping[str, Any]:
    """Return the plan of the first attempt, or make one and store it."""
    data = run.action.data
    plan: Mapping[str, Any]
    if PLAN in data:
        plan = data[PLAN]
        return plan
    plan = attachment.policy_type.plan(attachment.target)
    run.write(
        lambda session: actions.update(
            session, run.claim.condition(), data={**data, PLAN: plan}
        )
    )
    return plan


def _create_resources(
    attachment: attachments.Attachment,
    plan: Mapping[str, Any],
    changes: node_policies.Changes,
) -> None:
    """Create a policy's resources, or find them, and add the nodes.

    :param changes: receives the changes of the nodes' data
    :raises engine.providers.base.ProviderError: the creation failed; after the
        first part of it, the binding has data
    :raises engine.policies.base.PolicyCheckError: the cloud lacks a service
    """
    attachment.binding.data = attachment.policy_type.attach(
        attachment.target, plan
    )
    if attachment.binding.enabled:
        attachment.add_nodes(changes)


def _delete_resources(
    attachment: attachments.Attachment, changes: node_policies.Changes
) -> None:
    """Delete the resources of an attachment that failed.

    :param changes: from :func:`_create_resources`
    :raises engine.providers.base.ProviderError: the deletion failed
    """
    if attachment.binding.data:  # otherwise, none was created
        attachment.detach(
            node_policies.changed_nodes(attachment.members, changes)
        )


def _clean_up(
    attachment: attachments.Attachment, step: Callable[[], None]
) -> str:
    """Try to find or delete resources.

    :returns: why some resources may be left; empty if none is
    """
    try:
        step()
    except node_policies.ERRORS as error:
        LOG.warning(
            'Some cloud resources of policy %s for cluster %s could not be'
            ' deleted: %s',
            attachment.target.policy.id,
            attachment.target.cluster.id,
            error,
        )
        return f'some cloud resources may be left: {error}'
    return ''


def _is_over(run: action_run.ActionRun) -> bool:
    """Tell whether an action has ended, so that no engine continues it."""
    with run.runtime.database.reader() as session:
        action = actions.get(session, run.action.id)
        return action is None or action.status in consts.ACTION_ENDS


# CLUSTER_DETACH_POLICY


def detach(run: action_run.ActionRun) -> None:
    """Delete the policy's resources, and unbind the policy."""
    attachment = attachments.load_existing(run)
    if attachment is None:
        return
    try:
        changes = attachment.detach(attachment.members)
    except node_policies.ERRORS as error:
        reason = str(error)
        run.write(lambda session: run.fail(session, reason))
        return

    def finish(session: orm.Session) -> None:
        _delete_binding(session, attachment, changes)
        run.succeed(session, 'Policy detached.')

    run.write(finish)


def _delete_binding(
    session: orm.Session,
    attachment: attachments.Attachment,
    changes: node_policies.Changes,
) -> None:
    node_policies.save_changes(session, changes)
    binding = session.get(models.ClusterPolicy, attachment.binding.id)
    if binding is not None:
        attachment.policy_type.before_unbind(session, attachment.attached)
        session.delete(binding)
    session.flush()


# CLUSTER_UPDATE_POLICY


def update(run: action_run.ActionRun) -> None:
    """Enable or disable the policy; enabling it adds the nodes."""
    attachment = attachments.load_existing(run)
    if attachment is None:
        return
    enabled = run.request.get('enabled')
    if enabled is None:
        run.write(lambda session: run.succeed(session, 'No update is needed.'))
        return
    changes: node_policies.Changes = {}
    failure = ''
    if enabled:
        try:
            attachment.add_nodes(changes)
        except node_policies.ERRORS as error:
            failure = str(error)

    def finish(session: orm.Session) -> None:
        node_policies.save_changes(session, changes)
        if failure:
            run.fail(session, failure)
            return
        binding = session.get_one(models.ClusterPolicy, attachment.binding.id)
        binding.enabled = enabled
        attachment.policy_type.after_bind(
            session,
            dataclasses.replace(attachment.attached, binding=binding),
            run.runtime.conf,
        )
        run.succeed(session, 'Policy updated.')

    run.write(finish)


def undo_update_stage(action: models.Action) -> str | None:
    """Return the stage that reverts an update, if it has begun."""
    return None if action.start_time is None else UNDO


def undo_update(run: action_run.ActionRun) -> None:
    """Remove the nodes that an enabling added before it was ended."""
    attachment = attachments.load_existing(run)
    if attachment is None:
        return
    changes: node_policies.Changes = {}
    problem = ''
    if run.request.get('enabled'):
        problem = _clean_up(attachment, lambda: attachment.add_nodes(changes))
        problem = (
            _clean_up(
                attachment, lambda: _remove_added_nodes(attachment, changes)
            )
            or problem
        )
    run.write(lambda session: run.end_undone(session, problem))


def _remove_added_nodes(
    attachment: attachments.Attachment, changes: node_policies.Changes
) -> None:
    for node in node_policies.changed_nodes(attachment.members, changes):
        attachment.policy_type.remove_node(
            attachment.target.cloud, attachment.attached, node
        )


# CLUSTER_DELETE


def detach_first(stage: action_run.Stage) -> action_run.Stage:
    """Wrap a stage so that it first detaches all policies of the cluster.

    Detached policies cannot interfere with the deletion.
    """

    def release(run: action_run.ActionRun) -> None:
        for attachment in reversed(_load_all(run)):
            _detach_before_deletion(run, attachment)
        stage(run)

    return release


def _load_all(run: action_run.ActionRun) -> list[attachments.Attachment]:
    """Return the policies of a cluster that is about to be deleted."""
    with run.runtime.database.reader() as session:
        bound = list(clusters.bindings(session, run.action.target))
    if not bound:
        return []
    cloud = run.cloud
    with run.runtime.database.reader() as session:
        cluster = session.get(models.Cluster, run.action.target)
        return [
            attachments.load(run, session, cloud, cluster, policy, binding)
            for binding, policy in bound
            if cluster is not None
        ]


def _detach_before_deletion(
    run: action_run.ActionRun, attachment: attachments.Attachment
) -> None:
    try:
        changes = attachment.detach(attachment.members)
    except node_policies.ERRORS as error:
        if not run.request.get('force'):
            raise providers.ProviderError(
                'Failed in detaching policy'
                f" '{attachment.target.policy.name}': {error}"
            ) from error
        changes = {}
        LOG.warning(
            'Cluster %s is deleted, but not all cloud resources of policy'
            ' %s: %s',
            attachment.target.cluster.id,
            attachment.target.policy.id,
            error,
        )
    run.write(lambda session: _delete_binding(session, attachment, changes))
