# SPDX-License-Identifier: Apache-2.0
"""Attach, detach, enable and disable the policies of a cluster.

Each of these is an action, because it locks the cluster. Cloud resources that
a policy needs are created before the policy is bound to the cluster, and
deleted before it is unbound. If an engine dies in between, another engine
starts the action again.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import orm

from engine.actions import action_run, node_policies
from engine.actions import clusters as cluster_actions
from engine.db import actions, clusters, models, nodes
from engine.policies import base
from engine.providers import base as providers
from vobjects.clustering import consts, errors

LOG = logging.getLogger(__name__)

#: Key in an action's data: the plan made by the first attempt.
PLAN = 'planned'


@dataclasses.dataclass(frozen=True, slots=True)
class _Attachment:
    """A policy, a cluster and its nodes, as they were when the action began.

    :ivar binding: while attaching, a binding that is not in the database yet
    """

    policy_type: base.PolicyType
    target: base.AttachmentTarget
    binding: models.ClusterPolicy
    members: Sequence[models.Node]

    @property
    def attached(self) -> base.AttachedPolicy:
        return base.AttachedPolicy(
            self.target.policy, self.binding, self.target.properties
        )


# CLUSTER_ATTACH_POLICY


def attach(run: action_run.ActionRun) -> None:
    """Create the policy's resources, add the nodes, and bind the policy."""
    cloud = run.cloud
    attachment = run.write(lambda session: _prepare(run, session, cloud))
    if attachment is None:
        return
    policy_type, attached = attachment.policy_type, attachment.attached
    is_created = False
    try:
        plan = _stored_plan(run, attachment)
        attachment.binding.data = policy_type.attach(attachment.target, plan)
        is_created = True
        changes = (
            node_policies.add_nodes(
                cloud, policy_type, attached, attachment.members
            )
            if attachment.binding.enabled
            else {}
        )
    except node_policies.ERRORS as error:
        if is_created:
            _delete_resources(attachment)
        reason = str(error)
        run.write(lambda session: run.fail(session, reason))
        return

    def done(session: orm.Session) -> None:
        cluster_actions.lock_cluster(run, session)
        node_policies.save_changes(session, changes)
        session.add(attachment.binding)
        session.flush()
        policy_type.after_bind(session, attached, run.runtime.conf)
        run.succeed(session, 'Policy attached.')

    try:
        run.write(done)
    except actions.ClaimLostError:
        _delete_resources_if_ended(run, attachment)
        raise


def _prepare(
    run: action_run.ActionRun, session: orm.Session, cloud: providers.Provider
) -> _Attachment | None:
    cluster = cluster_actions.lock_cluster(run, session)
    policy = _get_policy(run, session)
    if clusters.get_binding(session, cluster.id, policy.id) is not None:
        run.succeed(session, 'Policy already attached.')
        return None
    policy_type = run.runtime.policy_types.get(policy.type)
    binding = models.ClusterPolicy(
        id=models.new_id(),
        cluster_id=cluster.id,
        policy_id=policy.id,
        priority=policy_type.priority,
        enabled=run.request.get('enabled') is not False,
        data={},
    )
    attachment = _load(run, session, cloud, cluster, policy, binding)
    try:
        _check_attachable(run, session, attachment)
    except base.PolicyCheckError as refusal:
        run.fail(session, str(refusal))
        return None
    return attachment


def _stored_plan(
    run: action_run.ActionRun, attachment: _Attachment
) -> Mapping[str, Any]:
    """Return the plan of the first attempt, or make one and store it."""
    data = run.action.data
    if PLAN in data:
        found: Mapping[str, Any] = data[PLAN]
        return found
    plan = attachment.policy_type.plan(attachment.target)
    if plan:
        run.write(
            lambda session: actions.update(
                session,
                run.claim.condition(),
                data={**data, PLAN: plan},
            )
        )
    return plan


def _delete_resources(attachment: _Attachment) -> None:
    """Delete the resources of an attachment that failed."""
    try:
        attachment.policy_type.detach(
            attachment.target, attachment.binding.data
        )
    except node_policies.ERRORS as error:
        LOG.warning(
            'Policy %s is not attached to cluster %s; some of its cloud'
            ' resources could not be deleted: %s',
            attachment.target.policy.id,
            attachment.target.cluster.id,
            error,
        )


def _delete_resources_if_ended(
    run: action_run.ActionRun, attachment: _Attachment
) -> None:
    """Delete the resources, unless another engine continues the action."""
    with run.runtime.database.reader() as session:
        action = actions.get(session, run.action.id)
        is_over = action is None or action.status in consts.ACTION_ENDS
    if is_over:
        _delete_resources(attachment)


# CLUSTER_DETACH_POLICY


def detach(run: action_run.ActionRun) -> None:
    """Delete the policy's resources, and unbind the policy."""
    cloud = run.cloud
    attachment = run.write(lambda session: _load_existing(run, session, cloud))
    if attachment is None:
        return
    try:
        changes = _detach_resources(run, attachment)
    except node_policies.ERRORS as error:
        reason = str(error)
        run.write(lambda session: run.fail(session, reason))
        return

    def done(session: orm.Session) -> None:
        _delete_binding(session, attachment, changes)
        run.succeed(session, 'Policy detached.')

    run.write(done)


def _load_existing(
    run: action_run.ActionRun, session: orm.Session, cloud: providers.Provider
) -> _Attachment | None:
    cluster = cluster_actions.lock_cluster(run, session)
    policy = _get_policy(run, session)
    binding = clusters.get_binding(session, cluster.id, policy.id)
    if binding is None:
        run.fail(session, 'Policy not attached.')
        return None
    return _load(run, session, cloud, cluster, policy, binding)


def _detach_resources(
    run: action_run.ActionRun, attachment: _Attachment
) -> node_policies.Changes:
    """Delete a policy's cloud resources.

    :returns: changes of the nodes' data
    :raises engine.providers.base.ProviderError: the deletion failed
    :raises engine.policies.base.PolicyCheckError: the policy does not allow it
    """
    changes = node_policies.remove_nodes(
        attachment.target.cloud,
        attachment.policy_type,
        attachment.attached,
        attachment.members,
    )
    attachment.policy_type.detach(attachment.target, attachment.binding.data)
    return changes


def _delete_binding(
    session: orm.Session,
    attachment: _Attachment,
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
    cloud = run.cloud
    attachment = run.write(lambda session: _load_existing(run, session, cloud))
    if attachment is None:
        return
    enabled = run.request.get('enabled')
    if enabled is None:
        run.write(lambda session: run.succeed(session, 'No update is needed.'))
        return
    changes: node_policies.Changes = {}
    if enabled:
        try:
            changes = node_policies.add_nodes(
                cloud,
                attachment.policy_type,
                attachment.attached,
                attachment.members,
            )
        except node_policies.ERRORS as error:
            reason = str(error)
            run.write(lambda session: run.fail(session, reason))
            return

    def done(session: orm.Session) -> None:
        binding = session.get_one(models.ClusterPolicy, attachment.binding.id)
        binding.enabled = enabled
        node_policies.save_changes(session, changes)
        attachment.policy_type.after_bind(
            session,
            dataclasses.replace(attachment.attached, binding=binding),
            run.runtime.conf,
        )
        run.succeed(session, 'Policy updated.')

    run.write(done)


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


def _load_all(run: action_run.ActionRun) -> list[_Attachment]:
    """Return the policies of a cluster that is about to be deleted."""
    with run.runtime.database.reader() as session:
        bound = list(clusters.bindings(session, run.action.target))
    if not bound:
        return []
    cloud = run.cloud
    with run.runtime.database.reader() as session:
        cluster = session.get(models.Cluster, run.action.target)
        return [
            _load(run, session, cloud, cluster, policy, binding)
            for binding, policy in bound
            if cluster is not None
        ]


def _detach_before_deletion(
    run: action_run.ActionRun, attachment: _Attachment
) -> None:
    try:
        changes = _detach_resources(run, attachment)
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


def keep_status(
    session: orm.Session, action: models.Action, reason: str
) -> None:
    """Leave the cluster's status, because its nodes did not change."""


def _load(
    run: action_run.ActionRun,
    session: orm.Session,
    cloud: providers.Provider,
    cluster: models.Cluster,
    policy: models.Policy,
    binding: models.ClusterPolicy,
) -> _Attachment:
    policy_type = run.runtime.policy_types.get(policy.type)
    target = base.AttachmentTarget(
        conf=run.runtime.conf,
        cloud=cloud,
        cluster=cluster,
        profile=session.get_one(models.Profile, cluster.profile_id),
        policy=policy,
        properties=run.runtime.policy_types.properties_of(
            policy.type, policy.spec
        ),
    )
    return _Attachment(
        policy_type, target, binding, nodes.of_cluster(session, cluster.id)
    )


def _get_policy(
    run: action_run.ActionRun, session: orm.Session
) -> models.Policy:
    policy = session.get(models.Policy, run.request.policy_id)
    if policy is None:
        raise errors.ResourceNotFound(
            f'The policy {run.request.policy_id} is gone.'
        )
    return policy


def _check_attachable(
    run: action_run.ActionRun, session: orm.Session, attachment: _Attachment
) -> None:
    """Check that a policy can be attached to the cluster.

    :raises engine.policies.base.PolicyCheckError: with the reason
    """
    policy_type, cluster = attachment.policy_type, attachment.target.cluster
    name = run.runtime.profile_types.get(attachment.target.profile.type).name
    if (
        policy_type.profile_types != base.ANY
        and name not in policy_type.profile_types
    ):
        raise base.PolicyCheckError(
            f'Policy not applicable on profile type: {name}'
        )
    if not policy_type.singleton:
        return
    for _, other in clusters.bindings(session, cluster.id):
        if other.type.rpartition('-')[0] == policy_type.name:
            raise base.PolicyCheckError(
                f'Only one instance of policy type ({policy_type.name}) can be'
                f' attached to a cluster, but another instance ({other.id})'
                f' is found attached to the cluster ({cluster.id}) already.'
            )
